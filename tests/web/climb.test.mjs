// <activity-climb> on pages of another origin.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, beforeEach, describe, it } from 'node:test'

import { nextSteps, waysIn } from '../../web/elements/next.js'
import { eventually, layoutShift, SCHEMES, scrollWidth, startApp, violations, WIDTHS } from './support.mjs'

const DAY = 864e5 // ms
/** @type {Record<string, import('../../web/elements/next.js').Rule>} */
const RULES = {
  visit: { points: 1, daily_cap: 10, by: 'user' },
  like: { points: 2, by: 'user' },
  comment: { points: 3, daily_cap: 9, by: 'user' },
  publish: { points: 10, by: 'service' },
}

let app
let prefix
let tests = 0

before(async () => {
  app = await startApp({ vars: { LEVELS: { Newcomer: 0, Regular: 100 } } })
})
after(() => app?.stop())
beforeEach(() => {
  prefix = `climb${++tests}-`
})

/** Counts likes of a user: each is worth two points. */
const like = (user, count, at = undefined) =>
  app.count(
    Array.from({ length: count }, (_, n) => ({ user: prefix + user, action: 'like', target: `${n}${at ?? ''}`, at })),
  )

/**
 * Opens a page with the climb of a member on the board of the day.
 * @param {any} t
 * @param {string} user
 * @param {Record<string, any>} [options]
 */
async function open(t, user, { attributes = '', isSignedIn = true, ...options } = {}) {
  const token = isSignedIn ? `document.querySelector('activity-climb').token = '${app.token(prefix + user)}'` : ''
  const page = await app.open(
    t,
    `<activity-climb src="APP_URL" user="${prefix}${user}" period="day" ${attributes}>Fallback</activity-climb>
    <script>
      addEventListener('rankchange', ({ detail }) => (globalThis.changes ??= []).push(detail))
      ${token}
    </script>
    <script type="module" src="APP_URL/elements/activity-climb.js"></script>`,
    options,
  )
  await page.locator('activity-climb [part=title]:not(:empty)').waitFor()
  return page
}

const text = (page, part) => page.locator(`activity-climb [part=${part}]`).innerText()
const reload = (page) => page.locator('activity-climb').evaluate((climb) => climb.reload())
/** Records the parts that are animated, except for rows that change places. */
const recordMotion = (page) =>
  page.addInitScript(() => {
    const { animate } = Element.prototype
    globalThis.moved = []
    Element.prototype.animate = function (...options) {
      const part = this.getAttribute('part')
      if (this.localName !== 'li') globalThis.moved.push(part)
      return animate.apply(this, options)
    }
  })
const moved = (page) => page.evaluate('globalThis.moved')
const changes = (page) => page.evaluate('globalThis.changes ?? []')

/** Returns the names of the rungs, without the prefix. */
async function ladder(page) {
  const names = await page.locator('activity-climb [part=name]').allTextContents()
  return names.map((name) => name.replace(prefix, ''))
}

describe('next steps', () => {
  it('fewest repetitions come first', () => {
    const actions = nextSteps(4, RULES, {}).map(({ action, count }) => [action, count])
    assert.deepEqual(actions, [
      ['like', 2],
      ['comment', 2],
      ['visit', 4],
      ['publish', 1],
    ])
  })

  it('cap of today is respected', () => {
    const used = { comment: { points: 6 }, visit: { points: 10 } }
    const actions = nextSteps(4, RULES, used).map(({ action }) => action)
    assert.deepEqual(actions, ['like', 'publish'])
    assert.deepEqual(
      waysIn(RULES, { visit: { points: 10 } }).map(({ action }) => action),
      ['comment', 'like'],
    )
  })

  it('many repetitions are no step', () => {
    assert.deepEqual(nextSteps(1000, RULES, {}), [])
    assert.deepEqual(nextSteps(1, {}, {}), [])
  })

  it('fractions of points are exact', () => {
    const [step] = nextSteps(0.3, { like: { points: 0.1 } }, {})
    assert.equal(step.count, 3)
  })
})

describe('climb', () => {
  it('ladder shows two above and two below', async (t) => {
    for (const [user, count] of Object.entries({ a: 9, b: 8, c: 7, d: 5, e: 4, f: 3 })) await like(user, count)
    const page = await open(t, 'd')
    assert.deepEqual(await ladder(page), ['b', 'c', 'd', 'e', 'f'])
    assert.equal(await text(page, 'title'), 'Your place today')
    await eventually(() => text(page, 'next'), `2 comments pass ${prefix}c`)
    assert.equal(await page.locator('[part~=own] [part=you]').innerText(), 'You')
    assert.equal(await page.locator('[part~=own]').getAttribute('aria-current'), 'true')
    assert.deepEqual(page.errors, [])
  })

  it('first place has a lead', async (t) => {
    await like('a', 60)
    await like('b', 58)
    await app.request('PUT', `/v1/users/${prefix}b`, { name: 'إبراهيم' })
    const page = await open(t, 'a')
    assert.equal(await text(page, 'rank'), '#1')
    assert.equal(await text(page, 'next'), 'You lead \u2068إبراهيم\u2069 by 4 points')
    assert.equal(await page.locator('[part~=place]').getAttribute('part'), 'place first')
    await eventually(() => text(page, 'level'), 'Regular')
  })

  it('member without points sees the ways to the board', async (t) => {
    const page = await open(t, 'new')
    assert.equal(await text(page, 'title'), "Enter today's board")
    await eventually(() => page.locator('[part~=way]').allInnerTexts(), ['Comment\n+3', 'Bookmark\n+2', 'Follow\n+2'])
    assert.equal(await page.locator('[part=share]').isVisible(), false)
    await like('new', 1)
    await reload(page)
    await eventually(() => text(page, 'title'), 'Your place today')
    const [{ from }] = await changes(page)
    assert.equal(from, null)
  })

  it('podium place and passed member are announced', async (t) => {
    await like('a', 65)
    await like('b', 64)
    const page = await open(t, 'b', { before: recordMotion })
    assert.equal(await text(page, 'rank'), '#2')
    assert.deepEqual((await ladder(page)).slice(0, 2), ['a', 'b'])
    await like('b', 4, new Date().toISOString())
    await reload(page)
    await eventually(() => text(page, 'status'), `You passed ${prefix}a. You are now #1.`)
    assert.deepEqual((await ladder(page)).slice(0, 2), ['b', 'a'])
    const [{ from, to, reached }, ...more] = await changes(page)
    assert.deepEqual(more, [])
    assert.deepEqual([from, to, reached.place, reached.passed.id], [2, 1, 1, `${prefix}a`])
    assert.deepEqual(await moved(page), ['place first'])
  })

  it('level is announced', async (t) => {
    await like('a', 49)
    const page = await open(t, 'a', { before: recordMotion })
    await eventually(() => text(page, 'level'), 'Newcomer')
    await app.count([{ user: `${prefix}a`, action: 'like', target: 'x' }])
    await reload(page)
    await eventually(() => text(page, 'level'), 'Regular')
    const [{ reached }] = await changes(page)
    assert.deepEqual(reached.level, { number: 2, name: 'Regular' })
    assert.match(await text(page, 'status'), /You reached the level Regular\.$/)
    assert.ok((await moved(page)).includes('level'))
  })

  it('achievements are counted', async (t) => {
    await like('a', 1)
    const before = (page) =>
      page.route('**/card', async (route) => {
        const response = await route.fetch()
        return route.fulfill({ response, json: { ...(await response.json()), achievements: 3 } })
      })
    const page = await open(t, 'a', { before })
    await eventually(() => text(page, 'earned'), '3 achievements')
  })

  it('first points of a day save the streak', async (t) => {
    await like('a', 1, new Date(Date.now() - DAY).toISOString())
    const page = await open(t, 'a', { before: recordMotion })
    await eventually(() => text(page, 'streak'), '1-day streak')
    await like('a', 1)
    await reload(page)
    await eventually(() => text(page, 'streak'), '2-day streak')
    const saved = (await changes(page)).filter(({ reached }) => reached.streak)
    assert.deepEqual(
      saved.map(({ reached }) => reached),
      [{ streak: 2 }],
    )
    assert.ok((await moved(page)).includes('streak'))
  })

  it('reduced motion leaves the announcement', async (t) => {
    await like('a', 2)
    await like('b', 1)
    const page = await open(t, 'b', { before: recordMotion, reducedMotion: 'reduce' })
    await like('b', 2, new Date().toISOString())
    await reload(page)
    await eventually(async () => /^You passed /.test(await text(page, 'status')), true)
    assert.deepEqual(await moved(page), [])
  })

  it('closed period is shown until the next place', async (t) => {
    await like('past', 4, new Date(Date.now() - DAY).toISOString())
    const page = await open(t, 'past')
    await eventually(async () => /^Last time: #\d+ of \d+$/.test(await text(page, 'title')), true)
  })

  it('steps respect what was done today', async (t) => {
    const limited = (page) =>
      page.route('**/healthz', (route) =>
        route.fulfill({
          json: { configured: { rules: { like: { points: 2, daily_cap: 2, by: 'user' }, visit: RULES.visit } } },
          headers: { 'access-control-allow-origin': '*' },
        }),
      )
    await like('a', 2)
    await like('b', 1)
    const page = await open(t, 'b', { before: limited })
    await eventually(async () => /^\d+ visits? pass/.test(await text(page, 'next')), true)
  })

  it('another member has no steps', async (t) => {
    await like('a', 3)
    await like('b', 1)
    const page = await open(t, 'b', { attributes: 'other', isSignedIn: false })
    assert.equal(await text(page, 'title'), 'Day')
    assert.match(await text(page, 'next'), /^\d+ points? to rank \d+$/)
    assert.equal(await page.locator('[part=you]').count(), 0)
  })

  it('link to a member needs a valid address', async (t) => {
    await like('a', 1)
    const page = await open(t, 'a', { attributes: 'member-url="https://[{user}"' })
    assert.equal(await page.locator('activity-climb a').count(), 0)
    const linked = await open(t, 'a', { attributes: 'member-url="/members/{user}"' })
    const link = linked.locator('[part~=own] a')
    assert.equal(await link.evaluate((link) => link.pathname), `/members/${prefix}a`)
  })

  it('unreachable service leaves the fallback', async (t) => {
    const before = (page) => page.route('**/v1/**', (route) => route.abort())
    const page = await app.open(
      t,
      `<activity-climb src="APP_URL" user="a">Fallback</activity-climb>
      <script type="module" src="APP_URL/elements/activity-climb.js"></script>`,
      { before },
    )
    await page.getByText('Fallback').waitFor()
  })

  it('shared picture is a PNG of the climb', async (t) => {
    await like('a', 1)
    const page = await open(t, 'a')
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Share' }).click()
    const download = await downloading
    assert.equal(download.suggestedFilename(), `${prefix}a.png`)
    const bytes = readFileSync(await download.path())
    assert.equal(bytes.toString('latin1', 1, 4), 'PNG')
    assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [1200, 630])
  })

  it('texts follow the language', async (t) => {
    await like('a', 1)
    const page = await open(t, 'a', { attributes: 'lang="zh-Hans"' })
    assert.equal(await text(page, 'title'), '今日排名')
    assert.equal(await page.locator('[part=share]').innerText(), '分享')
  })

  for (const width of WIDTHS) {
    it(`fits ${width} pixels without layout shift`, async (t) => {
      await like('a', 2)
      await like('b', 1)
      const page = await open(t, 'b', { viewport: { width, height: 800 } })
      await eventually(async () => (await text(page, 'next')).length > 0, true)
      assert.equal(await scrollWidth(page), width)
      const shift = await layoutShift(page)
      assert.ok(shift < 0.001, `${shift}`)
    })
  }

  for (const colorScheme of SCHEMES) {
    it(`passes axe in ${colorScheme} mode`, async (t) => {
      await like('a', 2)
      const attributes = `theme="${colorScheme}"`
      for (const user of ['a', 'new']) {
        const page = await open(t, user, { attributes, colorScheme, reducedMotion: 'reduce' })
        await eventually(async () => (await text(page, 'next')).length > 0, true)
        assert.deepEqual(await violations(page), [])
      }
    })
  }
})
