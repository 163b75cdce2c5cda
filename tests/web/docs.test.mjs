// The API reference.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'

import { depth, isSoak } from '../sdk/depth.mjs'
import { eventually, layoutShift, PHONE, recordRequests, scrollWidth, shareApp, violations } from './support.mjs'

const api = JSON.parse(readFileSync(new URL('../../web/openapi.json', import.meta.url), 'utf8'))
const operations = Object.entries(api.paths).flatMap(([path, item]) =>
  Object.values(item)
    .filter(({ operationId }) => operationId)
    .map(({ operationId, tags, summary }) => ({ path, operationId, tag: tags[0].toLowerCase(), summary })),
)
const run = promisify(execFile)
const WIDE = { viewport: { width: 1280, height: 900 } }

let app
/** What closes the pages that tests of a suite share: loading the reference takes seconds. */
const shared = []

before(async () => {
  app = await shareApp({ live: false })
})
after(() => Promise.all(shared.map((close) => close())))

const hashOf = (operationId) =>
  `#tag/${operations.find((operation) => operation.operationId === operationId).tag}/${operationId}`
const goTo = (page, operationId) => page.goto(`${app.url}/docs${hashOf(operationId)}`)
const section = (page, operationId) => page.locator(`section[id$="/${operationId}"]`)

/** Opens the reference, at an operation if there is one, and waits until it is rendered. */
async function open(t, operationId = '', options = {}) {
  const url = `${app.url}/docs${operationId && hashOf(operationId)}`
  const page = await app.visit(t, url, { ...WIDE, ...options })
  await (operationId ? section(page, operationId).locator('pre').first() : page.locator('main h1')).waitFor()
  return page
}

const openShared = (operationId = '', options = {}) =>
  open({ after: (close) => shared.push(close) }, operationId, options)

const search = (page) => page.getByRole('combobox', { name: 'Enter search query' })

/** Enters a key or token in the introduction. */
const authenticate = (page, token) => page.getByLabel('Bearer Token').first().fill(token)

const reference = (page) => page.getByRole('main', { name: 'API documentation for activity-rank' })

const send = (dialog) => dialog.getByRole('button', { name: /^Send .* request to/ })

/** The reference detects whether it may use eval. */
const POLICY_VIOLATIONS = [['script-src', 'eval']]

const recordViolations = (page) =>
  page.addInitScript(() => {
    globalThis.events = []
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
      globalThis.events.push([effectiveDirective, blockedURI]),
    )
  })

/** Opens the request of an operation, in a dialog. */
async function openRequest(page, operationId) {
  await section(page, operationId)
    .getByRole('button', { name: /Test Request/ })
    .click()
  const dialog = page.getByRole('dialog')
  await send(dialog).waitFor()
  return dialog
}

/** Returns the code of an operation's sample in a language. */
async function sample(page, operationId, language) {
  const menu = section(page, operationId)
    .getByRole('button', { name: /Curl|Fetch|Requests|NewRequest|cURL/ })
    .first()
  if (!(await menu.innerText()).includes(language)) {
    await menu.click()
    await page.getByRole('option', { name: language, exact: true }).click()
    await eventually(async () => (await menu.innerText()).includes(language), true)
  }
  return section(page, operationId).locator('pre').first().innerText()
}

// The contrast of key symbols and of text that is scrolled out of its box, which axe cannot decide.
const ACCEPTED = /non-text characters|obscured|overlapped|pseudo element/
const decided = async (page, selector) =>
  (await violations(page, selector)).filter((violation) => !ACCEPTED.test(violation))

describe('API reference', () => {
  let page
  let urls = []

  before(async () => {
    // Without the policy, which would hide what the reference tries to load.
    page = await openShared('getBoard', {
      bypassCSP: true,
      before: (page) => {
        urls = recordRequests(page, /./)
        page.on('websocket', (socket) => urls.push(socket.url()))
      },
    })
  })

  it('is at most 900 KB gzipped, on its page alone', async (t) => {
    const names = urls.map((url) => new URL(url).pathname).filter((name) => /\.(js|css)$/.test(name))
    const files = names.map((name) => readFileSync(new URL(`../../build/web${name}`, import.meta.url)))
    const bytes = files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0)
    t.diagnostic(`${bytes} bytes in ${names.length} files`)
    assert.ok(bytes < 900_000, `${bytes}`)
    let others = []
    await app.visit(t, app.url, { before: (page) => (others = recordRequests(page, /\/(vendor|docs)\//)) })
    assert.deepEqual(others, [])
  })

  it('passes axe in its frame and an operation', async () => {
    for (const selector of ['#bar', 'section[id$="/getBoard"]'])
      assert.deepEqual(await decided(page, selector), [], selector)
  })

  it('search finds operations', async () => {
    await page.keyboard.press('Control+k')
    // All of them in `make soak`.
    for (const { summary, path } of operations.filter((_, index) => isSoak || index % 6 === 0)) {
      await search(page).fill(summary)
      await page.getByRole('option', { name: summary }).filter({ hasText: path }).first().waitFor()
    }
    await page.keyboard.press('Escape')
    assert.deepEqual(page.errors, [])
  })

  it('samples are in five languages', async () => {
    for (const [language, pattern] of /** @type {[string, RegExp][]} */ ([
      ['Curl', /^curl /],
      ['Fetch', /^fetch\(/],
      ['Requests', /^import requests|^requests\./],
      ['NewRequest', /^package main/],
      ['cURL', /curl_init/],
    ])) {
      assert.match(await sample(page, 'getBoard', language), pattern)
    }
  })

  it('loads nothing from elsewhere', async () => {
    const dialog = await openRequest(page, 'getBoard')
    await send(dialog).click()
    await dialog.getByText('200 OK').waitFor()
    await page.keyboard.press('Escape')
    await reference(page).waitFor()
    assert.deepEqual(
      urls.filter((url) => new URL(url).origin !== new URL(app.url).origin && !/^(data|blob):/.test(url)),
      [],
    )
    assert.ok(
      urls.some((url) => url.includes('/v1/ranking/day?')),
      urls.join('\n'),
    )
    assert.deepEqual(page.errors, [])
  })

  it('document that cannot be loaded is reported', async (t) => {
    const before = (page) => page.route('**/openapi.json', (route) => route.fulfill({ status: 503, body: '' }))
    const page = await app.visit(t, `${app.url}/docs`, { before })
    await eventually(() => page.getByRole('alert').innerText(), 'Could not load the API document: status 503.')
  })

  it('links to the document without JavaScript', async (t) => {
    const page = await app.visit(t, `${app.url}/docs`, { javaScriptEnabled: false })
    assert.equal(
      await page.locator('noscript').innerText(),
      'The API reference requires JavaScript. The document it shows is openapi.json.',
    )
  })
})

describe('API reference under its policy', () => {
  let page

  before(async () => {
    page = await openShared('', { before: recordViolations, locale: 'zh-CN', colorScheme: 'dark' })
  })

  it('speaks the language of the reader, in both themes', async () => {
    const background = () => page.evaluate(() => getComputedStyle(document.querySelector('main')).backgroundColor)
    await page.getByRole('button', { name: '搜索' }).waitFor()
    const dark = await background()
    await page.getByLabel('语言').selectOption('en')
    await page.getByRole('button', { name: 'Search' }).waitFor()
    await eventually(() => page.title(), 'API reference')
    await page.getByRole('button', { name: 'Dark' }).click()
    await eventually(async () => (await background()) !== dark, true)
  })

  /** Sends the example of an operation. */
  async function sendExample(page, operationId) {
    await goTo(page, operationId)
    const dialog = await openRequest(page, operationId)
    await send(dialog).click()
    await dialog.getByText('200 OK').waitFor()
    await page.keyboard.press('Escape')
    await reference(page).waitFor()
    assert.deepEqual(page.errors, [])
  }

  it('service key is sent, and not stored', async () => {
    await authenticate(page, app.serviceKey)
    await sendExample(page, 'countActivity')
    assert.equal(await app.score('42'), 2)
    const stored = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    )
    assert.ok(!stored.includes(app.serviceKey), stored)
  })

  it('key is in samples, which run as they are', async () => {
    for (const operationId of ['countActivity', 'getBoard', 'putProfiles']) {
      await goTo(page, operationId)
      await section(page, operationId).locator('pre').first().waitFor()
      const curl = await sample(page, operationId, 'Curl')
      const { stdout } = await run('sh', ['-c', `${curl.trim()} --silent --show-error --write-out '%{http_code}'`])
      assert.match(stdout, /200$/, curl)
      const code = await sample(page, operationId, 'Fetch')
      const script = `const send = fetch
        globalThis.fetch = async (...request) => {
          const response = await send(...request)
          console.log('status', response.status)
          return response
        }
        ${code}`
      assert.match((await run(process.execPath, ['--input-type=module', '-e', script])).stdout, /status 200/, code)
    }
  })

  it('user token is sent', async () => {
    await page.getByRole('button', { name: /serviceKey/ }).click()
    await page.getByRole('option', { name: /userToken/ }).click()
    await page.keyboard.press('Escape')
    await page.locator('main').getByLabel('Bearer Token').filter({ visible: true }).last().fill(app.token('42'))
    await sendExample(page, 'putProfile')
    assert.equal((await app.request('GET', '/v1/users/42')).name, 'Ada')
  })

  it('violates its policy once, and works by keyboard', async () => {
    await goTo(page, 'countActivity')
    await section(page, 'countActivity')
      .getByRole('button', { name: /Test Request/ })
      .focus()
    await page.keyboard.press('Enter')
    await send(page.getByRole('dialog')).waitFor()
    await page.keyboard.press('Escape')
    await reference(page).waitFor()
    assert.deepEqual(await page.evaluate('events'), POLICY_VIOLATIONS)
    assert.deepEqual(page.errors, [])
  })
})

// Each loads the whole reference, which takes seconds.
if (isSoak) {
  describe('API reference is accessible', () => {
    for (const width of [1280, 390]) {
      it(`passes axe in both themes, with one violation of the policy, at ${width} pixels`, async (t) => {
        // Tall enough for the introduction and the first operations.
        const viewport = { width, height: 4000 }
        const page = await open(t, '', { before: recordViolations, reducedMotion: 'reduce', viewport })
        await section(page, 'countActivity').locator('pre').first().waitFor()
        for (const theme of ['light', 'dark']) {
          if (theme === 'dark') await page.getByRole('button', { name: 'Dark' }).click()
          await page.locator(`body.${theme}-mode`).waitFor()
          assert.deepEqual(await decided(page, undefined), [], theme)
          const dialog = await openRequest(page, 'countActivity')
          await send(dialog).click()
          await dialog.getByText('401 Unauthorized').waitFor()
          assert.deepEqual(await decided(page, '[role=dialog]'), [], theme)
          assert.equal(await reference(page).count(), 0)
          await page.keyboard.press('Escape')
          await reference(page).waitFor()
        }
        assert.deepEqual(await page.evaluate('events'), POLICY_VIOLATIONS)
        assert.deepEqual(page.errors, [])
      })
    }

    it('introduction has whole words at any width, and click targets of 24 pixels', async (t) => {
      const page = await open(t)
      for (const width of [320, 390, 768, 1280]) {
        await page.setViewportSize({ width, height: 900 })
        const broken = await page.locator('main .markdown table').evaluate((table) => {
          const range = document.createRange()
          const walker = document.createTreeWalker(table, NodeFilter.SHOW_TEXT)
          const words = []
          while (walker.nextNode()) {
            for (const { 0: word, index } of (walker.currentNode.nodeValue ?? '').matchAll(/\S+/g)) {
              range.setStart(walker.currentNode, index)
              range.setEnd(walker.currentNode, index + word.length)
              if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) words.push(word)
            }
          }
          return words
        })
        assert.deepEqual(broken, [], `${width}`)
        assert.equal(await scrollWidth(page), width)
      }
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 900 })
        await page.locator('.endpoint').first().waitFor()
        // Links in a sentence are as high as its lines.
        const targets = await page
          .locator(':is(button, select, #bar a, .endpoint, a[rel]):visible')
          .evaluateAll((all) =>
            all.map((element) => {
              const { width, height } = element.getBoundingClientRect()
              return { html: element.outerHTML.slice(0, 160), isSmall: Math.min(width, height) < 24 }
            }),
          )
        assert.deepEqual(
          targets.filter(({ isSmall }) => isSmall),
          [],
          `${width}`,
        )
      }
    })
    it('works by keyboard alone', async (t) => {
      const page = await open(t)
      const { keyboard } = page
      const isFocused = (locator) => locator.evaluate((element) => element === document.activeElement)
      /** Moves the focus to an element, as a reader does. */
      const tabTo = async (locator) => {
        await locator.waitFor()
        for (let presses = 0; presses < 100; presses++) {
          if (await isFocused(locator)) return
          await keyboard.press('Tab')
        }
        assert.fail(`${locator} has no tab stop`)
      }
      await tabTo(page.getByRole('link', { name: 'OpenAPI' }))
      await tabTo(page.getByLabel('Language'))
      await tabTo(page.getByRole('button', { name: 'Dark' }))
      await keyboard.press('Enter')
      await eventually(() => page.locator('body.dark-mode').count(), 1)

      await tabTo(page.getByRole('button', { name: 'Search' }))
      await keyboard.press('Enter')
      await search(page).waitFor()
      await eventually(() => isFocused(search(page)), true)
      await keyboard.type('Count activities')
      await page.getByRole('option', { name: 'Count activities' }).first().waitFor()
      await keyboard.press('ArrowDown')
      await keyboard.press('Enter')
      await eventually(() => new URL(page.url()).hash, hashOf('countActivity'))
      await section(page, 'countActivity').locator('pre').first().waitFor()

      await tabTo(page.getByRole('link', { name: /^Count activities/ }))
      await keyboard.press('Enter')

      await tabTo(section(page, 'countActivity').getByRole('button', { name: /Test Request/ }))
      await keyboard.press('Enter')
      const dialog = page.getByRole('dialog')
      await send(dialog).waitFor()
      await tabTo(send(dialog))
      await keyboard.press('Enter')
      await dialog.getByText('401 Unauthorized').waitFor()
      await keyboard.press('Escape')
      await eventually(() => page.getByRole('dialog').count(), 0)
    })
  })
}

it('layout of the API reference does not shift while loading, and fits 320 pixels', async (t) => {
  for (const options of depth([PHONE, {}])) {
    const page = await open(t, '', options)
    const shift = await layoutShift(page)
    assert.ok(shift < 0.01, `${shift}`)
    await goTo(page, 'countActivity')
    await section(page, 'countActivity').locator('pre').first().waitFor()
    assert.equal(await scrollWidth(page), page.viewportSize().width)
  }
})
