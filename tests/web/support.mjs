// What a test in a browser needs: the Worker in wrangler dev with its store, pages on another
// origin, and Chromium.
//
//   const site = await start()                      // in before(); site.stop() in after()
//   site.newGroup()
//   const page = await site.open(t, '<activity-rank src="SITE" group="GROUP"></activity-rank>')
//   await site.count([{ user: '42', action: 'like', target: 'p', groups: [site.group] }])
//   await eventually(() => page.locator('[part~=row]').count(), 1)
//
// In what is opened SITE stands for the Worker's address, GROUP for a group of the test's own: all
// tests of a file share one Worker. A page's context ends with its test.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

import { chromium } from 'playwright-core'
import { experimental_readRawConfig } from 'wrangler'

import { ended, line, start as startStore, tied } from '../sdk/support.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SERVICE_KEY = 'a-service-key-of-the-tests'
const JWT_SECRET = 'a secret of the tests, longer than 32 bytes'
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Starts everything; `vars` are further variables of the Worker, which may be without live boards. */
export async function start({ vars = {}, live = true } = {}) {
  const site = new Site()
  try {
    await site.begin(vars, live)
  } catch (error) {
    await site.stop()
    throw error
  }
  return site
}

class Site {
  serviceKey = SERVICE_KEY
  #ends = []
  #served = new Map() // path → handler, on the origin of pages
  #groups = 0

  async begin(vars, live) {
    this.store = await startStore()
    this.#ends.push(() => this.store.stop())
    this.pages = await this.#servePages()
    this.url = await this.#serveWorker({
      UPSTASH_REDIS_REST_URL: this.store.url,
      UPSTASH_REDIS_REST_TOKEN: this.store.token,
      SERVICE_KEYS: SERVICE_KEY,
      JWT_SECRET,
      ALLOWED_ORIGINS: this.pages,
      // A busy machine may take its time.
      STORE_TIMEOUT_MS: 5000,
      ...vars,
    }, live)
    const executablePath = execFileSync(join(ROOT, 'scripts/chromium'), { encoding: 'utf8' }).trim()
    this.browser = await chromium.launch({ executablePath, args: FLAGS })
    this.#ends.push(() => this.browser.close())
  }

  async stop() {
    for (const end of this.#ends.splice(0).reverse()) await end()
  }

  /** A group that nobody has used. */
  newGroup() {
    this.group = `g${++this.#groups}`
    return this.group
  }

  /** Calls the service with its key, or another one, and hands back what it answers with success. */
  async call(method, path, body, key = SERVICE_KEY) {
    const answer = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    })
    const text = await answer.text()
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`)
    return text && JSON.parse(text)
  }

  /** Counts activities, each of which is to have an effect. */
  async count(activities) {
    const { results } = await this.call('POST', '/v1/activity', activities)
    for (const [at, result] of results.entries()) {
      assert.match(String(result.outcome), /^(counted|undone)$/, JSON.stringify([activities[at], result]))
    }
  }

  /** A user token. */
  token(user) {
    const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const exp = Math.floor(Date.now() / 1000) + 3600
    const signed = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded({ sub: user, exp })}`
    return `${signed}.${createHmac('sha256', JWT_SECRET).update(signed).digest('base64url')}`
  }

  /** Has a path of the origin of pages answered by a function of request and response. */
  serve(path, handler) {
    this.#served.set(path, handler)
    return this.pages + path
  }

  /** Opens a page of another origin with this content, both elements known to it. */
  async open(t, body, options) {
    const filled = body.replaceAll('SITE', this.url).replaceAll('GROUP', this.group)
    const path = `/${this.#served.size}.html`
    this.serve(path, (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      response.end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>A page</title>
        <meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
        <script type="module" src="${this.url}/elements/activity-rank.js"></script>
        <script type="module" src="${this.url}/elements/activity-heatmap.js"></script>
        <main><h1>A page</h1>${filled}</main>`)
    })
    return this.visit(t, this.pages + path, options)
  }

  /**
   * Opens an address in a browser of nobody's; `options` are those of a Playwright context, and
   * `before`, a function of the page before it goes there. `page.errors` are what went wrong in it,
   * but for requests: those may fail.
   */
  async visit(t, url, { before, ...options } = {}) {
    const context = await this.browser.newContext({ locale: 'en-US', timezoneId: 'UTC', ...options })
    t.after(() => context.close())
    const page = await context.newPage()
    page.errors = []
    page.on('pageerror', (error) => page.errors.push(String(error)))
    page.on('console', (message) => {
      const failed = message.text().startsWith('Failed to load resource')
      if (message.type() === 'error' && !failed) page.errors.push(message.text())
    })
    await before?.(page)
    await page.goto(url)
    return page
  }

  async #servePages() {
    const server = createServer((request, response) => {
      const handler = this.#served.get(new URL(request.url, 'http://pages').pathname)
      if (handler) return handler(request, response)
      response.writeHead(404).end()
    })
    await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
    this.#ends.push(() => {
      server.closeAllConnections()
      return new Promise((closed) => server.close(closed))
    })
    return `http://127.0.0.1:${server.address().port}`
  }

  // As wrangler.toml says, but for what has to be made first: databases, namespaces and queues.
  async #serveWorker(vars, live) {
    const folder = mkdtempSync(join(tmpdir(), 'activity-rank-'))
    this.#ends.push(() => rmSync(folder, { recursive: true, force: true }))
    const { rawConfig } = experimental_readRawConfig({ config: join(ROOT, 'wrangler.toml') })
    const { build, env, d1_databases, kv_namespaces, queues, triggers, ...config } = rawConfig
    if (!live) delete config.durable_objects
    config.main = join(ROOT, config.main)
    config.assets.directory = join(ROOT, config.assets.directory)
    // All visitors of a test have one address.
    for (const { simple } of config.ratelimits) simple.limit = 1e6
    writeFileSync(join(folder, 'wrangler.json'), JSON.stringify({ ...config, vars }))
    const flags = ['--ip', '127.0.0.1', '--port', '0', '--inspector-port', '0', '--persist-to', join(folder, 'state')]
    const quiet = {
      WRANGLER_SEND_METRICS: 'false',
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      WRANGLER_LOG_PATH: join(folder, 'logs'),
      X_LOCAL_EXPLORER: 'false',
      X_LOCAL_OBSERVABILITY: 'false',
    }
    const command = ['dev', '--config', join(folder, 'wrangler.json'), '--show-interactive-dev-session=false', ...flags]
    const wrangler = tied('wrangler', command, quiet)
    this.#ends.push(() => ended(wrangler))
    const [, url] = await line(wrangler, /Ready on (http:\S+)/)
    return url
  }
}

/** Waits until what is read equals what is expected. */
export async function eventually(read, expected, within = 10_000) {
  let last
  for (const deadline = Date.now() + within; ; await pause(20)) {
    try {
      last = await read()
      assert.deepEqual(last, expected)
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
  }
}

/** What axe finds wrong with a page, with all its rules. */
export async function faults(page, selector) {
  await page.evaluate(AXE)
  const { violations, incomplete } = await page.evaluate((selector) => globalThis.axe.run(selector ?? document), selector)
  // What axe cannot tell of contrast is as bad as what is wrong, but for texts of one letter.
  const untold = incomplete.filter(({ id }) => id === 'color-contrast')
  const all = [...violations, ...untold].flatMap(({ id, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${html} ${any[0]?.message ?? ''}`),
  )
  return all.filter((fault) => !fault.includes('too short to determine'))
}

/** How far things have moved that nobody moved: Chromium's own measure, since the page began. */
export async function shift(page) {
  return page.evaluate(
    () =>
      new Promise((resolve) => {
        let sum = 0
        new PerformanceObserver((list) => {
          for (const { value } of list.getEntries()) sum += value
        }).observe({ type: 'layout-shift', buffered: true })
        requestAnimationFrame(() => setTimeout(() => resolve(sum), 100))
      }),
  )
}

/** Bytes of files of web/ together, gzipped. */
export function gzipped(names) {
  const files = names.map((name) => readFileSync(join(ROOT, 'web', name)))
  return gzipSync(Buffer.concat(files), { level: 9 }).length
}
