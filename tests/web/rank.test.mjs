// <activity-rank> on pages of another origin, in Chromium.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'

import { eventually, faults, gzipped, shift, start } from './support.mjs'

let site
let group

before(async () => {
  // Boards are as new as can be without an event stream, and one period is switched off.
  site = await start({ live: false, vars: { BOARD_MAX_AGE: 1, PERIODS: 'day,week,month,all', TIMEZONE: 'Asia/Shanghai' } })
})
after(() => site?.stop())
beforeEach(() => {
  group = site.newGroup()
})

const ELEMENT = '<activity-rank src="SITE" group="GROUP" refresh="1"></activity-rank>'

/** Likes of users, so many of each: `{ ada: 3 }` gives Ada 6 points. */
async function likes(counts, at) {
  const all = Object.entries(counts).flatMap(([user, count]) =>
    Array.from({ length: count }, (_, number) => ({
      ...{ user, action: 'like', target: `${group}-${at ?? ''}-${number}`, groups: [group] },
      ...(at && { at }),
    })),
  )
  await site.count(all)
}

/** Gives users profiles, until the test ends. */
async function profiles(t, all) {
  t.after(() => Promise.all(all.map(({ id }) => site.call('DELETE', `/v1/users/${id}`))))
  await site.call('PUT', '/v1/users', all)
}

/** So many users, the first with most points. */
const crowd = (size) => Object.fromEntries(Array.from({ length: size }, (_, at) => [`m${at + 1}`, size - at]))

const names = (page) => page.locator('tbody [part=name]').allTextContents()
const scores = (page) => page.locator('tbody [part=score]').allTextContents()
const text = (page, part) => page.locator(`[part~=${part}]:visible`).innerText({ timeout: 1000 })
const shown = (page) => page.locator('section:not(.loading)').waitFor()
const box = (page, selector) => page.locator(selector).boundingBox()

/** Board requests from now on. */
function requests(page, pattern = /\/v1\/ranking\/\w+\?/) {
  const seen = []
  page.on('request', (request) => pattern.test(request.url()) && seen.push(request.url()))
  return seen
}

/** Keeps answers back until told. */
async function held(page) {
  let release
  const released = new Promise((resolve) => (release = resolve))
  await page.route(/\/v1\/ranking\//, async (route) => {
    await released
    await route.continue()
  })
  return release
}

/**
 * A deployment of the test's own, below the group's name on the origin of pages, whose board of the
 * day has these users; returns its event streams, each a function that sends a board, or a part of
 * what it would send.
 */
function streaming(users) {
  const board = (users) => ({
    period: { kind: 'day', id: 'd', start: '2026-11-20T00:00:00Z', end: '2026-11-21T00:00:00Z', timezone: 'UTC', closed: false },
    total: users.length,
    entries: users.map((id, at) => ({ rank: at + 1, score: 9 - at, user: { id } })),
  })
  const streams = []
  const path = `/${group}/v1/ranking/day`
  site.serve(path, (_, response) => response.end(JSON.stringify(board(users))))
  site.serve(`${path}/live`, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (users, from, to) =>
      response.write(`retry: 3000\nevent: board\nid: 1\ndata: ${JSON.stringify(board(users))}\n\n:\n\n`.slice(from, to))
    send.end = () => response.end()
    send(users)
    streams.push(send)
  })
  return streams
}

/** What happens to the first element of a page, from before it is there. */
function events(page) {
  return page.addInitScript(() => {
    globalThis.events = []
    for (const name of ['load', 'error', 'rankchange']) {
      const note = ({ target, type, detail }) =>
        target.localName === 'activity-rank' && events.push(detail ? [type, detail.from, detail.to] : type)
      document.addEventListener(name, note, true)
    }
  })
}

describe('a board', () => {
  it('has the first of a group in their order, and the first three set off', async (t) => {
    await likes(crowd(4))
    await profiles(t, [
      { id: 'm1', name: 'Ada Lovelace', url: 'https://example.com/ada' },
      { id: 'm2', name: '王小明' },
    ])
    const page = await site.open(t, ELEMENT, { before: events })
    await eventually(() => names(page), ['Ada Lovelace', '王小明', 'm3', 'm4'])
    assert.deepEqual(await scores(page), ['8', '6', '4', '2'])
    const parts = await page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.getAttribute('part')))
    assert.deepEqual(parts, ['row first', 'row second', 'row third', 'row'])
    assert.deepEqual(await page.locator('tbody [part=avatar]').allTextContents(), ['AL', '王', 'm', 'm'])
    assert.equal(await page.locator('tbody a').getAttribute('rel'), 'nofollow ugc noopener noreferrer')
    assert.equal(await text(page, 'facts'), '4 members · Asia/Shanghai')
    assert.deepEqual(await page.evaluate('events'), ['load'])
    assert.deepEqual(page.errors, [])
  })

  it('moves a row within two seconds of a like in another tab, and back after its undo', async (t) => {
    await likes({ ada: 2, bob: 1 })
    await site.call('POST', '/v1/activity', { user: 'bob', action: 'like', target: `${group}-x`, groups: [group] })
    const page = await site.open(t, ELEMENT, { before: events })
    await eventually(() => names(page), ['ada', 'bob'])
    const tab = await site.open(t, '', {})
    const send = (activity) =>
      tab.evaluate(
        async ([url, key, activity]) => {
          const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
          const answer = await fetch(`${url}/v1/activity`, { method: 'POST', headers, body: JSON.stringify(activity) })
          return answer.json()
        },
        [site.url, site.serviceKey, activity],
      )
    const like = { user: 'bob', action: 'like', target: `${group}-y`, groups: [group] }
    assert.equal((await send(like)).outcome, 'counted')
    await eventually(() => names(page), ['bob', 'ada'], 2000)
    assert.equal((await send({ ...like, undo: true })).outcome, 'undone')
    await eventually(() => names(page), ['ada', 'bob'], 2000)
    // Equal points: who had them first is first.
    assert.deepEqual(await scores(page), ['4', '4'])
  })

  it('shows the other periods by tabs, and one that is switched off no more', async (t) => {
    await likes({ ada: 1 })
    await likes({ bob: 3 }, new Date(Date.now() - 500 * 864e5).toISOString())
    const page = await site.open(t, ELEMENT)
    await eventually(() => names(page), ['ada'])
    await page.getByRole('tab', { name: 'All time' }).click()
    await eventually(() => names(page), ['bob', 'ada'])
    assert.equal(await text(page, 'title'), 'All time')
    assert.equal(await page.locator('activity-rank').getAttribute('period'), 'all')
    assert.deepEqual(await page.getByRole('tab').allTextContents(), ['Day', 'Week', 'Month', 'Year', 'All time'])
    await page.getByRole('tab', { name: 'Year' }).click()
    await eventually(() => page.locator('[role=tab]:visible').allTextContents(), ['Day', 'Week', 'Month', 'All time'])
    await eventually(() => names(page), ['ada'])
  })

  it('goes to earlier days by arrows, and back to now', async (t) => {
    const yesterday = new Date(Date.now() - 864e5)
    await likes({ ada: 1 })
    await likes({ bob: 1 }, yesterday.toISOString())
    const page = await site.open(t, ELEMENT)
    await eventually(() => names(page), ['ada'])
    const title = await text(page, 'title')
    const later = page.getByRole('button', { name: 'Later' })
    assert.equal(await later.getAttribute('aria-disabled'), 'true')
    await page.getByRole('button', { name: 'Earlier' }).click()
    await eventually(() => names(page), ['bob'])
    const date = new Intl.DateTimeFormat('sv', { timeZone: 'Asia/Shanghai' }).format(yesterday)
    assert.equal(await page.locator('activity-rank').getAttribute('date'), date)
    const fields = { year: 'numeric', month: 'short', day: 'numeric', timeZone: 'Asia/Shanghai' }
    assert.equal(await text(page, 'title'), new Intl.DateTimeFormat('en', fields).format(yesterday))
    await later.click()
    await eventually(() => names(page), ['ada'])
    await eventually(() => page.locator('activity-rank').getAttribute('date'), null)
    await eventually(() => text(page, 'title'), title)
  })

  it('says so where nobody has been counted', async (t) => {
    const page = await site.open(t, ELEMENT)
    await eventually(() => text(page, 'empty'), 'Nobody has been counted yet.')
    await page.getByRole('button', { name: 'Earlier' }).click()
    await eventually(() => text(page, 'empty'), 'Nobody was counted, or this has expired.')
  })

  it('shows a name that is markup as the text it is', async (t) => {
    await likes({ evil: 1 })
    const name = '<img src=x onerror="document.title=1"><b>'
    await profiles(t, [{ id: 'evil', name }])
    const page = await site.open(t, ELEMENT.replace('refresh', 'user="evil" refresh'))
    await eventually(() => names(page), [name])
    await eventually(() => page.locator('[part=own] [part=name]').textContent(), name)
    assert.equal(await page.title(), 'A page')
    assert.equal(await page.locator('section b').count(), 0)
  })

  it('has initials where a picture cannot be had', async (t) => {
    await likes({ ada: 1 })
    await profiles(t, [{ id: 'ada', name: 'Ada', avatar: 'https://127.0.0.1:1/ada.png' }])
    const page = await site.open(t, ELEMENT)
    await eventually(() => names(page), ['Ada'])
    await eventually(() => page.locator('tbody img').count(), 0)
    assert.equal(await page.locator('tbody [part=avatar]').textContent(), 'A')
  })
})

describe("a member's own place", () => {
  const own = (user) => ELEMENT.replace('refresh', `user="${user}" limit="3" refresh`)

  it('is in sight below a board they are not on, with the way to the next', async (t) => {
    await likes(crowd(6))
    const page = await site.open(t, own('m5'))
    await eventually(() => names(page), ['m1', 'm2', 'm3'])
    await eventually(() => text(page, 'details'), '3 points to rank 4 · Percentile 33.3')
    assert.equal(await page.locator('[part=own] [part=rank]').textContent(), '5')
    assert.equal(await page.locator('[part=own] [part=score]').textContent(), '4')
    assert.equal(await page.locator('[part~=own-row]').count(), 0)
  })

  it('stays in sight while a long board is scrolled', async (t) => {
    await likes(crowd(30))
    const viewport = { width: 400, height: 500 }
    const page = await site.open(t, own('m30').replace('limit="3"', 'limit="29"'), { viewport })
    await eventually(() => page.locator('tbody tr').count(), 29)
    for (const scrolled of [100, 500, 1e6]) {
      await page.evaluate((y) => scrollTo(0, y), scrolled)
      const { y, height } = await box(page, '[part=own]')
      assert.ok(y >= 0 && y + height <= 500, `${scrolled}: ${y}`)
    }
  })

  it('is marked on a board they are on', async (t) => {
    await likes(crowd(3))
    const page = await site.open(t, own('m2'))
    await eventually(() => page.locator('[part~=own-row] [part=name]').allTextContents(), ['m2'])
    assert.equal(await page.locator('[part~=own-row]').getAttribute('aria-current'), 'true')
    await eventually(() => text(page, 'details'), '3 points to rank 1 · Percentile 66.7')
  })

  it('is told by the board alone while they are on it', async (t) => {
    await likes(crowd(3))
    const seen = []
    const page = await site.open(t, own('m3'), { before: (page) => seen.push(requests(page, /\/users\//)) })
    await eventually(() => text(page, 'details'), '3 points to rank 2 · Percentile 33.3')
    await likes({ m3: 1 }, new Date().toISOString())
    await eventually(() => text(page, 'details'), '1 point to rank 2 · Percentile 33.3')
    assert.equal(seen[0].length, 1)
  })

  it('says so where they have none', async (t) => {
    await likes(crowd(1))
    const page = await site.open(t, own('nobody'))
    await eventually(() => text(page, 'details'), 'Not on this board yet.')
    assert.equal(await page.locator('[part=own] [part=rank]').textContent(), '–')
  })

  it('tells how far it has moved since the last look, and fires rankchange when it moves', async (t) => {
    await likes({ ada: 3, bob: 2, eve: 1 })
    const page = await site.open(t, own('eve'), { before: events })
    await eventually(() => page.locator('[part=own] [part=rank]').textContent(), '3')
    assert.equal(await page.locator('[part~=movement]').textContent(), '')
    await site.count(['x', 'y', 'z'].map((target) => ({ user: 'eve', action: 'like', target: group + target, groups: [group] })))
    await eventually(() => page.locator('[part=own] [part=rank]').textContent(), '1')
    assert.deepEqual(await page.evaluate('events'), ['load', ['rankchange', 3, 1]])
    await page.reload()
    await eventually(() => page.locator('[part=own] [part=rank]').textContent(), '1')
    assert.equal(await page.locator('[part~=movement]').textContent(), '')
    // On a page without the element, which would remember what it sees.
    const url = page.url()
    await page.goto(site.serve('/empty.html', (_, response) => response.end()))
    await page.evaluate(() => {
      const key = Object.keys(localStorage).find((key) => key.includes('activity-rank'))
      const seen = JSON.parse(localStorage[key])
      seen.day[1] = 3
      localStorage[key] = JSON.stringify(seen)
    })
    await page.goto(url)
    await eventually(() => page.locator('[part~=movement]').textContent(), '▲ 2')
    assert.equal(await page.locator('[part~=movement]').getAttribute('aria-label'), 'up 2 since your last look')
  })
})

describe('asking', () => {
  it('is of where the module comes from, unless another place is named', async (t) => {
    await likes({ ada: 1 })
    const page = await site.open(t, '<activity-rank group="GROUP"></activity-rank>')
    await eventually(() => names(page), ['ada'])
    assert.ok(page.url().startsWith(site.pages) && site.pages !== site.url)
  })

  it('is done once for each board, however many elements show it', async (t) => {
    await likes({ ada: 1 })
    const body = '<activity-rank src="SITE" group="GROUP" refresh="0"></activity-rank>'.repeat(50)
    const week = body.replaceAll('refresh', 'period="week" refresh')
    const seen = []
    const page = await site.open(t, body + week, { before: (page) => seen.push(requests(page)) })
    await eventually(() => page.locator('tbody tr').count(), 100)
    assert.deepEqual(seen[0].map((url) => new URL(url).pathname).sort(), ['/v1/ranking/day', '/v1/ranking/week'])
  })

  it('is by the tag of what is known, and rests while the page is hidden', async (t) => {
    await likes({ ada: 1 })
    const statuses = []
    const page = await site.open(t, ELEMENT, {
      before: async (page) => {
        const session = await page.context().newCDPSession(page)
        await session.send('Network.enable')
        session.on('Network.responseReceivedExtraInfo', ({ statusCode, headers }) => {
          if (Object.keys(headers).some((name) => name.toLowerCase() === 'etag')) statuses.push(statusCode)
        })
      },
    })
    await eventually(() => names(page), ['ada'])
    await eventually(() => statuses.includes(304), true)
    const hide = (hidden) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
      }, hidden)
    await hide(true)
    const seen = requests(page)
    await likes({ bob: 2 })
    await page.waitForTimeout(2500)
    assert.deepEqual(seen, [])
    assert.deepEqual(await names(page), ['ada'])
    await hide(false)
    await eventually(() => names(page), ['bob', 'ada'])
  })

  it('backs off while it fails, and says of when the board is', async (t) => {
    await likes({ ada: 1 })
    const page = await site.open(t, ELEMENT)
    await eventually(() => names(page), ['ada'])
    await page.clock.install()
    await page.route(/\/v1\/ranking\//, (route) => route.fulfill({ status: 503, body: '{}' }))
    const seen = requests(page)
    await page.reload()
    await eventually(() => seen.length, 1)
    for (const [seconds, count] of [[2, 2], [4, 3], [8, 4], [16, 5]]) {
      await page.clock.runFor(seconds * 1000)
      await eventually(() => seen.length, count)
    }
  })

  it('goes through a function that may be another', async (t) => {
    const page = await site.open(t, '')
    await page.evaluate(async ([url]) => {
      const { ActivityRank } = await import(`${url}/elements/rank.js`)
      const period = { kind: 'day', id: '2026-11-20', start: '2026-11-20T00:00:00Z', end: '2026-11-21T00:00:00Z', timezone: 'UTC', closed: true }
      class Quiet extends ActivityRank {
        static fetch = async () => Response.json({ period, total: 1, entries: [{ rank: 1, score: 7.25, user: { id: 'made up' } }] })
      }
      customElements.define('quiet-rank', Quiet)
      document.querySelector('main').append(new Quiet())
    }, [site.url])
    await eventually(() => names(page), ['made up'])
    assert.deepEqual(await scores(page), ['7.25'])
    assert.equal(await text(page, 'title'), 'Nov 20, 2026')
  })

  it('is left to the event stream where there is one, by one for all elements', async (t) => {
    const streams = streaming(['ada', 'bob'])
    const page = await site.open(t, `<activity-rank src="${site.pages}/${group}" refresh="1"></activity-rank>`.repeat(2))
    await eventually(() => names(page), ['ada', 'bob', 'ada', 'bob'])
    await eventually(() => streams.length, 1)
    const seen = requests(page)
    streams[0](['bob', 'ada'])
    await eventually(() => names(page), ['bob', 'ada', 'bob', 'ada'], 1000)
    // In pieces, as it may come.
    streams[0]([], 0, 60)
    await page.waitForTimeout(1500)
    assert.deepEqual(await names(page), ['bob', 'ada', 'bob', 'ada'])
    streams[0]([], 60)
    await page.getByText('Nobody has been counted yet.').nth(1).waitFor()
    assert.deepEqual([seen, streams.length], [[], 1])
  })

  it('goes on when a stream has ended, and has another', async (t) => {
    const streams = streaming(['ada'])
    const page = await site.open(t, `<activity-rank src="${site.pages}/${group}"></activity-rank>`)
    await eventually(() => streams.length, 1)
    streams[0].end()
    await eventually(() => streams.length, 2)
    streams[1](['eve'])
    await eventually(() => names(page), ['eve'])
  })

  it('tries a stream once where there is none', async (t) => {
    await likes({ ada: 1 })
    const seen = []
    const page = await site.open(t, ELEMENT, { before: (page) => seen.push(requests(page), requests(page, /\/live/)) })
    await eventually(() => seen[0].length > 2, true)
    assert.equal(seen[1].length, 1)
    await page.getByRole('tab', { name: 'Week' }).click()
    await eventually(() => seen[0].some((url) => url.includes('/week')), true)
    assert.equal(seen[1].length, 1)
  })
})

describe('honesty', () => {
  it('leaves what the page has where no board can be had, and fires error', async (t) => {
    const body = '<activity-rank src="http://127.0.0.1:1"><a href="/top">The ranking</a></activity-rank>'
    const page = await site.open(t, body, { before: events })
    await page.getByRole('link', { name: 'The ranking' }).waitFor()
    await eventually(() => page.evaluate('events'), ['error'])
    assert.equal(await text(page, 'status'), '')
  })

  it('shows the board as soon as it can be had after all', async (t) => {
    await likes({ ada: 1 })
    const fail = (page) => page.route(/\/v1\//, (route) => route.fulfill({ status: 503, body: 'busy' }))
    const before = (page) => Promise.all([events(page), fail(page)])
    const page = await site.open(t, ELEMENT.replace('><', '><b>Nothing to see</b><'), { before })
    await page.getByText('Nothing to see').waitFor()
    await page.unroute(/\/v1\//)
    await eventually(() => names(page), ['ada'])
    assert.equal(await page.getByText('Nothing to see').isVisible(), false)
    assert.deepEqual(await page.evaluate('events'), ['error', 'load'])
  })

  it('says in its error what is wrong', async (t) => {
    const page = await site.open(t, '')
    const message = await page.evaluate(
      (src) =>
        new Promise((resolve) => {
          const element = Object.assign(document.createElement('activity-rank'), { src, limit: 1000 })
          element.addEventListener('error', ({ message }) => resolve(message))
          document.body.append(element)
        }),
      site.url,
    )
    assert.equal(message, 'limit: must be a whole number, 1 to 100')
  })

  it('has words where the page has none', async (t) => {
    const page = await site.open(t, '<activity-rank src="http://127.0.0.1:1"></activity-rank>')
    await eventually(() => text(page, 'status'), 'The ranking cannot be loaded.')
  })

  it('is no different on a page that is not allowed', async (t) => {
    const page = await site.open(t, '<activity-rank src="SITE"><b>Nothing to see</b></activity-rank>')
    await shown(page)
    await page.goto(page.url().replace('127.0.0.1', 'localhost'))
    await page.getByText('Nothing to see').waitFor()
  })

  it('says when the browser is off line, and goes on when it is back', async (t) => {
    await likes({ ada: 1 })
    const page = await site.open(t, ELEMENT)
    await eventually(() => names(page), ['ada'])
    await page.context().setOffline(true)
    await eventually(async () => /^You are offline\. This is from \d+:\d\d [AP]M\.$/u.test((await text(page, 'status')).replace(/\s/g, ' ')), true)
    await likes({ bob: 2 })
    assert.deepEqual(await names(page), ['ada'])
    await page.context().setOffline(false)
    await eventually(() => names(page), ['bob', 'ada'])
    await eventually(() => text(page, 'status'), '')
  })
})

describe('its looks', () => {
  it('take the same space from the first moment on', async (t) => {
    await likes(crowd(12))
    let release
    // As README.md says.
    const style = '<style>activity-rank:not(:defined) { display: block; min-block-size: 46.5em }</style>'
    const body = `${style}${ELEMENT.replace('refresh', 'user="m12" refresh')}<p id="below">Below</p>`
    const page = await site.open(t, body, { before: async (page) => (release = await held(page)) })
    await page.locator('section.loading').waitFor()
    const before = [await box(page, 'activity-rank'), await box(page, '#below')]
    release()
    await eventually(() => page.locator('tbody tr').count(), 10)
    await eventually(() => text(page, 'details'), '3 points to rank 11 · Percentile 8.3')
    assert.deepEqual([await box(page, 'activity-rank'), await box(page, '#below')], before)
    assert.ok((await shift(page)) < 0.001, `${await shift(page)}`)
  })

  it('fit a window of 320 pixels', async (t) => {
    await likes(crowd(12))
    await profiles(t, [{ id: 'm1', name: 'A name as long as names may be, and then some more of it' }])
    const options = { viewport: { width: 320, height: 640 } }
    const page = await site.open(t, ELEMENT.replace('refresh', 'user="m12" refresh'), options)
    await eventually(() => page.locator('tbody tr').count(), 10)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320)
    const outside = await page.locator('section *').evaluateAll((all) =>
      all.filter((one) => one.getBoundingClientRect().right > 320).map((one) => one.outerHTML),
    )
    assert.deepEqual(outside, [])
  })

  for (const colorScheme of ['light', 'dark']) {
    it(`have no fault that axe finds, ${colorScheme}`, async (t) => {
      await likes(crowd(12))
      await profiles(t, [{ id: 'm2', name: 'Ada', url: 'https://example.com/' }])
      const body = `${ELEMENT.replace('refresh', 'user="m12" refresh')}
        <activity-rank src="SITE" group="nobody"></activity-rank>`
      const viewport = { width: 800, height: 2000 }
      const page = await site.open(t, body, { colorScheme, reducedMotion: 'reduce', viewport })
      await eventually(() => page.locator('tbody tr').count(), 10)
      await page.getByText('Nobody has been counted yet.').waitFor()
      await eventually(() => page.locator('[part=details]:visible').innerText(), '3 points to rank 11 · Percentile 8.3')
      assert.deepEqual(await faults(page, 'activity-rank'), [])
    })
  }

  it('are dark on a light page where the page wants it', async (t) => {
    const page = await site.open(t, ELEMENT.replace('refresh', 'theme="dark" refresh'), { colorScheme: 'light' })
    await shown(page)
    const color = await page.locator('section').evaluate((section) => getComputedStyle(section).backgroundColor)
    assert.equal(color, 'rgb(24, 30, 38)')
  })

  it('do not move for those who want no motion', async (t) => {
    await likes({ ada: 2, bob: 1 })
    for (const [reducedMotion, moves] of [['reduce', false], ['no-preference', true]]) {
      const page = await site.open(t, ELEMENT, { reducedMotion })
      await eventually(() => page.locator('tbody tr').count(), 2)
      await page.evaluate(() => {
        globalThis.moved = false
        const animate = Element.prototype.animate
        Element.prototype.animate = function (...all) {
          globalThis.moved = true
          return animate.apply(this, all)
        }
      })
      const first = await names(page)
      const target = `${group}-${reducedMotion}`
      const last = first[1]
      await site.count([1, 2, 3].map((n) => ({ user: last, action: 'like', target: target + n, groups: [group] })))
      await eventually(() => names(page), [last, first[0]])
      assert.equal(await page.evaluate('moved'), moves)
    }
  })

  it('are mirrored where one reads from right to left', async (t) => {
    await likes(crowd(2))
    const page = await site.open(t, `<div dir="rtl">${ELEMENT}</div>`)
    await eventually(() => names(page), ['m1', 'm2'])
    const [rank, score] = [await box(page, 'tbody tr:first-child [part=rank]'), await box(page, 'tbody tr:first-child [part=score]')]
    assert.ok(rank.x > score.x)
    await page.getByRole('tab', { name: 'Day' }).focus()
    await page.keyboard.press('ArrowLeft')
    await eventually(() => page.locator('activity-rank').getAttribute('period'), 'week')
  })
})

describe('without a mouse', () => {
  it('all can be done by keys', async (t) => {
    await likes({ ada: 1 })
    await profiles(t, [{ id: 'ada', name: 'Ada', url: 'https://example.com/' }])
    const page = await site.open(t, ELEMENT)
    await eventually(() => names(page), ['Ada'])
    const focused = () => page.locator(':focus').last().evaluate((element) => element.ariaLabel ?? element.textContent)
    const press = async (key, expected) => {
      await page.keyboard.press(key)
      await eventually(focused, expected)
    }
    await press('Tab', 'Day')
    await press('ArrowRight', 'Week')
    await eventually(() => page.locator('activity-rank').getAttribute('period'), 'week')
    await press('End', 'All time')
    await press('ArrowRight', 'Day')
    await press('ArrowLeft', 'All time')
    await press('Home', 'Day')
    await eventually(() => page.locator('section:not(.waiting)').count(), 1)
    await press('Tab', 'Earlier')
    await page.keyboard.press('Enter')
    await eventually(() => text(page, 'empty'), 'Nobody was counted, or this has expired.')
    await press('Tab', 'Later')
    await page.keyboard.press('Enter')
    await eventually(() => names(page), ['Ada'])
    await eventually(focused, 'Later')
    await press('Tab', 'Ada')
  })

  it('a screen reader finds tabs, a named table and the own place', async (t) => {
    await likes({ ada: 2, bob: 1 })
    const body = '<activity-rank src="SITE" group="GROUP" period="all" user="bob"></activity-rank>'
    const page = await site.open(t, body)
    await eventually(() => text(page, 'details'), '3 points to rank 1 · Percentile 50')
    const tree = await page.locator('activity-rank').ariaSnapshot()
    assert.equal(
      tree,
      `- group "Ranking":
  - tablist "Period":
    - tab "Day"
    - tab "Week"
    - tab "Month"
    - tab "Year"
    - tab "All time" [selected]
  - tabpanel "All time":
    - paragraph: All time
    - paragraph: 2 members · Asia/Shanghai
    - table "All time":
      - rowgroup:
        - row "Rank Member Points":
          - columnheader "Rank"
          - columnheader "Member"
          - columnheader "Points"
      - rowgroup:
        - row "1 ada 4":
          - cell "1"
          - rowheader "ada"
          - cell "4"
        - row "2 bob 2":
          - cell "2"
          - rowheader "bob"
          - cell "2"
    - group "Your place":
      - text: 2 bob 2
      - paragraph: 3 points to rank 1 · Percentile 50
  - status`,
    )
  })
})

describe('languages', () => {
  it('are that of the page: 简体中文', async (t) => {
    await likes(crowd(12))
    const page = await site.open(t, `<div lang="zh-CN">${ELEMENT.replace('refresh', 'user="m12" refresh')}</div>`)
    await eventually(() => page.getByRole('tab').allTextContents(), ['日榜', '周榜', '月榜', '年榜', '总榜'])
    await eventually(() => text(page, 'details'), '再得 3 分升至第 11 名 · 百分位 8.3')
    const fields = { year: 'numeric', month: 'short', day: 'numeric', timeZone: 'Asia/Shanghai' }
    const date = new Intl.DateTimeFormat('zh-CN', fields).format()
    assert.equal(await text(page, 'title'), date)
    assert.equal(await page.locator('section').getAttribute('lang'), 'zh-CN')
  })

  it('change with the attribute, and are English where there is no other', async (t) => {
    const page = await site.open(t, ELEMENT.replace('refresh', 'lang="zh" refresh'))
    await eventually(() => text(page, 'empty'), '还没有人上榜。')
    for (const lang of ['de', 'zh-TW', 'no such tag', 'en-GB']) {
      await page.locator('activity-rank').evaluate((element, lang) => (element.lang = lang), lang)
      await eventually(() => text(page, 'empty'), 'Nobody has been counted yet.')
      await page.locator('activity-rank').evaluate((element) => (element.lang = 'zh-Hans'))
      await eventually(() => text(page, 'empty'), '还没有人上榜。')
    }
  })

  it('have the same words each', async () => {
    const [english, chinese] = await Promise.all(
      ['en', 'zh-Hans'].map((name) => import(`../../web/elements/languages/${name}.js`)),
    )
    const shape = (words) =>
      Object.entries(words).map(([name, word]) => [name, typeof word === 'object' ? shape(word) : typeof word])
    assert.deepEqual(shape(chinese.default), shape(english.default))
  })
})

describe('the files', () => {
  it('of the element, with its looks and English, have at most 12 KB gzipped', () => {
    const files = ['activity-rank', 'rank', 'view', 'members', 'dom', 'source', 'style', 'languages', 'languages/en']
    const bytes = gzipped(files.map((name) => `elements/${name}.js`))
    assert.ok(bytes <= 12 * 1024, `${bytes}`)
  })
})

describe('while the store is away', () => {
  it('the board is as it was, and says of when', async (t) => {
    await likes({ ada: 1 })
    const page = await site.open(t, ELEMENT)
    await eventually(() => names(page), ['ada'])
    await site.store.stop()
    await eventually(async () => /^As of .*: nothing newer can be had\.$/.test(await text(page, 'status')), true, 20_000)
    assert.deepEqual(await names(page), ['ada'])
  })
})
