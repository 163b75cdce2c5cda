// The playground for developers.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { after, before, beforeEach, describe, it } from 'node:test'

import { eventually, openMenu, SCHEMES, scrollWidth, startApp, violations, WIDTHS } from './support.mjs'

let app
let user
let users = 0

before(async () => {
  app = await startApp({ vars: { PLAYGROUND: 'true' } })
  await app.count(Array.from({ length: 10 }, (_, n) => ({ user: `m${n}`, action: 'like', target: 'p' })))
})
after(() => app?.stop())
beforeEach(() => {
  user = `try-${++users}`
})

const message = (page) => page.locator('#news').innerText()
const messageStarts = async (page, text) => (await message(page)).startsWith(text)
const score = () => app.score(user)

async function open(t, options = {}) {
  const page = await app.visit(t, new URL('/try', app.url).href, options)
  await page.locator('#snippet-curl').waitFor()
  return page
}

async function signIn(page) {
  await page.getByLabel('User token').fill(app.token(user))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('#signed-in').waitFor()
}

describe('playground', () => {
  it('actions and undos change the points', async (t) => {
    const page = await open(t)
    await page.getByLabel('User token').fill('nonsense')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This sign-in link is invalid.').waitFor()
    await signIn(page)
    assert.equal(await page.locator('#me').textContent(), user)
    let points = 0
    for (const [name, value] of /** @type {const} */ ([
      ['Visit', 1],
      ['Like', 2],
      ['Bookmark', 2],
      ['Follow', 2],
      ['Comment', 3],
    ])) {
      await page.getByRole('button', { name: `${name} +${value}`, exact: true }).click()
      points += value
      // Visits are sent without standings.
      const rank = name === 'Visit' ? '' : ` Today: ${points} points, rank `
      await eventually(() => messageStarts(page, `${name} counted: +${value} point${rank ? 's' : 's'}.${rank}`), true)
      assert.equal(await score(), points)
    }
    await page.getByRole('button', { name: 'Undo: Comment' }).click()
    await eventually(() => messageStarts(page, 'Comment undone: -3 points. Today: 7 points, rank '), true)
    await page.getByRole('button', { name: 'Undo: Comment' }).click()
    await eventually(() => messageStarts(page, 'No comment to undo.'), true)
    assert.equal(await score(), 7)
    assert.equal(await page.getByRole('button', { name: 'Publish' }).count(), 0)
    await openMenu(page)
    await page.getByRole('button', { name: 'Sign out' }).click()
    assert.equal(await page.locator('#board').getAttribute('user'), null)
    assert.equal(await page.getByLabel('User token').inputValue(), '')
    assert.deepEqual(page.errors, [])
  })

  it('requests are shown without the token', async (t) => {
    const page = await open(t)
    await signIn(page)
    await page.getByLabel('Target').fill('post-1')
    await page.getByRole('button', { name: 'Like +2' }).click()
    const exchanges = page.locator('#exchanges details')
    await eventually(() => exchanges.count(), 1)
    assert.match(await exchanges.locator('summary').innerText(), /^POST \/v1\/activity 200 OK \d+ ms$/)
    const [request, response] = await exchanges.locator('pre').allInnerTexts()
    const [headers, body] = request.split('\n\n')
    assert.equal(headers, 'authorization: Bearer …\ncontent-type: application/json\nprefer: return=representation')
    assert.deepEqual(JSON.parse(body), { user, action: 'like', target: 'post-1' })
    assert.match(response, /^content-type: application\/json\n/)
    assert.equal(JSON.parse(response.split('\n\n')[1]).outcome, 'counted')
    assert.equal((await page.locator('main').innerHTML()).includes(app.token(user)), false)
    await page.getByRole('button', { name: 'My standings' }).click()
    await eventually(() => exchanges.count(), 2)
    assert.match(await exchanges.first().locator('summary').innerText(), /^GET \/v1\/users\/try-\d+\/standings 200 OK/)
    assert.equal(await exchanges.last().getAttribute('open'), null)
  })

  it('rejected activity and lost connection are reported', async (t) => {
    const page = await open(t)
    await signIn(page)
    await page.getByLabel('Target').fill('')
    await page.getByRole('button', { name: 'Like +2' }).click()
    await eventually(() => messageStarts(page, 'Like failed. target: '), true)
    assert.match(await page.locator('#exchanges summary').innerText(), /400 Bad Request/)
    await page.route('**/v1/activity', (route) => route.abort())
    await page.getByLabel('Target').fill('post-2')
    await page.getByRole('button', { name: 'Like +2' }).click()
    await eventually(() => messageStarts(page, 'Waiting to send. TypeError'), true)
  })

  it('languages change the labels', async (t) => {
    const page = await open(t, { locale: 'zh-CN' })
    assert.equal(await page.locator('h1').innerText(), '体验')
    await openMenu(page)
    await page.locator('#language').selectOption('en')
    await eventually(() => page.locator('#snippet-html-title').innerText(), 'Leaderboard (HTML)')
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

  it('snippets work on another site and in a shell', async (t) => {
    const page = await open(t)
    const [html, hashed, script] = await Promise.all(
      ['html', 'html_hashed', 'script'].map((name) => snippet(page, name)),
    )
    assert.match(hashed, /\/immutable\/activity-rank\.[0-9a-f]{12}\.js"\n {2}integrity="sha384-/)
    app.serve('/my-token', (_, response) => response.end(app.token('42')))
    for (const [index, board] of [html, hashed].entries()) {
      const url = app.serveHtml(
        `/snippet-${index}.html`,
        `<title>A site</title>${board}<script type="module">${script}</script>`,
      )
      const other = await app.visit(t, url)
      await eventually(() => other.locator('tbody tr').count(), 10)
      // The like counts once, the visits of both pages.
      await eventually(() => app.score('42'), 3 + index)
      assert.deepEqual(other.errors, [])
    }
    const command = (await snippet(page, 'curl')).replace('"42"', `"${user}"`)
    const body = execFileSync('bash', ['-c', command], {
      env: { ...process.env, SERVICE_KEY: app.serviceKey },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    assert.equal(JSON.parse(body).outcome, 'counted')
    assert.equal(await score(), 2)
  })
})

for (const colorScheme of SCHEMES) {
  it(`passes axe in ${colorScheme} mode`, async (t) => {
    const page = await open(t, { colorScheme, reducedMotion: 'reduce', viewport: { width: 1200, height: 3000 } })
    assert.deepEqual(await violations(page), [])
    await signIn(page)
    await page.getByRole('button', { name: 'Like +2' }).click()
    await page.locator('#exchanges details').waitFor()
    assert.deepEqual(await violations(page), [])
  })
}

for (const width of WIDTHS) {
  it(`fits ${width} pixels`, async (t) => {
    const page = await open(t, { viewport: { width, height: 800 } })
    await signIn(page)
    await page.getByRole('button', { name: 'Like +2' }).click()
    await page.locator('#exchanges details').waitFor()
    assert.equal(await scrollWidth(page), width)
  })
}
