// The page of a deployment, in Chromium, and what holds of the API reference too.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, beforeEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

import { eventually, faults, shift, start } from './support.mjs'

const WEB = fileURLToPath(new URL('../../web/', import.meta.url))
const PHONE = { viewport: { width: 320, height: 640 } }

let site
let user
let users = 0

before(async () => {
  site = await start()
  await site.count(Array.from({ length: 25 }, (_, n) => ({ user: `m${n}`, action: 'like', target: 'p' })))
})
after(() => site?.stop())
beforeEach(() => {
  user = `page-${++users}`
})

const rows = (page) => page.locator('#board tbody tr').count()
const news = (page) => page.locator('#news').innerText()
const open = async (t, options, path = '/') => {
  const page = await site.visit(t, site.url + path, options)
  if (!path.startsWith('/docs')) await eventually(() => rows(page), 10)
  return page
}
const signIn = async (page) => {
  await page.getByLabel('A user token').fill(site.token(user))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('activity-heatmap [part~=summary]:not(:empty)').waitFor()
}
const score = async () => (await site.call('GET', `/v1/ranking/all/users/${user}`)).score

describe('the page', () => {
  it('has the boards of the deployment, without a word against its policy', async (t) => {
    const page = await open(t)
    assert.equal(await page.locator('h1').innerText(), 'Activity ranking')
    assert.deepEqual(page.errors, [])
  })

  it('opens the board that its address names, and names the one that is open', async (t) => {
    const page = await open(t, {}, '/#week')
    assert.equal(await page.locator('#board').getAttribute('period'), 'week')
    await page.getByRole('tab', { name: 'Month' }).click()
    await eventually(() => page.url(), `${site.url.replace(/\/$/, '')}/#month`)
    await page.evaluate(`location.hash = '#day/2026-01-02'`)
    await eventually(() => page.locator('#board').getAttribute('date'), '2026-01-02')
  })

  it('lets a member like, bookmark and comment, take it back, and see the points move', async (t) => {
    const page = await open(t)
    await signIn(page)
    assert.equal(await page.locator('#who').innerText(), user)
    const own = page.locator('#board [part=own] [part=score]')
    let points = 0
    for (const [name, given] of [['Like', 2], ['Bookmark', 2], ['Comment', 3]]) {
      points += given
      await page.getByRole('button', { name, exact: true }).click()
      await eventually(async () => (await news(page)).startsWith(`${name}: counted, +${given} points. Today: ${points} points, rank `), true)
      assert.equal(await score(), points)
      await eventually(() => own.innerText(), String(points), 20_000)
    }
    await page.getByRole('button', { name: 'Undo: Comment' }).click()
    await eventually(async () => (await news(page)).startsWith('Comment, taken back: undone, -3 points. Today: 4 points, rank '), true)
    assert.equal(await score(), 4)
    await page.getByRole('button', { name: 'Undo: Comment' }).click()
    await eventually(async () => (await news(page)).startsWith('Comment, taken back: there is nothing to take back.'), true)
    await page.getByRole('button', { name: 'Sign out' }).click()
    assert.equal(await page.locator('activity-heatmap').count(), 0)
    assert.equal(await page.locator('#board').getAttribute('user'), null)
    assert.equal(await page.getByLabel('A user token').inputValue(), '')
    assert.deepEqual(page.errors, [])
  })

  it('says what is no token, and what a service does not take', async (t) => {
    const page = await open(t)
    await page.getByLabel('A user token').fill('nonsense')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await eventually(() => news(page), 'This is no user token.')
    await signIn(page)
    await page.getByLabel('What it is done to').fill('')
    await page.getByRole('button', { name: 'Like', exact: true }).click()
    await eventually(async () => /^Like: target: /.test(await news(page)), true)
  })

  it('is in the language of the browser, or the one that is chosen', async (t) => {
    const page = await open(t, { locale: 'zh-CN' })
    assert.equal(await page.locator('h1').innerText(), '活跃榜')
    assert.deepEqual(await page.getByRole('tab').allTextContents(), ['日榜', '周榜', '月榜', '年榜', '总榜'])
    await page.locator('#language').selectOption('en')
    await eventually(() => page.locator('h1').innerText(), 'Activity ranking')
    await page.reload()
    await eventually(() => page.locator('h1').innerText(), 'Activity ranking')
    await eventually(() => page.getByRole('tab', { name: 'Day' }).count(), 1)
  })

  it('has the same words in each language', async () => {
    const { WORDS } = await import('../../web/page/words.js')
    const shape = (words) => Object.entries(words).map(([name, word]) => [name, typeof word === 'object' ? shape(word) : typeof word])
    assert.deepEqual(shape(WORDS['zh-CN']), shape(WORDS.en))
    const named = [...readFileSync(`${WEB}index.html`, 'utf8').matchAll(/data-word="(\w+)">([^<]*)/g)]
    assert.ok(named.length > 5)
    for (const [, name] of named) assert.equal(typeof WORDS.en[name], 'string', name)
  })

  it('in another page’s frame has boards and nothing to click by mistake', async (t) => {
    const framing = site.serve('/framing.html', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(`<!doctype html><title>Framing</title><link rel="icon" href="data:,"><iframe src="${site.url}#week" width="480" height="900"></iframe>`)
    })
    const page = await site.visit(t, framing)
    const frame = page.frameLocator('iframe')
    await eventually(() => frame.locator('#board tbody tr').count(), 10)
    assert.equal(await frame.locator('#member').isVisible(), false)
    assert.equal(await frame.locator('header').isVisible(), false)
  })

  it('moves nothing while it loads', async (t) => {
    for (const options of [{}, PHONE, { locale: 'zh-CN' }]) {
      const page = await open(t, options)
      assert.ok((await shift(page)) < 0.001, `${JSON.stringify(options)}: ${await shift(page)}`)
    }
  })

  it('can be used by keys alone', async (t) => {
    const page = await open(t)
    const focused = () => page.evaluate('document.activeElement.id || document.activeElement.textContent')
    const reach = async (name) => {
      for (let presses = 0; presses < 40; presses++) {
        await page.keyboard.press('Tab')
        if ((await focused()) === name) return
      }
      assert.fail(`${name} is not reached`)
    }
    await reach('language')
    await reach('board')
    await reach('token')
    await page.keyboard.insertText(site.token(user))
    await page.keyboard.press('Enter')
    await page.locator('#signed-in').waitFor()
    await reach('target')
    await reach('Like')
    await page.keyboard.press('Enter')
    await eventually(score, 2)
    await reach('Undo')
    await page.keyboard.press('Space')
    await eventually(score, 0)
    await reach('snippet-curl-copy')
  })
})

describe('what is to be copied', () => {
  it('is copied', async (t) => {
    const page = await open(t, { permissions: ['clipboard-read', 'clipboard-write'] })
    await page.locator('#snippet-html-copy').click()
    await eventually(() => page.locator('#snippet-html-copy').innerText(), 'Copied')
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), await page.locator('#snippet-html pre').innerText())
  })

  for (const [why, clipboard] of [
    ['there is no clipboard', undefined],
    ['the clipboard is refused', { writeText: () => Promise.reject(new DOMException('no', 'NotAllowedError')) }],
  ]) {
    it(`is selected where ${why}`, async (t) => {
      const refusal = clipboard && `{ writeText: ${clipboard.writeText} }`
      const script = `Object.defineProperty(navigator, 'clipboard', { value: ${refusal} })`
      const page = await open(t, { before: (page) => page.addInitScript(script) })
      await page.locator('#snippet-html-copy').click()
      await eventually(() => page.locator('#snippet-html-copy').innerText(), 'Now press Ctrl+C')
      assert.equal(await page.evaluate('String(getSelection())'), await page.locator('#snippet-html pre').innerText())
      assert.deepEqual(page.errors, [])
    })
  }

  it('is a curl command that counts', async (t) => {
    const page = await open(t)
    const command = (await page.locator('#snippet-curl pre').innerText()).replace('"42"', `"${user}"`)
    const answer = execFileSync('bash', ['-c', command], { env: { ...process.env, SERVICE_KEY: site.serviceKey }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    assert.equal(JSON.parse(answer).outcome, 'counted')
    assert.equal(await score(), 2)
  })

  it('is a board and a client that work on another site', async (t) => {
    const page = await open(t)
    const [html, script] = await Promise.all(['html', 'script'].map((name) => page.locator(`#snippet-${name} pre`).innerText()))
    site.serve('/my-token', (_, response) => response.end(site.token('42')))
    const other = await site.open(t, `${html}<script type="module">${script}</script>`)
    await eventually(() => other.locator('tbody tr').count(), 10)
    await eventually(async () => (await site.call('GET', '/v1/ranking/all/users/42')).score, 3)
    assert.deepEqual(other.errors, [])
  })
})

for (const colorScheme of ['light', 'dark']) {
  for (const path of ['/', '/docs']) {
    it(`axe finds no fault with ${path}, ${colorScheme}`, async (t) => {
      const page = await open(t, { colorScheme, reducedMotion: 'reduce', viewport: { width: 1200, height: 3000 } }, path)
      if (path === '/') await signIn(page)
      else await page.locator('#schemas').waitFor()
      assert.deepEqual(await faults(page), [])
    })
  }
}

for (const path of ['/', '/docs']) {
  it(`${path} fits a window of 320 pixels`, async (t) => {
    const page = await open(t, PHONE, path)
    if (path === '/') await signIn(page)
    else await page.locator('#schemas').waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320)
  })
}

it('the pages have less than 30 KB of JavaScript of their own', () => {
  const files = readdirSync(`${WEB}page`).filter((name) => name.endsWith('.js'))
  const bytes = files.reduce((sum, name) => sum + readFileSync(`${WEB}page/${name}`).length, 0)
  assert.ok(bytes < 30_000, `${bytes}`)
})
