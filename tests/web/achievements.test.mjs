// The achievements on the page and the recap of a member.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'

import { eventually, layoutShift, SCHEMES, scrollWidth, startApp, violations, WIDTHS } from './support.mjs'

const YEAR = 366 * 864e5 // ms
const NOW = new Date()
const ACHIEVEMENTS = {
  commenter: {
    name: { en: 'Commenter', 'zh-Hans': '评论者' },
    description: { en: 'Comment on posts.', 'zh-Hans': '评论帖子。' },
    icon: 'comment',
    steps: [1, 3, 10],
    count: 'comment',
  },
  liker: { name: 'Liker', icon: 'heart', steps: [5], count: 'like' },
  first: { name: 'First steps', icon: 'https://example.com/first.png', points: true },
}

let app

before(async () => {
  app = await startApp({ databases: true, vars: { ACHIEVEMENTS } })
  await app.request('PUT', '/v1/users', [
    { id: 'ada', name: 'Ada', public_activity: true },
    { id: 'eve', name: 'Eve', hidden: true },
  ])
  const comments = (user) => [0, 1, 2, 3].map((n) => ({ user, action: 'comment', target: `c${n}` }))
  await app.count([
    { user: 'ada', action: 'like', target: 'old', at: new Date(NOW.getTime() - YEAR).toISOString() },
    ...comments('ada'),
    ...comments('eve'),
  ])
  await app.runCron('* * * * *')
  const first = async () => (await app.request('GET', '/v1/users/ada/achievements')).achievements[0]
  await eventually(async () => (await first()).value, 4)
})
after(() => app?.stop())

/** Opens a page, and waits for the list of achievements. */
async function open(t, path, options = {}, as = undefined, on = app) {
  const page = await on.visit(t, `${on.url}${path}${as ? `#token=${on.token(as)}` : ''}`, options)
  await page.locator('.achievements').waitFor()
  return page
}

const textsOf = async (page) => {
  const items = await page.locator('.achievements > li').allInnerTexts()
  return items.map((text) => text.split(/\n+/))
}
const dayOf = (instant) => new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' }).format(instant)

describe('page of a member', () => {
  it('achievements have steps, progress and a language', async (t) => {
    const page = await open(t, '/u/ada')
    assert.deepEqual(await textsOf(page), [
      ['Commenter 3', 'Comment on posts.', dayOf(NOW), '4 of 10'],
      ['First steps', dayOf(NOW.getTime() - YEAR)],
      ['Liker', '1 of 5'],
    ])
    assert.equal(await page.getByRole('progressbar', { name: 'Commenter: 4 of 10' }).count(), 1)
    assert.deepEqual(await page.locator('.achievements > li').evaluateAll((items) => items.map((li) => li.className)), [
      'earned',
      'earned',
      '',
    ])
    assert.equal(await page.locator('.icon img').getAttribute('src'), 'https://example.com/first.png')
    await page.evaluate(() => {
      const select = /** @type {any} */ (document.querySelector('#language'))
      select.value = 'zh-Hans'
      select.dispatchEvent(new Event('change'))
    })
    await eventually(async () => (await textsOf(page))[0].slice(0, 2), ['评论者 3', '评论帖子。'])
    assert.equal(await page.locator('#achievements-title').innerText(), '成就')
    assert.deepEqual(page.errors, [])
  })

  it('hidden member sees the own achievements', async (t) => {
    const own = await open(t, '/u/eve', {}, 'eve')
    await eventually(async () => (await textsOf(own))[0]?.[0], 'Commenter 3')
    const other = await app.visit(t, `${app.url}/u/eve`)
    await other.locator('#unknown:not([hidden])').waitFor()
    assert.equal(await other.locator('.achievements > li').count(), 0)
  })

  it('credential of the highest step is linked', async (t) => {
    const { privateKey } = generateKeyPairSync('ed25519')
    const BADGE_KEY = JSON.stringify(privateKey.export({ format: 'jwk' }))
    const BADGE_ISSUER = 'https://rank.example.com'
    const issuing = await startApp({ databases: true, vars: { ACHIEVEMENTS, BADGE_KEY, BADGE_ISSUER } })
    t.after(() => issuing.stop())
    await issuing.count([{ user: 'ada', action: 'comment', target: 'x' }])
    await issuing.runCron('* * * * *')
    const page = await issuing.visit(t, `${issuing.url}/u/ada`)
    const link = page.getByRole('link', { name: 'Credential: Commenter' })
    await link.waitFor()
    const href = await link.getAttribute('href')
    assert.equal(href, '/v1/users/ada/achievements/commenter/credential?step=1&lang=en')
    const response = await fetch(issuing.url + href)
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'application/vc+jwt'])
    assert.equal(await page.getByRole('link', { name: 'Credential' }).count(), 2)
    assert.deepEqual(await violations(page, '#achievements'), [])
    assert.deepEqual(page.errors, [])

    // A hidden member saves it with the own token.
    await issuing.request('PUT', '/v1/users/ada/moderation', { hidden: true, frozen: false, reason: 'Spam' })
    const own = await open(t, '/u/ada', {}, 'ada', issuing)
    const credential = own.getByRole('link', { name: 'Credential: Commenter' })
    await credential.waitFor()
    const [saved] = await Promise.all([own.waitForEvent('download'), credential.click()])
    assert.equal(saved.suggestedFilename(), 'commenter.jwt')
    assert.match(await readFile(await saved.path(), 'utf8'), /^[\w-]+\.[\w-]+\.[\w-]+$/)
  })

  it('deployment without achievements gets no request', async (t) => {
    const plain = await startApp()
    t.after(() => plain.stop())
    await plain.count([{ user: 'ada', action: 'like', target: 'x' }])
    const requests = []
    const before = (page) => page.on('request', (request) => requests.push(request.url()))
    const page = await plain.visit(t, `${plain.url}/u/ada`, { before })
    await page.locator('#member:not([hidden])').waitFor({ state: 'attached' })
    assert.equal(await page.locator('#achievements').isVisible(), false)
    assert.deepEqual(
      requests.filter((url) => /\/v1\/.*achievements/.test(url)),
      [],
    )
  })
})

describe('recap', () => {
  it('year has the achievements that were earned in it', async (t) => {
    const page = await open(t, `/u/ada/${NOW.getUTCFullYear()}`)
    assert.deepEqual(await textsOf(page), [['Commenter 3', 'Comment on posts.', dayOf(NOW)]])
    assert.deepEqual(page.errors, [])
  })
})

for (const colorScheme of SCHEMES) {
  for (const path of ['/u/ada', `/u/ada/${NOW.getUTCFullYear()}`]) {
    it(`${path} passes axe in ${colorScheme} mode`, async (t) => {
      const page = await open(t, path, { colorScheme, reducedMotion: 'reduce', viewport: { width: 390, height: 3000 } })
      assert.deepEqual(await violations(page, '#achievements'), [])
    })
  }
}

for (const width of WIDTHS) {
  it(`fits ${width} pixels without layout shift`, async (t) => {
    const page = await open(t, '/u/ada', { viewport: { width, height: 800 } })
    assert.equal(await scrollWidth(page), width)
    const shift = await layoutShift(page)
    assert.ok(shift < 0.001, `${shift}`)
  })
}
