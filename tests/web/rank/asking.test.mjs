// <activity-rank> on pages of another origin, in Chromium: what it asks, and what it does without answers.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { eventually } from '../support.mjs'
import { ELEMENT, events, group, likes, names, requests, scores, shown, site, text } from './support.mjs'

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
