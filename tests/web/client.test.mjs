// The client on pages of another origin, in Chromium.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'

import { eventually, gzipped, start } from './support.mjs'

let site
let user
let users = 0

before(async () => {
  site = await start({ live: false })
})
after(() => site?.stop())
beforeEach(() => {
  user = `u${++users}`
})

const ACTIVITY = /\/v1\/activity$/

/** What a page needs to have the client of the test's member as `rank`, and each result. */
const script = (then = '') => `<script type="module">
  import { Client } from '${site.url}/client.js'
  globalThis.results = []
  globalThis.failures = 0
  globalThis.rank = new Client({ user: '${user}', token: () => globalThis.token ?? '${site.token(user)}' })
  rank.addEventListener('result', ({ detail }) => results.push([detail.activity.target, detail.result.outcome]))
  rank.addEventListener('error', () => failures++)
  ${then}
</script>`

const ready = (page) => page.waitForFunction('globalThis.rank')
const open = async (t, then, options) => {
  const page = await site.open(t, script(then), options)
  await ready(page)
  return page
}
const score = async (name = user) => (await site.call('GET', `/v1/ranking/all/users/${name}`)).score
const counts = async () => {
  const { days } = await site.call('GET', `/v1/users/${user}/activity?days=1`)
  return Object.fromEntries(Object.entries(days[0].actions).map(([action, { count }]) => [action, count]))
}
const stored = (page) =>
  page.evaluate('Object.keys(localStorage).filter((key) => key.startsWith("activity-rank ") && key.includes("#")).length')

/** Bodies that are sent from now on, as arrays. */
function sent(page) {
  const bodies = []
  page.on('request', (request) => {
    if (ACTIVITY.test(request.url()) && request.method() === 'POST') bodies.push([request.postDataJSON()].flat())
  })
  return bodies
}

/** Answers in place of the service; preflights are its own. */
const instead = (page, answer) =>
  page.route(ACTIVITY, (route) => (route.request().method() === 'POST' ? answer(route) : route.continue()))

const busy = (status, headers = {}) => (route) =>
  route.fulfill({
    status,
    headers: { 'access-control-allow-origin': site.pages, 'access-control-expose-headers': 'Retry-After', ...headers },
    json: { type: '/problems/test', title: 'Busy', status, detail: 'Busy.' },
  })

describe('what a member does', () => {
  it('is counted, and the promise and the event tell what came of it', async (t) => {
    const page = await open(t)
    const result = await page.evaluate(`rank.track('like', 'p')`)
    assert.deepEqual([result.outcome, result.points, result.standings.all], ['counted', 2, { id: 'all', score: 2, rank: result.standings.all.rank }])
    assert.deepEqual(await page.evaluate('results'), [['p', 'counted']])
    assert.equal((await page.evaluate(`rank.track('like', 'p')`)).outcome, 'duplicate')
    assert.equal((await page.evaluate(`rank.undo('like', 'p')`)).outcome, 'undone')
    assert.equal(await score(), 0)
    assert.equal(await stored(page), 0)
    assert.deepEqual(page.errors, [])
  })

  it('in one go is one array, in its order', async (t) => {
    const page = await open(t)
    const bodies = sent(page)
    const results = await page.evaluate(
      `Promise.all([rank.track('like', 'p'), rank.undo('like', 'p'), rank.track('like', 'p'), rank.track('like', 'p')])`,
    )
    // The last two are one.
    assert.deepEqual(results.map(({ outcome }) => outcome), ['counted', 'undone', 'counted', 'counted'])
    assert.deepEqual(bodies.map((body) => body.length), [3])
    assert.equal(await score(), 2)
  })

  it('is sent in arrays of at most 500', async (t) => {
    const page = await open(t)
    const bodies = sent(page)
    await page.evaluate(`Promise.all(Array.from({ length: 501 }, (_, n) => rank.track('like', 'p' + n)))`)
    assert.deepEqual(bodies.map((body) => body.length), [500, 1])
    assert.equal(await score(), 1002)
  })

  it('is sent in bodies that the service takes, however long targets are', async (t) => {
    const page = await open(t)
    const bodies = sent(page)
    const results = await page.evaluate(
      `Promise.all(Array.from({ length: 500 }, (_, n) => rank.track('like', '排'.repeat(165) + n)))`,
    )
    assert.deepEqual([...new Set(results.map(({ outcome }) => outcome))], ['counted'])
    assert.ok(bodies.length > 1)
    assert.equal(await score(), 1000)
  })

  it('that no rule allows is told, not tried again, and in the way of nothing', async (t) => {
    const page = await open(t)
    const bodies = sent(page)
    const [dance, like] = await page.evaluate(`Promise.all([rank.track('dance', 'p'), rank.track('like', 'p')])`)
    assert.deepEqual([dance.error.status, dance.error.type, like.outcome], [422, '/problems/unknown-action', 'counted'])
    const alone = await page.evaluate(`rank.track('dance', 'p')`)
    assert.deepEqual([alone.error.status, alone.error.type], [422, '/problems/unknown-action'])
    assert.equal(bodies.length, 2)
    assert.equal(await stored(page), 0)
  })

  it('is refused for good where the token is another member’s', async (t) => {
    const page = await open(t)
    await page.evaluate((token) => (globalThis.token = token), site.token('somebody'))
    const { error } = await page.evaluate(`rank.track('like', 'p')`)
    assert.deepEqual([error.status, error.type], [403, '/problems/forbidden'])
  })
})

it('a page that may have no locks, as in a sandboxed frame, counts all the same', async (t) => {
  const before = (page) =>
    page.addInitScript(() => (navigator.locks.request = () => Promise.reject(new DOMException('no', 'SecurityError'))))
  const page = await open(t, '', { before })
  for (const target of ['p', 'q']) assert.equal((await page.evaluate(`rank.track('like', '${target}')`)).outcome, 'counted')
  assert.deepEqual(page.errors, [])
})

describe('off line', () => {
  it('twenty activities wait, and count once each when the browser is back', async (t) => {
    const page = await open(t)
    await page.context().setOffline(true)
    await page.evaluate(`globalThis.all = Promise.all(Array.from({ length: 20 }, (_, n) => rank.track('like', 'p' + n))); 0`)
    await eventually(() => page.evaluate('failures > 0'), true)
    assert.equal(await stored(page), 20)
    assert.equal(await score(), 0)
    await page.context().setOffline(false)
    const results = await page.evaluate('all')
    assert.deepEqual(results.map(({ outcome }) => outcome), Array(20).fill('counted'))
    assert.deepEqual(await counts(), { like: 20 })
    assert.equal(await stored(page), 0)
  })

  it('what waits is sent by the next page', async (t) => {
    const page = await open(t)
    await instead(page, (route) => route.abort())
    await page.evaluate(`rank.track('like', 'p'), rank.track('comment', 'p'), 0`)
    await eventually(() => page.evaluate('failures > 0'), true)
    await page.unroute(ACTIVITY)
    await page.reload()
    await ready(page)
    await eventually(counts, { like: 1, comment: 1 })
    await eventually(() => stored(page), 0)
  })

  it('what waits is never sent as another member', async (t) => {
    const page = await open(t)
    await instead(page, (route) => route.abort())
    await page.evaluate(`rank.track('like', 'p'), 0`)
    await eventually(() => page.evaluate('failures > 0'), true)
    await page.evaluate('rank.close()')
    await page.unroute(ACTIVITY)
    const other = `${user}-other`
    await page.evaluate(
      async ({ src, user, token }) => {
        const { Client } = await import(`${src}/client.js`)
        await new Client({ user, token }).track('like', 'q')
      },
      { src: site.url, user: other, token: site.token(other) },
    )
    assert.deepEqual([await score(), await score(other), await stored(page)], [0, 2, 1])
  })

  it('two tabs lose nothing, and each knows what came of its own', async (t) => {
    const one = await open(t)
    const two = await one.context().newPage()
    await two.goto(one.url())
    await ready(two)
    const bodies = [sent(one), sent(two)]
    await one.context().setOffline(true)
    for (const [name, page] of Object.entries({ one, two })) {
      await page.evaluate(
        (name) => (globalThis.all = Promise.all([1, 2, 3, 4, 5].map((n) => rank.track('like', name + n)))) && 0,
        name,
      )
    }
    await eventually(() => stored(one), 10)
    await one.context().setOffline(false)
    for (const page of [one, two]) {
      const results = await page.evaluate('all')
      assert.ok(results.every(({ outcome }) => outcome === 'counted'), JSON.stringify([results, bodies]))
      await eventually(() => page.evaluate('results.length'), 10)
    }
    assert.deepEqual(await counts(), { like: 10 })
    assert.equal(await stored(one), 0)
  })

  it('a thousand wait, and the oldest make room', async (t) => {
    const page = await open(t)
    await instead(page, (route) => route.abort())
    const first = await page.evaluate(async () => {
      const all = Array.from({ length: 1001 }, (_, n) => rank.track('like', `p${n}`))
      return all[0]
    })
    assert.deepEqual(first, {
      error: { type: 'about:blank', title: 'Too much waits to be sent', status: 0, detail: 'The oldest activity was dropped.' },
    })
    assert.equal(await stored(page), 1000)
  })

  it('nothing is lost on a page that may store nothing', async (t) => {
    const before = (page) =>
      page.addInitScript(() => Object.defineProperty(globalThis, 'localStorage', { get: () => { throw new Error('no') } }))
    const page = await open(t, '', { before })
    await page.context().setOffline(true)
    await page.evaluate(`globalThis.all = Promise.all([rank.track('like', 'p'), rank.track('like', 'q')]); 0`)
    await eventually(() => page.evaluate('failures > 0'), true)
    await page.context().setOffline(false)
    assert.deepEqual((await page.evaluate('all')).map(({ outcome }) => outcome), ['counted', 'counted'])
  })
})

describe('an answer', () => {
  it('that is lost is asked for again, and nothing counts twice', async (t) => {
    const page = await open(t)
    let lost = 0
    await instead(page, async (route) => {
      if (lost++) return route.continue()
      await route.fetch()
      await route.abort()
    })
    const results = await page.evaluate(`Promise.all([rank.track('like', 'p'), rank.track('comment', 'p')])`)
    assert.deepEqual(results.map(({ outcome }) => outcome), ['duplicate', 'duplicate'])
    assert.deepEqual(await counts(), { like: 1, comment: 1 })
  })

  it('with Retry-After is obeyed, by the next page too', async (t) => {
    const page = await open(t)
    const times = []
    await instead(page, (route) => {
      times.push(Date.now())
      return times.length > 1 ? route.continue() : busy(429, { 'retry-after': '4' })(route)
    })
    await page.evaluate(`rank.track('like', 'p'), 0`)
    await eventually(() => page.evaluate('failures'), 1)
    await page.reload()
    await ready(page)
    await eventually(counts, { like: 1 })
    assert.ok(times[1] - times[0] >= 4000, `${times[1] - times[0]}`)
  })

  for (const status of [401, 500, 503]) {
    it(`of ${status} is one to try again after`, async (t) => {
      const page = await open(t)
      let tries = 0
      await instead(page, (route) => (tries++ ? route.continue() : busy(status)(route)))
      const result = await page.evaluate(`rank.track('like', 'p')`)
      assert.deepEqual([result.outcome, tries, await page.evaluate('failures')], ['counted', 2, 1])
    })
  }

  it('that refuses an old token has a newer one asked for', async (t) => {
    const page = await open(t, `globalThis.token = 'an old one'`)
    await page.evaluate(`globalThis.all = rank.track('like', 'p'); 0`)
    await eventually(() => page.evaluate('failures'), 1)
    await page.evaluate('delete globalThis.token')
    assert.equal((await page.evaluate('all')).outcome, 'counted')
  })
})

describe('visits', () => {
  it('are counted once for each path that the history leads to', async (t) => {
    const page = await open(t, 'rank.visits()')
    const paths = ['/news', '/news?page=2', '/news#end', '/about/', '/about']
    for (const path of paths) await page.evaluate((path) => history.pushState(null, '', path), path)
    await page.evaluate(`history.replaceState(null, '', '/replaced')`)
    await eventually(counts, { visit: 4 })
    await page.goBack()
    await page.evaluate(`rank.track('like', 'p')`)
    assert.deepEqual(await counts(), { visit: 4, like: 1 })
  })

  it('are counted on each page of a site of many', async (t) => {
    const page = await open(t, 'rank.visits()')
    await eventually(counts, { visit: 1 })
    const second = site.serve(`/second-${user}.html`, (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      response.end(`<!doctype html><title>Second</title><link rel="icon" href="data:,">${script('rank.visits()')}`)
    })
    await page.goto(second)
    await eventually(counts, { visit: 2 })
    await page.goBack()
    await ready(page)
    await page.evaluate(`rank.track('like', 'p')`)
    assert.deepEqual(await counts(), { visit: 2, like: 1 })
  })

  it('are counted no more after close', async (t) => {
    const page = await open(t, 'rank.visits()')
    await eventually(counts, { visit: 1 })
    await page.evaluate(`rank.close(); history.pushState(null, '', '/news')`)
    assert.equal(await stored(page), 0)
  })
})

describe('leaving the page', () => {
  const nowhere = () =>
    site.serve('/nowhere.html', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      response.end('<!doctype html><title>Elsewhere</title><link rel="icon" href="data:,">')
    })

  it('sends what was done at the last moment', async (t) => {
    const page = await open(t)
    await page.evaluate(`rank.track('like', 'before')`)
    const url = nowhere()
    await page.evaluate((url) => {
      addEventListener('pagehide', () => rank.track('like', 'p'), { capture: true })
      location.href = url
    }, url)
    await page.waitForURL(url)
    await eventually(counts, { like: 2 })
  })

  it('sends what waited behind something slow', async (t) => {
    const page = await open(t, `const { fetch } = Client
      Client.fetch = (url, options) => {
        globalThis.isSlow = options.body.includes('slow')
        return isSlow ? new Promise(() => {}) : fetch(url, options)
      }`)
    await page.evaluate(`rank.track('like', 'q')`)
    await page.evaluate(`rank.track('like', 'slow'), 0`)
    await eventually(() => page.evaluate('isSlow'), true)
    await page.evaluate(`rank.track('like', 'p'), 0`)
    await eventually(() => stored(page), 2)
    const url = nowhere()
    await page.goto(url)
    await eventually(counts, { like: 2 })
  })
})

describe('coming back to a page that the browser kept', () => {
  const leave = (page) => page.evaluate(`dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })), 0`)
  const comeBack = (page) => page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })), 0`)

  it('sends what could not be sent at the last moment', async (t) => {
    const page = await open(t)
    await page.evaluate(`rank.track('like', 'p')`)
    await leave(page)
    let lost = 0
    await instead(page, (route) => (lost++, route.abort()))
    await page.evaluate(`globalThis.all = rank.track('like', 'q'); 0`)
    await eventually(() => lost, 1)
    await page.unroute(ACTIVITY)
    await comeBack(page)
    assert.equal((await page.evaluate('all')).outcome, 'counted')
    assert.deepEqual(await counts(), { like: 2 })
  })

  it('is a visit of it', async (t) => {
    const page = await open(t, 'rank.visits()')
    await eventually(counts, { visit: 1 })
    const results = () => page.evaluate('results')
    const path = new URL(page.url()).pathname
    await eventually(results, [[path, 'counted']])
    await leave(page)
    await comeBack(page)
    await eventually(results, [[path, 'counted'], [path, 'duplicate']])
  })
})

it('the client has at most 5 KB gzipped', () => {
  const bytes = gzipped(['client.js', 'client/queue.js', 'client/visits.js'])
  assert.ok(bytes <= 5 * 1024, `${bytes}`)
})
