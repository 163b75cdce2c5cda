// The tutorials: from a running service to a board in the browser, as a reader follows them.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, it } from 'node:test'

import { chromium } from 'playwright-core'

import { eventually } from '../sdk/eventually.mjs'
import { freePort } from '../sdk/support.mjs'
import { blocksOf, ROOT } from './blocks.mjs'
import { startDevelopment } from './development.mjs'
import { Runner } from './runner.mjs'

let app, browser

before(async () => {
  app = await startDevelopment()
  const executablePath = join(ROOT, 'scripts/chromium')
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic'] })
})
after(async () => {
  await browser?.close()
  await app?.stop()
})

/** Follows a tutorial, and opens its page. */
async function follow(t, document) {
  const examples = blocksOf(document).filter(({ role }) => role === 'example')
  assert.deepEqual(examples, [], 'each block of a tutorial is run, written or printed')
  const port = await freePort()
  const runner = new Runner(document, {
    replacements: [
      ['http://127.0.0.1:8787', app.url],
      ['http://127.0.0.1:8079', app.gateway],
      ['http://localhost:8080', `http://localhost:${port}`],
      ['8080', `${port}`],
      ['~/activity-rank', ROOT],
    ],
  })
  t.after(() => runner.stop())
  await runner.run()
  const context = await browser.newContext({ locale: 'en-US' })
  t.after(() => context.close())
  const page = await context.newPage()
  const errors = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  t.after(() => assert.deepEqual(errors, []))
  await page.goto(`http://localhost:${port}`)
  return page
}

/** Returns the names on an element of a page, in order. */
const namesOn = (page, index) => page.locator('activity-rank').nth(index).locator('tbody [part=name]').allTextContents()

it('blog ends with a like of a visitor', async (t) => {
  const page = await follow(t, 'docs/tutorials/blog.md')
  const counts = async () => (await (await fetch(`${app.url}/v1/content/counts?targets=first-post`)).json()).targets[0]
  const like = page.getByRole('button', { name: 'Like' })
  await like.click()
  await eventually(async () => (await counts()).counts.like, 1)
  await eventually(() => like.getAttribute('aria-pressed'), 'true')
  await page.reload()
  await eventually(() => like.getAttribute('aria-pressed'), 'true')
  await page.locator('activity-rank tbody [part~=row]').first().waitFor()
  const standing = await (await fetch(`${app.url}/v1/content/day/targets/first-post`)).json()
  assert.equal(standing.score, 2)
  await like.click()
  await eventually(async () => (await counts()).counts.like, 0)
})

it('forum ends with a board of its members', async (t) => {
  const page = await follow(t, 'docs/tutorials/forum.md')
  const own = page.locator('tbody [part~=row]').filter({ hasText: 'Grace Hopper' })
  await own.waitFor()
  assert.match((await own.textContent()) ?? '', /Grace Hopper.*10/s)
})

it('course ends with boards of a group and an event', async (t) => {
  const page = await follow(t, 'docs/tutorials/course.md')
  await eventually(() => namesOn(page, 0), ['Emmy Noether', 'Hedy Lamarr', 'Mary Somerville'])
  await eventually(() => namesOn(page, 1), ['Emmy Noether', 'Hedy Lamarr'])
})

it('history ends with a board of three years', async (t) => {
  const page = await follow(t, 'docs/tutorials/history.md')
  const rows = page.locator('activity-rank tbody [part=name]')
  await eventually(() => rows.count(), 10)
  const names = await rows.allTextContents()
  assert.ok(
    names.every((name) => name.startsWith('Member ')),
    names.join(),
  )
})
