// <activity-rank> on pages of another origin: its requests, and failures.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { eventually, names, recordDelays, recordRequests, setHidden, startApp } from '../support.mjs'
import {
  app,
  countLikes,
  element,
  group,
  recordBoardRequests,
  recordEvents,
  rowCount,
  scores,
  text,
  useApp,
} from './support.mjs'

useApp()

const ELEMENT = element()

/** Collects the warnings in a page's console, from now on. */
function recordWarnings(page) {
  const warnings = []
  page.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()))
  return warnings
}

describe('requests', () => {
  it('src defaults to the origin of the module', async (t) => {
    await countLikes({ ada: 1 })
    const page = await app.open(t, '<activity-rank group="GROUP"></activity-rank>')
    await eventually(() => names(page), ['ada'])
    assert.ok(page.url().startsWith(app.pages) && app.pages !== app.url)
  })

  it('board that cannot be drawn shows the fallback, and the next one', async (t) => {
    const period = { kind: 'day', id: 'd', start: null, end: null, timezone: 'UTC', closed: false }
    let user = null
    app.serve(`/${group}/v1/ranking/day`, (_, response) =>
      response.end(JSON.stringify({ period, total: 1, entries: [{ rank: 1, score: 9, user }] })),
    )
    const body = `<activity-rank src="${app.pages}/${group}" layout="list" winners="none" refresh="1"><b>Fallback</b></activity-rank>`
    const page = await app.open(t, body)
    await page.getByText('Fallback').waitFor()
    user = { id: 'ada' }
    await eventually(() => names(page), ['ada'])
    assert.equal(await page.getByText('Fallback').isVisible(), false)
    assert.ok(page.errors.length > 0)
  })

  it('elements of one board share a request', async (t) => {
    await countLikes({ ada: 1 })
    const day = '<activity-rank src="APP_URL" group="GROUP" refresh="0"></activity-rank>'.repeat(50)
    const week = day.replaceAll('refresh', 'period="week" refresh')
    let urls = []
    const page = await app.open(t, day + week, { before: (page) => (urls = recordBoardRequests(page)) })
    await eventually(() => rowCount(page), 100)
    assert.deepEqual(urls.map((url) => new URL(url).pathname).sort(), ['/v1/ranking/day', '/v1/ranking/week'])
  })

  it('polling sends the ETag and stops while hidden', async (t) => {
    await countLikes({ ada: 1 })
    const statuses = []
    const page = await app.open(t, ELEMENT, {
      before: async (page) => {
        await page.clock.install()
        const session = await page.context().newCDPSession(page)
        await session.send('Network.enable')
        session.on('Network.responseReceivedExtraInfo', ({ statusCode, headers }) => {
          if (Object.keys(headers).some((name) => name.toLowerCase() === 'etag')) statuses.push(statusCode)
        })
      },
    })
    await eventually(() => names(page), ['ada'])
    await eventually(() => statuses.includes(304), true)
    await setHidden(page, true)
    const urls = recordBoardRequests(page)
    await countLikes({ bob: 2 })
    await page.clock.runFor(10_000)
    assert.deepEqual(urls, [])
    assert.deepEqual(await names(page), ['ada'])
    await setHidden(page, false)
    await eventually(() => names(page), ['bob', 'ada'])
  })

  it('failures double the polling interval', async (t) => {
    await countLikes({ ada: 1 })
    const page = await app.open(t, ELEMENT)
    await eventually(() => names(page), ['ada'])
    await recordDelays(page)
    await page.route(/\/v1\/ranking\//, (route) => route.fulfill({ status: 503, body: '{}' }))
    const urls = recordBoardRequests(page)
    await page.reload()
    for (const [failures, backoff] of [2000, 4000, 8000, 16_000].entries()) {
      await eventually(() => page.evaluate('delays.length'), failures + 1)
      assert.equal(urls.length, failures + 1)
      const delay = await page.evaluate('delays.at(-1)')
      assert(backoff / 2 <= delay && delay <= backoff, `${delay} ms after failure ${failures + 1}`)
      await page.clock.runFor(backoff)
    }
    await eventually(() => urls.length, 5)
  })

  it('subclass overrides fetch', async (t) => {
    const page = await app.open(t, '')
    await page.evaluate(
      async ([url]) => {
        const { ActivityRank } = await import(`${url}/elements/rank.js`)
        const period = {
          kind: 'day',
          id: '2026-11-20',
          start: '2026-11-20T00:00:00Z',
          end: '2026-11-21T00:00:00Z',
          timezone: 'UTC',
          closed: true,
        }
        class Offline extends ActivityRank {
          static fetch = async () =>
            Response.json({ period, total: 1, entries: [{ rank: 1, score: 7.25, user: { id: 'made up' } }] })
        }
        customElements.define('offline-rank', Offline)
        document.querySelector('main').append(new Offline())
      },
      [app.url],
    )
    await eventually(() => names(page), ['made up'])
    assert.deepEqual(await scores(page), ['7.25'])
    assert.equal(await text(page, 'title'), 'Nov 20, 2026')
  })

  it('missing stream is requested once', async (t) => {
    await countLikes({ ada: 1 })
    let boards = []
    let streams = []
    const page = await app.open(t, ELEMENT, {
      before: (page) => {
        boards = recordBoardRequests(page)
        streams = recordRequests(page, /\/live/)
      },
    })
    await eventually(() => boards.length > 2, true)
    assert.equal(streams.length, 1)
    await page.getByRole('tab', { name: 'Week' }).click()
    await eventually(() => boards.some((url) => url.includes('/week')), true)
    assert.equal(streams.length, 1)
  })
})

describe('failures', () => {
  const UNREACHABLE = 'http://127.0.0.1:1'

  it('board replaces the fallback after recovery', async (t) => {
    await countLikes({ ada: 1 })
    const fail = (page) => page.route(/\/v1\//, (route) => route.fulfill({ status: 503, body: 'busy' }))
    const before = (page) => Promise.all([recordEvents(page), fail(page)])
    const page = await app.open(t, ELEMENT.replace('><', '><b>Nothing to see</b><'), { before })
    await page.getByText('Nothing to see').waitFor()
    assert.equal(await text(page, 'status'), '')
    await page.unroute(/\/v1\//)
    await eventually(() => names(page), ['ada'])
    assert.equal(await page.getByText('Nothing to see').isVisible(), false)
    assert.deepEqual(await page.evaluate('events'), ['error', 'load'])
  })

  it('error event has the detail of the problem', async (t) => {
    const page = await app.open(t, '')
    const message = await page.evaluate(
      (src) =>
        new Promise((resolve) => {
          const element = Object.assign(document.createElement('activity-rank'), { src, limit: 1000 })
          element.addEventListener('error', (event) => resolve(event.message))
          document.body.append(element)
        }),
      app.url,
    )
    assert.equal(message, 'limit: must be an integer from 1 to 100')
  })

  it('element without fallback shows a text', async (t) => {
    const page = await app.open(t, `<activity-rank src="${UNREACHABLE}"></activity-rank>`)
    await eventually(() => text(page, 'status'), 'Could not load the leaderboard.')
  })

  it('page of a forbidden origin shows the fallback', async (t) => {
    const body = '<activity-rank src="APP_URL"><b>Nothing to see</b></activity-rank>'
    const page = await app.open(t, body + body.replace('src', 'period="week" src'))
    await eventually(() => page.locator('section.loading').count(), 0)
    const warnings = recordWarnings(page)
    const url = page.url().replace('127.0.0.1', 'localhost')
    await page.goto(url)
    await page.getByText('Nothing to see').nth(1).waitFor()
    assert.deepEqual(warnings, [
      `<activity-rank>: ${app.url} did not respond to this page. Does its setting ALLOWED_ORIGINS contain ${new URL(url).origin}?`,
    ])
  })

  it('console says why a board is missing', async (t) => {
    let warnings = []
    const before = (page) => {
      warnings = recordWarnings(page)
    }
    // Each reason once.
    const events = ['nowhere', 'elsewhere', 'nowhere']
    const tags = events.map((event) => `<activity-rank src="APP_URL" event="${event}"></activity-rank>`)
    const page = await app.open(t, tags.join(''), { before })
    const statuses = page.locator('activity-rank [part=status]', { hasText: 'There is no such event.' })
    await eventually(() => statuses.count(), 3)
    const line = (event) => `<activity-rank>: ${app.url} responded with status 404: There is no event ${event}.`
    assert.deepEqual(warnings.toSorted(), [line('elsewhere'), line('nowhere')])
  })

  it('offline status shows until back online', async (t) => {
    await countLikes({ ada: 1 })
    const page = await app.open(t, ELEMENT)
    await eventually(() => names(page), ['ada'])
    await page.context().setOffline(true)
    const isOffline = async () =>
      /^You are offline\. Last updated \d+:\d\d [AP]M\.$/u.test((await text(page, 'status')).replace(/\s/g, ' '))
    await eventually(isOffline, true)
    await countLikes({ bob: 2 })
    assert.deepEqual(await names(page), ['ada'])
    await page.context().setOffline(false)
    await eventually(() => names(page), ['bob', 'ada'])
    await eventually(() => text(page, 'status'), '')
  })
})

it('store outage shows the last board as stale', async (t) => {
  const failing = await startApp({ live: false, vars: { BOARD_MAX_AGE: 1 } })
  t.after(() => failing.stop())
  await failing.count([{ user: 'ada', action: 'like', target: 'p', groups: [failing.newGroup()] }])
  const page = await failing.open(t, ELEMENT)
  await eventually(() => names(page), ['ada'])
  await failing.store.stop()
  const isStale = async () => /^Updates are delayed\. Last updated .*\.$/.test(await text(page, 'status'))
  await eventually(isStale, true)
  assert.deepEqual(await names(page), ['ada'])
})
