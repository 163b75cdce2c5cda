// The API reference.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { before, describe, it } from 'node:test'
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

before(async () => {
  app = await shareApp({ live: false })
})

const hashOf = (operationId) =>
  `#tag/${operations.find((operation) => operation.operationId === operationId).tag}/${operationId}`
const section = (page, operationId) => page.locator(`section[id$="/${operationId}"]`)

/** Opens the reference, at an operation if there is one, and waits until it is rendered. */
async function open(t, operationId = '', options = {}) {
  const url = `${app.url}/docs${operationId && hashOf(operationId)}`
  const page = await app.visit(t, url, { ...WIDE, ...options })
  await (operationId ? section(page, operationId).locator('pre').first() : page.locator('main h1')).waitFor()
  return page
}

const search = (page) => page.getByRole('combobox', { name: 'Enter search query' })

/** Enters a key or token in the introduction. */
const authenticate = (page, token) => page.getByLabel('Bearer Token').first().fill(token)

const reference = (page) => page.getByRole('main', { name: 'API documentation for activity-rank' })

const send = (dialog) => dialog.getByRole('button', { name: /^Send .* request to/ })

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

describe('API reference', () => {
  it('search finds every operation', async (t) => {
    const page = await open(t)
    await page.keyboard.press('Control+k')
    for (const { summary, path } of operations) {
      await search(page).fill(summary)
      await page.getByRole('option', { name: summary }).filter({ hasText: path }).first().waitFor()
    }
    assert.deepEqual(page.errors, [])
  })

  it('loads nothing from elsewhere', async (t) => {
    let urls = []
    // Without the policy, which would hide what the reference tries to load.
    const page = await open(t, 'getBoard', {
      bypassCSP: true,
      before: (page) => {
        urls = recordRequests(page, /./)
        page.on('websocket', (socket) => urls.push(socket.url()))
      },
    })
    await page.keyboard.press('Control+k')
    await search(page).fill('winners')
    await page.keyboard.press('Escape')
    const dialog = await openRequest(page, 'getBoard')
    await send(dialog).click()
    await dialog.getByText('200 OK').waitFor()
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

  it('is at most 900 KB gzipped, on its page alone', async (t) => {
    let urls = []
    await open(t, '', { before: (page) => (urls = recordRequests(page, /\.(js|css)$/)) })
    const files = urls.map((url) => readFileSync(new URL(`../../build/web${new URL(url).pathname}`, import.meta.url)))
    const bytes = files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0)
    t.diagnostic(`${bytes} bytes in ${urls.length} files`)
    assert.ok(bytes < 900_000, `${bytes}`)
    await app.visit(t, app.url, { before: (page) => (urls = recordRequests(page, /\/(vendor|docs)\//)) })
    assert.deepEqual(urls, [])
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

  it('policy is violated once, to detect eval', async (t) => {
    const before = (page) =>
      page.addInitScript(() => {
        globalThis.events = []
        document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
          globalThis.events.push([effectiveDirective, blockedURI]),
        )
      })
    const page = await open(t, 'countActivity', { before })
    await openRequest(page, 'countActivity')
    assert.deepEqual(await page.evaluate('events'), [['script-src', 'eval']])
    assert.deepEqual(page.errors, [])
  })

  it('speaks the language of the reader, in both themes', async (t) => {
    const page = await open(t, '', { locale: 'zh-CN', colorScheme: 'dark' })
    const background = () => page.evaluate(() => getComputedStyle(document.querySelector('main')).backgroundColor)
    await page.getByRole('button', { name: '搜索' }).waitFor()
    const dark = await background()
    await page.getByLabel('语言').selectOption('en')
    await page.getByRole('button', { name: 'Search' }).waitFor()
    await eventually(() => page.title(), 'API reference')
    await page.getByRole('button', { name: 'Dark' }).click()
    await eventually(async () => (await background()) !== dark, true)
  })
})

describe('request in the API reference', () => {
  it('is sent with a service key, which is not stored', async (t) => {
    const page = await open(t)
    await authenticate(page, app.serviceKey)
    await page.goto(`${app.url}/docs${hashOf('countActivity')}`)
    const dialog = await openRequest(page, 'countActivity')
    await send(dialog).click()
    await dialog.getByText('200 OK').waitFor()
    assert.equal(await app.score('42'), 2)
    const stored = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    )
    assert.ok(!stored.includes(app.serviceKey), stored)
    assert.deepEqual(page.errors, [])
  })

  it('is sent with a user token', async (t) => {
    const page = await open(t)
    await page.getByRole('button', { name: /serviceKey/ }).click()
    await page.getByRole('option', { name: /userToken/ }).click()
    await page.keyboard.press('Escape')
    await page.locator('main').getByLabel('Bearer Token').last().fill(app.token('42'))
    await page.goto(`${app.url}/docs${hashOf('putProfile')}`)
    const dialog = await openRequest(page, 'putProfile')
    await send(dialog).click()
    await dialog.getByText('200 OK').waitFor()
    assert.equal((await app.request('GET', '/v1/users/42')).name, 'Ada')
  })
})

describe('samples in the API reference', () => {
  it('are in five languages', async (t) => {
    const page = await open(t, 'getBoard')
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

  it('curl and JavaScript samples run as they are', async (t) => {
    const page = await open(t)
    await authenticate(page, app.serviceKey)
    for (const operationId of ['countActivity', 'getBoard', 'putProfiles']) {
      await page.goto(`${app.url}/docs${hashOf(operationId)}`)
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
})

// The contrast of key symbols and of text that is scrolled out of its box, which axe cannot decide.
const ACCEPTED = /non-text characters|obscured|overlapped|pseudo element/
const decided = async (page, selector) =>
  (await violations(page, selector)).filter((violation) => !ACCEPTED.test(violation))
/** The whole reference in `make soak`; else the frame of this project and an operation. */
const AXE = isSoak ? [undefined] : ['#bar', 'section[id$="/countActivity"]']
const WIDTHS = depth([1280, 390])

describe('API reference is accessible', () => {
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    // Tall enough for the introduction and the first operations.
    for (const width of WIDTHS) {
      it(`passes axe, ${colorScheme}, ${width} pixels`, async (t) => {
        const page = await open(t, '', { colorScheme, reducedMotion: 'reduce', viewport: { width, height: 4000 } })
        await section(page, 'countActivity').locator('pre').first().waitFor()
        for (const selector of AXE) assert.deepEqual(await decided(page, selector), [], selector)
        const dialog = await openRequest(page, 'countActivity')
        await send(dialog).click()
        await dialog.getByText('401 Unauthorized').waitFor()
        assert.deepEqual(await decided(page, '[role=dialog]'), [])
        assert.equal(await reference(page).count(), 0)
        await page.keyboard.press('Escape')
        await reference(page).waitFor()
      })
    }
  }

  it('table keeps its words whole at any width', async (t) => {
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
  })

  it('click targets have 24 pixels', async (t) => {
    const page = await open(t)
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      await page.locator('.endpoint').first().waitFor()
      // Links in a sentence are as high as its lines.
      const targets = await page.locator(':is(button, select, #bar a, .endpoint, a[rel]):visible').evaluateAll((all) =>
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

  it('fits 320 pixels', async (t) => {
    const page = await open(t, 'countActivity', PHONE)
    assert.equal(await scrollWidth(page), 320)
  })

  it('layout does not shift while loading', async (t) => {
    for (const options of [{}, PHONE]) {
      const page = await open(t, '', options)
      const shift = await layoutShift(page)
      assert.ok(shift < 0.01, `${shift}`)
    }
  })
})
