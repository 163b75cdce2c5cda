// The page of a member.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'

import {
  eventually,
  layoutShift,
  openMenu,
  PHONE,
  SCHEMES,
  scrollWidth,
  startApp,
  violations,
  WIDTHS,
} from './support.mjs'

let app

before(async () => {
  app = await startApp({ vars: { CONTENT_PERIODS: 'week,all' } })
  await app.request('PUT', '/v1/users', [
    { id: 'ada', name: 'Ada', url: 'https://example.com/ada', public_activity: true },
    { id: 'eve', name: 'Eve' },
    { id: 'a|b', name: '<b>Bold</b>' },
  ])
  await app.request('PUT', '/v1/targets', [
    { id: 'post-1', author: 'ada', title: 'A title', url: 'https://example.com/1' },
    ...Array.from({ length: 11 }, (_, n) => ({ id: `more-${n}`, author: 'ada' })),
  ])
  await app.count([
    { user: 'ada', action: 'comment', target: 'comment-1' },
    { user: 'eve', action: 'like', target: 'post-1' },
    { user: 'eve', action: 'bookmark', target: 'post-1' },
    { user: 'a|b', action: 'like', target: 'x' },
    ...Array.from({ length: 21 }, (_, n) => ({ user: 'ada', action: 'like', target: `t${n}` })),
  ])
  const standing = () => app.request('GET', '/v1/content/all/targets/post-1')
  await eventually(async () => (await standing()).score, 4)
})
after(() => app?.stop())

const PARTS = ['climb', 'year', 'pauses', 'targets', 'points']

const text = (page, selector) => page.locator(selector).innerText()
const visible = (page, ...names) =>
  Promise.all(names.map((name) => page.locator(`#${name}`).isVisible())).then((values) =>
    names.filter((_, index) => values[index]),
  )

/** Opens a member's page, signed in as a user or as none, and waits for its content. */
async function open(t, member, options = {}, as = undefined, on = app) {
  const hash = as ? `#token=${on.token(as)}` : ''
  const page = await on.visit(t, new URL(`/u/${encodeURIComponent(member)}${hash}`, on.url).href, options)
  // A member whose year is private has no more than the climb.
  await page.locator('#member:not([hidden]), #unknown:not([hidden])').waitFor({ state: 'attached' })
  return page
}

describe('page of a member', () => {
  it('public member has climb, year and pages of targets', async (t) => {
    const page = await open(t, 'ada')
    await page.locator('#targets .entries').waitFor()
    assert.equal(await text(page, 'h1'), 'Ada')
    assert.equal(await page.title(), 'Ada · Leaderboard')
    assert.equal(await page.locator('activity-climb').getAttribute('user'), 'ada')
    assert.deepEqual(await visible(page, ...PARTS), ['climb', 'year', 'targets'])
    assert.equal(await page.locator('activity-heatmap').getAttribute('user'), 'ada')
    const items = page.locator('#targets .entries > li')
    await eventually(() => items.count(), 10)
    await page.getByRole('button', { name: 'Show more' }).click()
    await eventually(() => items.count(), 12)
    assert.equal(
      await page.evaluate('document.activeElement.parentElement.children[10] === document.activeElement'),
      true,
    )
    const title = page.getByRole('link', { name: 'A title' })
    assert.equal(await title.getAttribute('href'), 'https://example.com/1')
    assert.match(await items.filter({ hasText: 'A title' }).innerText(), /^A title\n+.*\n+\+4 points$/)
    assert.equal(await page.getByRole('button', { name: 'Show more' }).isVisible(), false)
    assert.deepEqual(page.errors, [])
  })

  it('member with a private year has a climb alone', async (t) => {
    for (const reader of [undefined, 'ada']) {
      const page = await open(t, 'eve', {}, reader)
      assert.deepEqual(await visible(page, ...PARTS), ['climb'], reader)
      assert.deepEqual(page.errors, [])
    }
  })

  for (const [name, user] of [
    ['unknown member', 'nobody'],
    ['hidden member', 'ghost'],
  ]) {
    it(`${name} is not found`, async (t) => {
      await app.request('PUT', '/v1/users/ghost', { name: 'Ghost', hidden: true })
      const page = await open(t, user)
      assert.equal(await text(page, 'h1'), 'Member not found')
      assert.equal(await text(page, '#unknown'), 'There is no member at this address, or they are not shown.')
      assert.deepEqual(await visible(page, ...PARTS), [])
      assert.doesNotMatch(await text(page, 'main'), /Ghost/)
      assert.deepEqual(page.errors, [])
    })
  }

  it('unreachable service is reported', async (t) => {
    const page = await open(t, 'ada', { before: (page) => page.route('**/v1/**', (route) => route.abort()) })
    assert.equal(await text(page, '#unknown'), 'Could not load this member. Try again later.')
    assert.equal(await text(page, 'h1'), 'ada')
  })

  it('name is text', async (t) => {
    const page = await open(t, 'a|b')
    assert.equal(await text(page, 'h1'), '<b>Bold</b>')
    assert.equal(await page.locator('h1 b').count(), 0)
  })
})

describe('own page', () => {
  it('climb and reasons are shown until sign-out', async (t) => {
    const page = await open(t, 'eve', {}, 'eve')
    await page.locator('#points .entries').waitFor()
    const climb = page.locator('activity-climb')
    await eventually(() => climb.locator('[part=rank]').innerText(), '#2')
    await eventually(() => climb.locator('[part=next]').innerText(), '14 comments pass Ada')
    await page.locator('#periods').getByRole('link', { name: 'All time' }).click()
    await eventually(() => climb.getAttribute('period'), 'all')
    assert.equal(await page.locator('#periods [aria-current]').innerText(), 'All time')
    const reasons = await page.locator('#points .entries > li').allInnerTexts()
    const parts = reasons.map((reason) => reason.split(/\n+/)).map(([sentence, , points]) => [sentence, points])
    // Activities of the same instant are in no particular order.
    assert.deepEqual(parts.sort(), [
      ['You bookmarked “A title”', '+2'],
      ['You liked “A title”', '+2'],
    ])
    await openMenu(page)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await eventually(() => visible(page, ...PARTS), ['climb'])
    assert.equal(await page.locator('#points .entries').count(), 0)
    assert.deepEqual(page.errors, [])
  })

  it('points continue on the next page', async (t) => {
    const page = await open(t, 'ada', {}, 'ada')
    const items = page.locator('#points .entries > li')
    await eventually(() => items.count(), 20)
    await page.locator('#points').getByRole('button', { name: 'Show more' }).click()
    await eventually(async () => (await items.count()) > 20, true)
    await page
      .locator('#points')
      .getByText(/^You commented on “comment-1”$/)
      .waitFor()
  })

  it('newcomer without activity has a page', async (t) => {
    const page = await open(t, 'newcomer', {}, 'newcomer')
    await page.getByText('Nothing yet.').waitFor()
    assert.equal(await text(page, 'h1'), 'newcomer')
  })

  it('every kind of change is a sentence', async (t) => {
    const at = '2026-11-20T08:00:00Z'
    const target = { id: 'x', title: 'X' }
    const entries = [
      { at, type: 'undo', action: 'like', target, points: -2 },
      { at, type: 'activity', action: 'wave-hello', target, points: 1, undone: true },
      { at, type: 'received', action: 'like', target, points: 2 },
      { at, type: 'adjustment', points: -5 },
      { at, type: 'adjustment', event: 'hackathon', points: 5 },
      { at, type: 'undo', points: 5 },
      { at, type: 'undo', action: 'comment', target, points: -3, source_gone: true },
    ]
    const before = (page) =>
      page.route('**/v1/users/*/points*', (route) =>
        route.fulfill({ json: { source: 'journal', entries, next: null } }),
      )
    const page = await open(t, 'eve', { before }, 'eve')
    await page.locator('#points .entries').waitFor()
    assert.deepEqual(await page.locator('#points .entries p:first-child').allInnerTexts(), [
      'Like undone: X',
      'wave hello: X',
      '“X” was liked',
      'Adjusted by a moderator',
      'Adjusted by a moderator in the event hackathon',
      'Adjustment undone',
      'Comment no longer counts, as it was deleted or withdrawn: X',
    ])
    assert.match(await page.locator('#points .entries > li').nth(1).innerText(), /undone since\n+\+1$/)
  })

  it('hidden and frozen member reads the reason', async (t) => {
    const moderation = { hidden: true, frozen: true, reason: 'Likes bought' }
    const before = (page) =>
      page.route('**/v1/users/*/points*', (route) =>
        route.fulfill({ json: { source: 'journal', entries: [], moderation, next: null } }),
      )
    const page = await open(t, 'eve', { before }, 'eve')
    await eventually(
      () => page.locator('#moderation').innerText(),
      'A moderator has taken you off the boards. A moderator has frozen your account: what you do does not count. ' +
        'Likes bought',
    )
  })

  it('public reason of an exclusion is shown', async (t) => {
    const vars = { CONTENT_PERIODS: 'all', SHARDS: 1, FAIR_PLAY: {} }
    const fair = await startApp({ live: false, databases: true, vars })
    t.after(() => fair.stop())
    const decide = async (members, reason, public_reason) => {
      const { id } = await fair.request('POST', '/v1/cases', { members, reason: 'Said by three members' })
      const decision = { state: 'excluded', from: '2026-11-01T00:00:00Z', reason, public_reason }
      await fair.request('PUT', `/v1/cases/${id}`, decision)
      return id
    }
    const id = await decide(['ada', 'eve'], 'They agreed to like each other’s posts', true)
    await decide(['ada', 'bob'], 'For moderators', false)
    await fair.runCron('* * * * *')
    const page = await open(t, 'ada', PHONE, 'ada', fair)
    await eventually(
      () => text(page, '#moderation'),
      'A moderator has decided that what you and some other members give each other does not count. ' +
        'They agreed to like each other’s posts',
    )
    assert.equal(await scrollWidth(page), PHONE.viewport.width)
    assert.deepEqual(page.errors, [])
    const other = await open(t, 'ada', PHONE, 'eve', fair)
    assert.equal(await other.locator('#moderation').isVisible(), false)
    await fair.request('PUT', `/v1/cases/${id}`, { state: 'open', reason: 'By mistake' })
    await fair.runCron('* * * * *')
    await page.reload({ waitUntil: 'networkidle' })
    assert.equal(await page.locator('#moderation').isVisible(), false)
  })

  it('activities that did not count say why', async (t) => {
    const target = (id) => ({ id, title: `Post ${id}` })
    const at = (hour) => `2026-11-20T0${hour}:00:00Z`
    const refusal = (hour, action, reason, count, ids) => ({
      date: '2026-11-20',
      at: at(hour),
      action,
      reason,
      count,
      targets: ids.map(target),
    })
    const entries = [
      { at: at(5), type: 'activity', action: 'like', target: target('x'), points: 2, undone: false },
      { at: at(2), type: 'adjustment', points: 5, undone: false },
    ]
    const refused = [
      refusal(6, 'like', 'daily-cap', 14, ['a', 'b', 'c', 'd']),
      refusal(4, 'wave', 'a-later-reason', 1, []),
      refusal(3, 'visit', 'stale', 2, ['a']),
    ]
    const before = (page) =>
      page.route('**/v1/users/*/points?*refused=true*', (route) =>
        route.fulfill({ json: { source: 'journal', entries, refused, next: null } }),
      )
    const page = await open(t, 'eve', { before }, 'eve')
    await page.locator('#points .entries').waitFor()
    const items = page.locator('#points .entries > li')
    assert.deepEqual(await items.locator('p:first-child').allInnerTexts(), [
      'Like did not count: your daily limit was reached.',
      'You liked “Post x”',
      'wave did not count.',
      'Visit did not count: it arrived too late.',
      'Adjusted by a moderator',
    ])
    assert.match(await items.nth(0).innerText(), / · 14 times · Post a, Post b, Post c…\n+0$/)
    assert.match(await items.nth(2).innerText(), / · once\n+0$/)
  })
})

describe('pauses of the own streak', () => {
  const day = (ahead) => new Date(Date.now() + ahead * 864e5).toISOString().slice(0, 10)
  const statusOf = (page) => text(page, '#pause-status')
  const items = (page) => page.locator('#pauses-content > li')

  /** Opens the own page of a member with these pauses: days from today. */
  async function openOwn(t, member, pauses = [], options = {}) {
    for (const [from, until] of pauses) {
      await app.request('PUT', `/v1/users/${member}/pause`, { from: day(from), until: day(until) })
    }
    const page = await open(t, member, options, member)
    await page.locator('#pauses').waitFor()
    return page
  }

  /** Fills in the form, and submits it with the keyboard. */
  async function declare(page, from, until) {
    await page.getByLabel('First day').fill(day(from))
    await page.getByLabel('Last day').fill(day(until))
    await page.getByLabel('Last day').press('Enter')
  }

  const stored = async (member) => (await app.request('GET', `/v1/users/${member}/pause`)).pauses

  it('pauses are ended and withdrawn', async (t) => {
    const page = await openOwn(t, 'p2', [
      [0, 5],
      [10, 12],
    ])
    await items(page).getByRole('button', { name: 'Withdraw' }).press('Enter')
    await eventually(() => statusOf(page), 'Pause withdrawn.')
    assert.equal(await page.evaluate('document.activeElement.id'), 'pauses-title')
    await items(page).getByRole('button', { name: 'End' }).click()
    await eventually(() => statusOf(page), 'Pause ended. Today counts again.')
    assert.equal(await items(page).count(), 0)
    assert.deepEqual(await stored('p2'), [])
    assert.deepEqual(page.errors, [])
  })

  it('pauses that are over are not listed', async (t) => {
    const pauses = [
      { from: day(-9), until: day(-1) },
      { from: day(-1), until: day(0) },
    ]
    const before = (page) => page.route('**/v1/users/*/pause', (route) => route.fulfill({ json: { pauses } }))
    const page = await openOwn(t, 'p3', [], { before })
    await eventually(() => items(page).count(), 1)
  })

  it('inputs declare pauses on the days of the API', async (t) => {
    const page = await openOwn(t, 'p4')
    const limits = async (label) => {
      const input = page.getByLabel(label)
      return [await input.getAttribute('min'), await input.getAttribute('max')]
    }
    assert.deepEqual(await limits('First day'), [day(0), day(366)])
    assert.deepEqual(await limits('Last day'), [day(0), day(457)])
    await page.getByLabel('First day').fill(day(7))
    assert.deepEqual(await limits('Last day'), [day(7), day(98)])
    await declare(page, 7, 99)
    assert.equal(await page.locator('#pause-until:invalid').count(), 1)
    assert.deepEqual(await stored('p4'), [])
    assert.equal(await items(page).count(), 0)
    await declare(page, 0, 2)
    await eventually(() => statusOf(page), 'Pause saved.')
    assert.equal(await page.locator('#pause-status').getAttribute('role'), 'status')
    assert.match(await items(page).innerText(), /\d{4} Running\s+End$/)
    assert.equal(await page.getByLabel('First day').inputValue(), '')
    await declare(page, 300, 391)
    await eventually(() => items(page).count(), 2)
    assert.match(await items(page).nth(1).innerText(), / – .*\d{4}\s+Withdraw$/)
    const expected = [
      { from: day(0), until: day(2) },
      { from: day(300), until: day(391) },
    ]
    assert.deepEqual(await stored('p4'), expected)
    assert.deepEqual(page.errors, [])
  })

  it('days begin in the time zone of the deployment', async (t) => {
    const before = (page) =>
      page.route('**/healthz', (route) =>
        route.fulfill({ json: { configured: { timezone: 'Pacific/Kiritimati', content_periods: [] } } }),
      )
    const page = await openOwn(t, 'p5', [], { before })
    const today = new Intl.DateTimeFormat('sv', { timeZone: 'Pacific/Kiritimati' }).format()
    await eventually(() => page.getByLabel('First day').getAttribute('min'), today)
  })

  it('refused pause says why', async (t) => {
    const page = await openOwn(t, 'p6', [[3, 4]])
    await declare(page, 4, 6)
    const conflict = 'Another pause has some of these days, or you have 4 pauses already. End or withdraw one first.'
    await eventually(() => statusOf(page), conflict)
    // The inputs keep their values.
    assert.equal(await page.getByLabel('First day').inputValue(), day(4))
    await page.locator('#language').evaluate((select) => {
      Object.assign(select, { value: 'zh-Hans' }).dispatchEvent(new Event('change'))
    })
    await eventually(() => statusOf(page), '所选日期与其他暂停期重叠，或已有 4 个暂停期，请先结束或取消其中一个。')
    assert.equal(await items(page).getByRole('button').innerText(), '取消')
  })

  for (const [status, message] of /** @type {const} */ ([
    [400, 'A pause begins today or within a year and has at most 92 days.'],
    [403, 'A moderator has frozen your account: what you do does not count.'],
    [503, 'Not saved. Try again later.'],
  ])) {
    it(`status ${status} is a sentence`, async (t) => {
      const before = (page) =>
        page.route('**/v1/users/*/pause?*', (route) => route.fulfill({ status, json: { status } }))
      const page = await openOwn(t, `p7-${status}`, [[3, 4]], { before })
      await items(page).getByRole('button').click()
      await eventually(() => statusOf(page), message)
      assert.equal(await items(page).count(), 1)
    })
  }

  it('pauses that do not load are reported', async (t) => {
    const before = (page) => page.route('**/v1/users/*/pause', (route) => route.abort())
    const page = await openOwn(t, 'p8', [], { before })
    await eventually(() => statusOf(page), 'Could not load the list. Try again later.')
  })

  it('visitors and other members see no pauses', async (t) => {
    await app.request('PUT', '/v1/users/ada/pause', { from: day(0), until: day(1) })
    for (const reader of [undefined, 'eve']) {
      const requests = []
      const before = (page) => page.on('request', (request) => requests.push(request.url()))
      const page = await open(t, 'ada', { before }, reader)
      await page.locator('#targets .entries').waitFor()
      assert.deepEqual(await visible(page, 'year', 'pauses'), ['year'])
      assert.deepEqual(
        requests.filter((url) => url.endsWith('/pause')),
        [],
      )
    }
  })

  it('sign-out clears the list', async (t) => {
    const page = await openOwn(t, 'p9', [[3, 4]])
    await eventually(() => items(page).count(), 1)
    await openMenu(page)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await eventually(() => items(page).count(), 0)
    assert.equal(await page.locator('#pauses').isVisible(), false)
  })

  for (const colorScheme of SCHEMES) {
    it(`passes axe and fits a phone in ${colorScheme} mode`, async (t) => {
      const pauses = [
        [0, 1],
        [30, 40],
      ]
      const options = { ...PHONE, colorScheme, reducedMotion: /** @type {const} */ ('reduce') }
      const page = await openOwn(t, 'ada', pauses, options)
      await eventually(() => items(page).count(), 2)
      assert.deepEqual(await violations(page, '#pauses'), [])
      assert.equal(await scrollWidth(page), PHONE.viewport.width)
      const shift = await layoutShift(page)
      assert.ok(shift < 0.001, `${shift}`)
    })
  }
})

for (const colorScheme of SCHEMES) {
  it(`passes axe in ${colorScheme} mode`, async (t) => {
    const options = {
      colorScheme,
      reducedMotion: /** @type {const} */ ('reduce'),
      viewport: { width: 1200, height: 3000 },
    }
    const own = await open(t, 'ada', options, 'ada')
    await own.locator('#points .entries').waitFor()
    await own.locator('#targets .entries').waitFor()
    await own.locator('activity-heatmap [part~=summary]:not(:empty)').waitFor()
    assert.deepEqual(await violations(own), [])
    assert.deepEqual(await violations(await open(t, 'nobody', options)), [])
  })
}

for (const width of WIDTHS) {
  it(`fits ${width} pixels without layout shift`, async (t) => {
    const page = await open(t, 'ada', { viewport: { width, height: 800 } }, 'ada')
    await page.locator('#points .entries').waitFor()
    await page.locator('activity-heatmap [part~=summary]:not(:empty)').waitFor()
    assert.equal(await scrollWidth(page), width)
    const shift = await layoutShift(page)
    assert.ok(shift < 0.001, `${shift}`)
  })
}
