// The page of a member.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'

import { eventually, layoutShift, openMenu, scrollWidth, startApp, violations } from './support.mjs'

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

const PARTS = ['climb', 'year', 'targets', 'points']

const text = (page, selector) => page.locator(selector).innerText()
const visible = (page, ...names) =>
  Promise.all(names.map((name) => page.locator(`#${name}`).isVisible())).then((values) =>
    names.filter((_, index) => values[index]),
  )

/** Opens a member's page, signed in as a user or as none, and waits for its content. */
async function open(t, member, options = {}, as = undefined) {
  const hash = as ? `#token=${app.token(as)}` : ''
  const page = await app.visit(t, new URL(`/u/${encodeURIComponent(member)}${hash}`, app.url).href, options)
  // A member whose year is private has no more than the climb.
  await page.locator('#member:not([hidden]), #unknown:not([hidden])').waitFor({ state: 'attached' })
  return page
}

describe('page of a member', () => {
  it('public member has climb, year and targets', async (t) => {
    const page = await open(t, 'ada')
    await page.locator('#targets .entries').waitFor()
    assert.equal(await text(page, 'h1'), 'Ada')
    assert.equal(await page.title(), 'Ada · Leaderboard')
    assert.equal(await page.locator('activity-climb').getAttribute('user'), 'ada')
    assert.deepEqual(await visible(page, ...PARTS), ['climb', 'year', 'targets'])
    assert.equal(await page.locator('activity-heatmap').getAttribute('user'), 'ada')
    assert.deepEqual(page.errors, [])
  })

  it('member with a private year has a climb alone', async (t) => {
    const page = await open(t, 'eve')
    assert.deepEqual(await visible(page, ...PARTS), ['climb'])
    assert.deepEqual(page.errors, [])
  })

  it('targets continue on the next page', async (t) => {
    const page = await open(t, 'ada')
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
  it('climb and reasons of points are shown', async (t) => {
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

  it('sign-out hides what is private', async (t) => {
    const page = await open(t, 'eve', {}, 'eve')
    await page.locator('#points .entries').waitFor()
    await openMenu(page)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await eventually(() => visible(page, ...PARTS), ['climb'])
    assert.equal(await page.locator('#points .entries').count(), 0)
  })

  it('another member sees the public page', async (t) => {
    const page = await open(t, 'eve', {}, 'ada')
    assert.deepEqual(await visible(page, ...PARTS), ['climb'])
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

for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
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

for (const width of [240, 390]) {
  it(`fits ${width} pixels without layout shift`, async (t) => {
    const page = await open(t, 'ada', { viewport: { width, height: 800 } }, 'ada')
    await page.locator('#points .entries').waitFor()
    await page.locator('activity-heatmap [part~=summary]:not(:empty)').waitFor()
    assert.equal(await scrollWidth(page), width)
    const shift = await layoutShift(page)
    assert.ok(shift < 0.001, `${shift}`)
  })
}
