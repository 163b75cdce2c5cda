// The page of a deployment, and checks that also apply to the API reference.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, beforeEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

import { eventually, layoutShift, PHONE, scrollWidth, shapeOf, startApp, violations } from './support.mjs'

const WEB = fileURLToPath(new URL('../../web/', import.meta.url))

let app
let user
let users = 0

before(async () => {
  app = await startApp()
  await app.count(Array.from({ length: 25 }, (_, n) => ({ user: `m${n}`, action: 'like', target: 'p' })))
})
after(() => app?.stop())
beforeEach(() => {
  user = `page-${++users}`
})

const rowCount = (page) => page.locator('#board tbody tr').count()
const message = (page) => page.locator('#news').innerText()
const messageStarts = async (page, text) => (await message(page)).startsWith(text)
const score = () => app.score(user)

/** Opens a page of the deployment and waits for its content. */
async function open(t, options = {}, path = '/') {
  const page = await app.visit(t, app.url + path, options)
  if (path.startsWith('/docs')) await page.locator('#schemas').waitFor()
  else await eventually(() => rowCount(page), 10)
  return page
}

async function signIn(page) {
  await page.getByLabel('User token').fill(app.token(user))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('activity-heatmap [part~=summary]:not(:empty)').waitFor()
}

describe('page', () => {
  it('boards load without policy violations', async (t) => {
    const page = await open(t)
    assert.equal(await page.locator('h1').innerText(), 'Activity ranking')
    assert.deepEqual(page.errors, [])
  })

  it('URL hash selects the board and follows it', async (t) => {
    const page = await open(t, {}, '/#week')
    assert.equal(await page.locator('#board').getAttribute('period'), 'week')
    await page.getByRole('tab', { name: 'Month' }).click()
    await eventually(() => page.url(), `${app.url.replace(/\/$/, '')}/#month`)
    await page.evaluate(`location.hash = '#day/2026-01-02'`)
    await eventually(() => page.locator('#board').getAttribute('date'), '2026-01-02')
  })

  it('actions and undos change the points', async (t) => {
    const page = await open(t)
    await signIn(page)
    assert.equal(await page.locator('#who').innerText(), user)
    const own = page.locator('#board [part=own] [part=score]')
    let points = 0
    for (const [name, change] of /** @type {const} */ ([
      ['Like', 2],
      ['Bookmark', 2],
      ['Comment', 3],
    ])) {
      points += change
      await page.getByRole('button', { name, exact: true }).click()
      const counted = `${name} counted: +${change} points. Today: ${points} points, rank `
      await eventually(() => messageStarts(page, counted), true)
      assert.equal(await score(), points)
      await eventually(() => own.innerText(), String(points), 20_000)
    }
    await page.getByRole('button', { name: 'Undo: Comment' }).click()
    await eventually(() => messageStarts(page, 'Comment undone: -3 points. Today: 4 points, rank '), true)
    assert.equal(await score(), 4)
    await page.getByRole('button', { name: 'Undo: Comment' }).click()
    await eventually(() => messageStarts(page, 'No comment to undo.'), true)
    await page.getByRole('button', { name: 'Sign out' }).click()
    assert.equal(await page.locator('activity-heatmap').count(), 0)
    assert.equal(await page.locator('#board').getAttribute('user'), null)
    assert.equal(await page.getByLabel('User token').inputValue(), '')
    assert.deepEqual(page.errors, [])
  })

  it('invalid token and rejected activity are reported', async (t) => {
    const page = await open(t)
    await page.getByLabel('User token').fill('nonsense')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await eventually(() => message(page), 'Invalid token.')
    await signIn(page)
    await page.getByLabel('Target').fill('')
    await page.getByRole('button', { name: 'Like', exact: true }).click()
    await eventually(() => messageStarts(page, 'Like failed. target: '), true)
  })

  it('language follows the browser or the selection', async (t) => {
    const page = await open(t, { locale: 'zh-CN' })
    assert.equal(await page.locator('h1').innerText(), '活跃榜')
    assert.deepEqual(await page.getByRole('tab').allTextContents(), ['日榜', '周榜', '月榜', '年榜', '总榜'])
    await page.locator('#language').selectOption('en')
    await eventually(() => page.locator('h1').innerText(), 'Activity ranking')
    await page.reload()
    await eventually(() => page.locator('h1').innerText(), 'Activity ranking')
    await eventually(() => page.getByRole('tab', { name: 'Day' }).count(), 1)
  })

  it('languages have the same texts', async () => {
    const { WORDS } = await import('../../web/page/words.js')
    assert.deepEqual(shapeOf(WORDS['zh-CN']), shapeOf(WORDS.en))
    const labels = [...readFileSync(`${WEB}index.html`, 'utf8').matchAll(/data-word="(\w+)">([^<]*)/g)]
    assert.ok(labels.length > 5)
    for (const [, name] of labels) assert.equal(typeof WORDS.en.labels[name], 'string', name)
  })

  /** Against clickjacking. */
  it('framed page has boards but no controls', async (t) => {
    const frame = `<title>Framing</title><iframe src="${app.url}#week" width="480" height="900"></iframe>`
    const page = await app.visit(t, app.serveHtml('/framing.html', frame))
    const framed = page.frameLocator('iframe')
    await eventually(() => framed.locator('#board tbody tr').count(), 10)
    assert.equal(await framed.locator('#member').isVisible(), false)
    assert.equal(await framed.locator('header').isVisible(), false)
  })

  it('layout does not shift while loading', async (t) => {
    for (const options of [{}, PHONE, { locale: 'zh-CN' }]) {
      const page = await open(t, options)
      const shift = await layoutShift(page)
      assert.ok(shift < 0.001, `${JSON.stringify(options)}: ${shift}`)
    }
  })

  it('keyboard reaches every control', async (t) => {
    const page = await open(t)
    const focused = () => page.evaluate('document.activeElement.id || document.activeElement.textContent')
    const tabTo = async (name) => {
      for (let presses = 0; presses < 40; presses++) {
        await page.keyboard.press('Tab')
        if ((await focused()) === name) return
      }
      assert.fail(`Tab does not reach ${name}`)
    }
    await tabTo('language')
    await tabTo('board')
    await tabTo('token')
    await page.keyboard.insertText(app.token(user))
    await page.keyboard.press('Enter')
    await page.locator('#signed-in').waitFor()
    await tabTo('target')
    await tabTo('Like')
    await page.keyboard.press('Enter')
    await eventually(score, 2)
    await tabTo('Undo')
    await page.keyboard.press('Space')
    await eventually(score, 0)
    await tabTo('snippet-curl-copy')
  })
})

describe('snippets', () => {
  const copy = (page) => page.locator('#snippet-html-copy')
  const snippet = (page, name) => page.locator(`#snippet-${name} pre`).innerText()

  it('button copies the text', async (t) => {
    const page = await open(t, { permissions: ['clipboard-read', 'clipboard-write'] })
    await copy(page).click()
    await eventually(() => copy(page).innerText(), 'Copied')
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), await snippet(page, 'html'))
  })

  for (const [cause, clipboard] of [
    ['missing clipboard', 'undefined'],
    ['denied clipboard', `{ writeText: () => Promise.reject(new DOMException('no', 'NotAllowedError')) }`],
  ]) {
    it(`${cause} selects the text`, async (t) => {
      const script = `Object.defineProperty(navigator, 'clipboard', { value: ${clipboard} })`
      const page = await open(t, { before: (page) => page.addInitScript(script) })
      await copy(page).click()
      await eventually(() => copy(page).innerText(), 'Press Ctrl+C')
      assert.equal(await page.evaluate('String(getSelection())'), await snippet(page, 'html'))
      assert.deepEqual(page.errors, [])
    })
  }

  it('curl command is counted', async (t) => {
    const page = await open(t)
    const command = (await snippet(page, 'curl')).replace('"42"', `"${user}"`)
    const body = execFileSync('bash', ['-c', command], {
      env: { ...process.env, SERVICE_KEY: app.serviceKey },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    assert.equal(JSON.parse(body).outcome, 'counted')
    assert.equal(await score(), 2)
  })

  it('leaderboard and client work on another site', async (t) => {
    const page = await open(t)
    const [html, script] = await Promise.all(['html', 'script'].map((name) => snippet(page, name)))
    app.serve('/my-token', (_, response) => response.end(app.token('42')))
    const other = await app.open(t, `${html}<script type="module">${script}</script>`)
    await eventually(() => other.locator('tbody tr').count(), 10)
    await eventually(() => app.score('42'), 3)
    assert.deepEqual(other.errors, [])
  })
})

for (const path of ['/', '/docs']) {
  for (const colorScheme of ['light', 'dark']) {
    it(`${path} passes axe in ${colorScheme} mode`, async (t) => {
      const viewport = { width: 1200, height: 3000 }
      const page = await open(t, { colorScheme, reducedMotion: 'reduce', viewport }, path)
      if (path === '/') await signIn(page)
      assert.deepEqual(await violations(page), [])
    })
  }

  it(`${path} fits 320 pixels`, async (t) => {
    const page = await open(t, PHONE, path)
    if (path === '/') await signIn(page)
    assert.equal(await scrollWidth(page), 320)
  })
}

it('page scripts are smaller than 30 KB', () => {
  const files = readdirSync(`${WEB}page`).filter((name) => name.endsWith('.js'))
  const bytes = files.reduce((sum, name) => sum + readFileSync(`${WEB}page/${name}`).length, 0)
  assert.ok(bytes < 30_000, `${bytes}`)
})
