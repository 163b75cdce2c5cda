// Follows a tutorial from a start of the service to the board in a browser, and prints how long it takes:
//
//   node tests/docs/minutes.mjs            prints the table
//   node tests/docs/minutes.mjs --write    and writes it into the tutorial
//
// It types each command of docs/tutorials/history.md and saves each file. The service is compiled before, and the
// reader takes no time.

import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'

import { chromium } from 'playwright-core'
import { freePort } from '../sdk/support.mjs'
import { ROOT } from './blocks.mjs'
import { startDevelopment } from './development.mjs'
import { Runner } from './runner.mjs'

const DOCUMENT = 'docs/tutorials/history.md'
/** Members on the board of the page. */
const ROWS = 10

/** @type {Map<string, number>} milliseconds of each step */
const steps = new Map()
let began = Date.now()
let current = 'start the service'

/** Begins a step, or goes on with it. */
function begin(name) {
  const now = Date.now()
  steps.set(current, (steps.get(current) ?? 0) + now - began)
  current = name
  began = now
}

/** Follows the tutorial, and waits for the board. */
async function follow() {
  const app = await startDevelopment()
  const port = await freePort()
  const runner = new Runner(DOCUMENT, {
    replacements: [
      ['http://127.0.0.1:8787', app.url],
      ['http://localhost:8080', `http://localhost:${port}`],
      ['8080', `${port}`],
    ],
    async prepare({ section }) {
      if (/^\d/.test(section)) begin(section.replace(/^\d+\. /, '').toLowerCase())
      return []
    },
  })
  try {
    await runner.run()
    begin('the board in the browser')
    const executablePath = join(ROOT, 'scripts/chromium')
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic'] })
    try {
      const page = await browser.newPage()
      await page.goto(`http://localhost:${port}`)
      await page
        .locator('activity-rank tbody [part=name]')
        .nth(ROWS - 1)
        .waitFor()
      begin('')
    } finally {
      await browser.close()
    }
    const history = readFileSync(join(runner.folder, 'history/history.csv'), 'utf8').trim().split('\n')
    return history.filter((line) => line.split(',')[1]).length - 1
  } finally {
    await runner.stop()
    await app.stop()
  }
}

/** Returns the table of the steps. */
function table(activities) {
  const seconds = (/** @type {number} */ time) => (time / 1000).toFixed(1)
  const all = [...steps.values()].reduce((sum, time) => sum + time, 0)
  const rows = [...steps].map(([name, time]) => `| ${name} | ${seconds(time)} |`)
  return [
    `\`node tests/docs/minutes.mjs\` types each command of this page, on ${availableParallelism()} processors. From the start of`,
    `the service, which is compiled before, to the board it takes ${(all / 60_000).toFixed(1)} minutes for ${activities.toLocaleString('en')} activities:`,
    '',
    '| step | seconds |',
    '|---|---:|',
    ...rows,
    `| all | ${seconds(all)} |`,
  ].join('\n')
}

const text = table(await follow())
console.log(text)
if (process.argv[2] === '--write') {
  const path = join(ROOT, DOCUMENT)
  const between = /(<!-- tests\/docs\/minutes\.mjs -->\n)[\s\S]*?(<!-- end -->)/
  const page = readFileSync(path, 'utf8')
  if (!between.test(page)) throw new Error(`${DOCUMENT} has no <!-- tests/docs/minutes.mjs -->`)
  writeFileSync(
    path,
    page.replace(between, (_, first, last) => `${first}\n${text}\n\n${last}`),
  )
}
