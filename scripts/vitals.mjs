// `make vitals`: measures in Chromium what <activity-rank> adds to a page on a phone, and what the element of another
// commit adds.
//
//   ROUNDS=9 AGAINST=ab952e7 node scripts/vitals.mjs
//
// Chromium has an empty cache, a processor four times slower and the connection that Lighthouse calls slow 4G: 150 ms to
// the server and back, 1.6 Mbit/s. The two contenders take turns; each number is a median.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

import { eventually, startApp } from '../tests/web/support.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const ROUNDS = Number(process.env.ROUNDS ?? 9)
/** The last commit in which each element was a tree of modules. */
const AGAINST = process.env.AGAINST ?? 'ab952e7'
const SLOWDOWN = 4
const NETWORK = { offline: false, latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 75e4 / 8 }
const VIEWPORT = { width: 412, height: 823 }
const MEMBERS = 30
/** The height that docs/embedding.md reserves before the module has loaded: of this version, and of `AGAINST`. */
const HEIGHTS = ['54.5em', process.env.HEIGHT ?? '46.5em']

/** @type {(() => unknown)[]} */
const cleanups = []

/**
 * Serves the files of a folder, compressed, and a page with the element.
 * @param {string} folder
 * @param {string} api
 * @param {string} height
 */
async function serve(folder, api, height) {
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>A page</title><link rel="icon" href="data:,">
<style>activity-rank:not(:defined) { display: block; min-block-size: ${height} }</style>
<script type="module" src="/elements/activity-rank.js"></script>
<main><h1>A page</h1><activity-rank src="${api}" period="week" user="member-20"></activity-rank><p>After the board.</p></main>`
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://files').pathname
    try {
      const text = path === '/' ? page : readFileSync(join(folder, path))
      const type = path === '/' ? 'text/html; charset=utf-8' : 'text/javascript'
      response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip', 'cache-control': 'max-age=300' })
      response.end(gzipSync(text))
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  cleanups.push(() => server.close())
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return `http://127.0.0.1:${port}`
}

/** Extracts the files of a commit, and returns their folder. */
function filesOf(/** @type {string} */ commit) {
  const folder = mkdtempSync(join(tmpdir(), 'activity-rank-vitals-'))
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
  const archive = execFileSync('git', ['archive', commit, 'web'], { cwd: ROOT, maxBuffer: 1 << 28 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  return join(folder, 'web')
}

/**
 * Opens the page once, and returns its figures.
 * @param {any} browser
 * @param {string} url
 */
async function measure(browser, url) {
  const context = await browser.newContext({ viewport: VIEWPORT, deviceScaleFactor: 2, isMobile: true })
  try {
    const page = await context.newPage()
    const client = await context.newCDPSession(page)
    await client.send('Network.enable')
    await client.send('Performance.enable')
    await client.send('Network.emulateNetworkConditions', NETWORK)
    await client.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
    const scripts = { requests: 0, bytes: 0 }
    const types = new Map()
    client.on('Network.responseReceived', ({ requestId, type }) => types.set(requestId, type))
    client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (types.get(requestId) !== 'Script') return
      scripts.requests += 1
      scripts.bytes += encodedDataLength
    })
    await page.addInitScript(() => {
      const figures = Object.assign(globalThis, { figures: { shift: 0, contentful: 0, blocked: 0, board: 0 } }).figures
      const observe = (/** @type {string} */ type, /** @type {(entry: any) => void} */ record) =>
        new PerformanceObserver((list) => list.getEntries().forEach(record)).observe({ type, buffered: true })
      observe('layout-shift', ({ value }) => (figures.shift += value))
      observe('largest-contentful-paint', ({ startTime }) => (figures.contentful = startTime))
      observe('longtask', ({ duration }) => (figures.blocked += duration - 50))
      addEventListener('load', () => {
        document.querySelector('activity-rank')?.addEventListener('load', () => (figures.board = performance.now()))
      })
    })
    await page.goto(url)
    await eventually(() => page.evaluate('figures.board > 0'), true, 30_000)
    await eventually(() => page.locator('[part~=own] [part=details]').innerText().then(Boolean), true, 30_000)
    // What the board causes after it has loaded: its event stream, the winners.
    await page.waitForTimeout(3000)
    const figures = await page.evaluate('figures')
    const { metrics } = await client.send('Performance.getMetrics')
    const metric = (/** @type {string} */ name) =>
      metrics.find((/** @type {any} */ metric) => metric.name === name)?.value
    return {
      'requests for scripts': scripts.requests,
      'bytes of scripts': scripts.bytes,
      'board shown (ms)': figures.board,
      'largest contentful paint (ms)': figures.contentful,
      'main thread (ms)': metric('TaskDuration') * 1000,
      'of it scripts (ms)': metric('ScriptDuration') * 1000,
      'of it style and layout (ms)': (metric('LayoutDuration') + metric('RecalcStyleDuration')) * 1000,
      'total blocking time (ms)': figures.blocked,
      'cumulative layout shift': figures.shift,
    }
  } finally {
    await context.close()
  }
}

/** @param {number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]
}

const app = await startApp({
  vars: { LEVELS: { Newcomer: 0, Regular: 30, Pillar: 80 }, ALLOWED_ORIGINS: 'http://127.0.0.1:*' },
})
cleanups.push(() => app.stop())
try {
  const members = Array.from({ length: MEMBERS }, (_, index) => `member-${index + 1}`)
  const likes = members.flatMap((user, index) =>
    Array.from({ length: MEMBERS - index }, (_, number) => ({ user, action: 'like', target: `p${number}` })),
  )
  for (let first = 0; first < likes.length; first += 100) await app.count(likes.slice(first, first + 100))
  const contenders = { 'this version': join(ROOT, 'build/web'), [AGAINST]: filesOf(AGAINST) }
  /** @type {[string, string][]} */
  const urls = []
  for (const [index, [name, folder]] of Object.entries(contenders).entries()) {
    urls.push([name, await serve(folder, app.url, HEIGHTS[index])])
  }
  /** @type {Record<string, Record<string, number>[]>} */
  const runs = Object.fromEntries(urls.map(([name]) => [name, []]))
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, url] of urls) {
      const figures = await measure(app.browser, url)
      // The first round warms the service up.
      if (round) runs[name].push(figures)
    }
    process.stderr.write(`round ${round} of ${ROUNDS}\n`)
  }
  console.log(`| | ${urls.map(([name]) => name).join(' | ')} |`)
  console.log(`|---|${urls.map(() => '---:|').join('')}`)
  for (const figure of Object.keys(runs[urls[0][0]][0])) {
    const cells = urls.map(([name]) => {
      const value = median(runs[name].map((run) => run[figure]))
      return figure === 'cumulative layout shift' ? value.toFixed(4) : Math.round(value).toLocaleString('en')
    })
    console.log(`| ${figure} | ${cells.join(' | ')} |`)
  }
} finally {
  for (const cleanup of cleanups.reverse()) await cleanup()
}
