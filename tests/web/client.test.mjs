// The client on pages of another origin.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, beforeEach, describe, it } from 'node:test'

import { retryAfterOf } from '../../web/client/retry.js'
import { eventually, gzippedSize, shareApp } from './support.mjs'

let app
let user
let users = 0

before(async () => {
  app = await shareApp({ live: false })
})
beforeEach(() => {
  user = `u${++users}`
})

const ACTIVITY = /\/v1\/activity$/

/** Returns a script that creates the user's client as `rank` and collects its events. */
const script = (then = '') => `<script type="module">
  import { Client } from '${app.url}/client.js'
  globalThis.results = []
  globalThis.failures = 0
  globalThis.rank = new Client({ user: '${user}', token: () => globalThis.token ?? '${app.token(user)}' })
  rank.addEventListener('result', ({ detail }) => results.push([detail.activity.target, detail.result.outcome]))
  rank.addEventListener('error', () => failures++)
  ${then}
</script>`

const ready = (page) => page.waitForFunction('globalThis.rank')

async function open(t, then = '', options = {}) {
  const page = await app.open(t, script(then), options)
  await ready(page)
  return page
}

const score = () => app.score(user)
const counts = async () => {
  const { days } = await app.request('GET', `/v1/users/${user}/activity?days=1`)
  return Object.fromEntries(Object.entries(days[0].actions).map(([action, { count }]) => [action, count]))
}
const failures = (page) => page.evaluate('failures')
const hasFailed = (page) => page.evaluate('failures > 0')
const outcomes = (results) => results.map(({ outcome }) => outcome)

/** Returns the number of activities in the stored queue. */
const queued = (page) =>
  page.evaluate(
    'Object.keys(localStorage).filter((key) => key.startsWith("activity-rank ") && key.includes("#")).length',
  )

/** Starts tracking without waiting for the results, which are in the global `pending`. */
const startTracking = (page, promise) => page.evaluate(`globalThis.pending = ${promise}; 0`)

/** Collects the activities of each request from now on. */
function recordBodies(page) {
  const bodies = []
  page.on('request', (request) => {
    if (ACTIVITY.test(request.url()) && request.method() === 'POST') bodies.push([request.postDataJSON()].flat())
  })
  return bodies
}

/** Responds instead of the service, except to preflight requests. */
const intercept = (page, respond) =>
  page.route(ACTIVITY, (route) => (route.request().method() === 'POST' ? respond(route) : route.continue()))

const failWith = (route, status, headers = {}) =>
  route.fulfill({
    status,
    headers: { 'access-control-allow-origin': app.pages, 'access-control-expose-headers': 'Retry-After', ...headers },
    json: { type: '/problems/test', title: 'Busy', status, detail: 'Busy.' },
  })

describe('tracking', () => {
  it('result resolves the promise, also a refusal', async (t) => {
    const page = await open(t)
    const result = await page.evaluate(`rank.track('like', 'p')`)
    assert.deepEqual(
      [result.outcome, result.points, result.standings.all],
      ['counted', 2, { id: 'all', score: 2, rank: result.standings.all.rank }],
    )
    assert.deepEqual(await page.evaluate('results'), [['p', 'counted']])
    assert.equal((await page.evaluate(`rank.track('like', 'p')`)).outcome, 'duplicate')
    assert.equal((await page.evaluate(`rank.undo('like', 'p')`)).outcome, 'undone')
    assert.equal(await score(), 0)
    assert.equal(await queued(page), 0)
    const bodies = recordBodies(page)
    const comment = await page.evaluate(`rank.track('comment', 'c-1', { on: 'post-7' })`)
    assert.equal(comment.outcome, 'counted')
    assert.deepEqual(bodies, [[{ user, action: 'comment', target: 'c-1', on: 'post-7' }]])
    const [dance, like] = await page.evaluate(`Promise.all([rank.track('dance', 'p'), rank.track('like', 'q')])`)
    assert.deepEqual([dance.error.status, dance.error.type, like.outcome], [422, '/problems/unknown-action', 'counted'])
    const alone = await page.evaluate(`rank.track('dance', 'p')`)
    assert.deepEqual([alone.error.status, alone.error.type], [422, '/problems/unknown-action'])
    assert.equal(bodies.length, 3)
    assert.equal(await queued(page), 0)
    const refused = `(() => { try { rank.track('like', 7n) } catch (error) { return error.name } })()`
    assert.equal(await page.evaluate(refused), 'TypeError')
    const results = await page.evaluate(`Promise.all([rank.track(undefined, 'p'), rank.track('like', 'r')])`)
    assert.deepEqual([results[0].error.status, results[1].outcome], [422, 'counted'])
    assert.equal(await queued(page), 0)
    assert.deepEqual(page.errors, [])
  })

  it('calls of one task share requests up to a limit', async (t) => {
    const page = await open(t)
    const bodies = recordBodies(page)
    const results = await page.evaluate(
      `Promise.all([rank.track('like', 'p'), rank.undo('like', 'p'), rank.track('like', 'p'), rank.track('like', 'p')])`,
    )
    // The last two are merged.
    assert.deepEqual(outcomes(results), ['counted', 'undone', 'counted', 'counted'])
    assert.deepEqual(
      bodies.splice(0).map((body) => body.length),
      [3],
    )
    assert.equal(await score(), 2)
    await page.evaluate(`Promise.all(Array.from({ length: 101 }, (_, n) => rank.track('visit', '/' + n)))`)
    assert.deepEqual(
      bodies.splice(0).map((body) => body.length),
      [50, 50, 1],
    )
    assert.equal(await score(), 103)
    // The service refuses a request of more than 256 KB, and with it every activity in it.
    const long = await page.evaluate(
      `Promise.all(Array.from({ length: 50 }, (_, n) => rank.track('like', n ? '排'.repeat(2000) + n : 'q')))`,
    )
    const statuses = long.map(({ outcome, error }) => outcome ?? error.status)
    assert.deepEqual(statuses, ['counted', ...Array(49).fill(400)])
    assert.deepEqual(
      bodies.splice(0).map((body) => body.length),
      [25, 24, 1],
    )
  })

  it('visits prefer a response without standings', async (t) => {
    const page = await open(t)
    const sent = []
    page.on('request', (request) => {
      if (ACTIVITY.test(request.url()) && request.method() === 'POST') sent.push(request.headers().prefer)
    })
    const visit = await page.evaluate(`rank.track('visit', '/')`)
    assert.deepEqual(visit, { outcome: 'counted', points: 1 })
    await page.evaluate(`rank.track('like', 'p')`)
    const options = `{ user: '${user}', token: '${app.token(user)}', standings: false }`
    const undo = `import('${app.url}/client.js').then(({ Client }) => new Client(${options}).undo('like', 'p'))`
    const undone = await page.evaluate(undo)
    assert.deepEqual(undone, { outcome: 'undone', points: -2 })
    assert.deepEqual(sent, ['return=minimal', 'return=representation', 'return=minimal'])
  })

  it("another user's token is rejected for good", async (t) => {
    const page = await open(t)
    await page.evaluate((token) => (globalThis.token = token), app.token('somebody'))
    const { error } = await page.evaluate(`rank.track('like', 'p')`)
    assert.deepEqual([error.status, error.type], [403, '/problems/forbidden'])
  })

  /** As in a sandboxed frame. */
  it('page without locks is counted', async (t) => {
    const before = (page) =>
      page.addInitScript(() => {
        navigator.locks.request = () => Promise.reject(new DOMException('no', 'SecurityError'))
      })
    const page = await open(t, '', { before })
    for (const target of ['p', 'q']) {
      assert.equal((await page.evaluate(`rank.track('like', '${target}')`)).outcome, 'counted')
    }
    assert.deepEqual(page.errors, [])
  })
})

describe('done', () => {
  it('state of targets survives a reload', async (t) => {
    const page = await open(t)
    const done = () => page.evaluate(`rank.done('like', ['p', 'a,b%2C', 'none'])`)
    await page.evaluate(`Promise.all([rank.track('like', 'p'), rank.track('like', 'a,b%2C')])`)
    await page.reload()
    await ready(page)
    assert.deepEqual(await done(), [true, true, false])
    await page.route(ACTIVITY, (route) => route.abort())
    await startTracking(page, `[rank.undo('like', 'p'), rank.track('like', 'none')]`)
    assert.deepEqual(await done(), [false, true, true])
    const refused = `rank.done('like', []).catch(({ message }) => message)`
    assert.equal(await page.evaluate(refused), 'targets: each must be 1 to 512 bytes, not 0')
  })
})

describe('offline', () => {
  it('queue is sent once when back online', async (t) => {
    const page = await open(t)
    await page.context().setOffline(true)
    await startTracking(page, `Promise.all(Array.from({ length: 20 }, (_, n) => rank.track('like', 'p' + n)))`)
    await eventually(() => hasFailed(page), true)
    assert.equal(await queued(page), 20)
    assert.equal(await score(), 0)
    await page.context().setOffline(false)
    assert.deepEqual(outcomes(await page.evaluate('pending')), Array(20).fill('counted'))
    assert.deepEqual(await counts(), { like: 20 })
    assert.equal(await queued(page), 0)
  })

  it('queue is sent by the next page', async (t) => {
    const page = await open(t)
    await intercept(page, (route) => route.abort())
    await page.evaluate(`rank.track('like', 'p'), rank.track('comment', 'p'), 0`)
    await eventually(() => hasFailed(page), true)
    await page.unroute(ACTIVITY)
    await page.reload()
    await ready(page)
    await eventually(counts, { like: 1, comment: 1 })
    await eventually(() => queued(page), 0)
  })

  it('queue is never sent as another user', async (t) => {
    const page = await open(t)
    await intercept(page, (route) => route.abort())
    await page.evaluate(`rank.track('like', 'p'), 0`)
    await eventually(() => hasFailed(page), true)
    await page.evaluate('rank.close()')
    await page.unroute(ACTIVITY)
    const other = `${user}-other`
    await page.evaluate(
      async ({ src, user, token }) => {
        const { Client } = await import(`${src}/client.js`)
        await new Client({ user, token }).track('like', 'q')
      },
      { src: app.url, user: other, token: app.token(other) },
    )
    assert.deepEqual([await score(), await app.score(other), await queued(page)], [0, 2, 1])
  })

  /** Each tab also receives the other's results. */
  it('two tabs share the queue without loss', async (t) => {
    const one = await open(t)
    const two = await one.context().newPage()
    await two.goto(one.url())
    await ready(two)
    const bodies = [recordBodies(one), recordBodies(two)]
    await one.context().setOffline(true)
    for (const [name, page] of Object.entries({ one, two })) {
      await startTracking(page, `Promise.all([1, 2, 3, 4, 5].map((n) => rank.track('like', '${name}' + n)))`)
    }
    await eventually(() => queued(one), 10)
    await one.context().setOffline(false)
    for (const page of [one, two]) {
      const results = await page.evaluate('pending')
      assert.ok(
        results.every(({ outcome }) => outcome === 'counted'),
        JSON.stringify([results, bodies]),
      )
      // A tab may send an activity again before it sees that the other has removed it from the queue.
      await eventually(() => page.evaluate('new Set(results.map(([target]) => target)).size'), 10)
    }
    assert.deepEqual(await counts(), { like: 10 })
    assert.equal(await queued(one), 0)
  })

  it('queue of 1,000 drops the oldest', async (t) => {
    const page = await open(t)
    await intercept(page, (route) => route.abort())
    const first = await page.evaluate(async () => {
      const results = Array.from({ length: 1001 }, (_, n) => rank.track('like', `p${n}`))
      return results[0]
    })
    assert.deepEqual(first, {
      error: {
        type: 'about:blank',
        title: 'Queue full',
        status: 0,
        detail: 'The oldest activity was dropped because 1,000 others were waiting to be sent.',
      },
    })
    assert.equal(await queued(page), 1000)
  })

  it('page without storage loses nothing', async (t) => {
    const before = (page) =>
      page.addInitScript(() =>
        Object.defineProperty(globalThis, 'localStorage', {
          get: () => {
            throw new Error('no')
          },
        }),
      )
    const page = await open(t, '', { before })
    await page.context().setOffline(true)
    await startTracking(page, `Promise.all([rank.track('like', 'p'), rank.track('like', 'q')])`)
    await eventually(() => hasFailed(page), true)
    await page.context().setOffline(false)
    assert.deepEqual(outcomes(await page.evaluate('pending')), ['counted', 'counted'])
  })
})

describe('responses', () => {
  it('lost response is retried as a duplicate', async (t) => {
    const page = await open(t)
    let requests = 0
    await intercept(page, async (route) => {
      if (requests++) return route.continue()
      await route.fetch()
      await route.abort()
    })
    const results = await page.evaluate(`Promise.all([rank.track('like', 'p'), rank.track('comment', 'p')])`)
    assert.deepEqual(outcomes(results), ['duplicate', 'duplicate'])
    assert.deepEqual(await counts(), { like: 1, comment: 1 })
  })

  for (const [name, value] of /** @type {[string, () => string][]} */ ([
    ['seconds', () => '4'],
    // Dates have whole seconds.
    ['date', () => new Date(Date.now() + 5000).toUTCString()],
  ])) {
    it(`Retry-After as ${name} holds for the next page too`, async (t) => {
      const page = await open(t)
      const times = []
      await intercept(page, (route) => {
        times.push(Date.now())
        return times.length > 1 ? route.continue() : failWith(route, 429, { 'retry-after': value() })
      })
      await page.evaluate(`rank.track('like', 'p'), 0`)
      await eventually(() => failures(page), 1)
      await page.reload()
      await ready(page)
      await eventually(counts, { like: 1 })
      assert.ok(times[1] - times[0] >= 4000, `${times[1] - times[0]}`)
    })
  }

  it('Retry-After that is neither is ignored', () => {
    const of = (value) => retryAfterOf(new Response(null, { headers: { 'retry-after': value } }))
    assert.deepEqual(['1.5', '-3', '+3', '1e3', 'soon', ''].map(of), [0, 0, 0, 0, 0, 0])
    const dates = ['Fri, 20 Nov 2020 08:00:00 GMT', 'Sat, 20 Nov 2100 08:00:00 GMT']
    assert.deepEqual([' 7 ', '99999999999', ...dates].map(of), [7000, 3_600_000, 0, 3_600_000])
  })

  it('page in the place of a token is named', async (t) => {
    const warnings = []
    const before = (page) =>
      page.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()))
    const page = await open(t, `globalThis.token = '<!doctype html> Not found'`, { before })
    await page.evaluate(`rank.addEventListener('error', ({ message }) => (globalThis.message = message))`)
    await startTracking(page, `rank.track('like', 'p')`)
    await eventually(() => page.evaluate('globalThis.message'), 'TypeError: token() returned no user token.')
    assert.ok(
      warnings.every((line) => /^activity-rank: token\(\) returned no user token\. /.test(line)),
      warnings.join(),
    )
    assert.ok(warnings.length > 0)
    await page.evaluate('delete globalThis.token')
    assert.equal((await page.evaluate('pending')).outcome, 'counted')
    const inexact = `(() => { try { new rank.constructor({ user: 2 ** 53, token: '' }) } catch (error) { return error.name } })()`
    assert.equal(await page.evaluate(inexact), 'TypeError')
  })

  for (const status of [401, 500, 503]) {
    it(`${status} is retried`, async (t) => {
      const page = await open(t)
      let requests = 0
      await intercept(page, (route) => (requests++ ? route.continue() : failWith(route, status)))
      const result = await page.evaluate(`rank.track('like', 'p')`)
      assert.deepEqual([result.outcome, requests, await failures(page)], ['counted', 2, 1])
    })
  }

  it('expired token is replaced for the retry', async (t) => {
    const page = await open(t, `globalThis.token = 'expired'`)
    await startTracking(page, `rank.track('like', 'p')`)
    await eventually(() => failures(page), 1)
    await page.evaluate('delete globalThis.token')
    assert.equal((await page.evaluate('pending')).outcome, 'counted')
  })
})

describe('visits', () => {
  it('each path of the history counts once until closed', async (t) => {
    const page = await open(t, 'rank.visits()')
    const paths = ['/news', '/news?page=2', '/news#end', '/about/', '/about']
    for (const path of paths) await page.evaluate((path) => history.pushState(null, '', path), path)
    await page.evaluate(`history.replaceState(null, '', '/replaced')`)
    await eventually(counts, { visit: 4 })
    await page.goBack()
    await page.evaluate(`rank.track('like', 'p')`)
    assert.deepEqual(await counts(), { visit: 4, like: 1 })
    await page.evaluate(`rank.close(); history.pushState(null, '', '/closed')`)
    assert.equal(await queued(page), 0)
  })

  it('each loaded page counts', async (t) => {
    const page = await open(t, 'rank.visits()')
    await eventually(counts, { visit: 1 })
    await page.goto(app.serveHtml(`/second-${user}.html`, `<title>Second</title>${script('rank.visits()')}`))
    await eventually(counts, { visit: 2 })
    await page.goBack()
    await ready(page)
    await page.evaluate(`rank.track('like', 'p')`)
    assert.deepEqual(await counts(), { visit: 2, like: 1 })
  })

  it('browser has the paths of the service', async (t) => {
    const page = await open(t)
    const paths = ['/caf\u00e9', '/cafe\u0301/', '/caf%c3%a9', '/a/..//caf%65%CC%81?page=2']
    await page.evaluate((paths) => Promise.all(paths.map((path) => rank.track('visit', path))), paths)
    // Together they are one activity in the queue.
    assert.deepEqual(await page.evaluate('results'), [['/caf%C3%A9', 'counted']])
    // Chromium has another URL parser and other Unicode tables than Node.js.
    const vectors = JSON.parse(readFileSync(new URL('../vectors/visit_paths.json', import.meta.url), 'utf8'))
    const normals = await page.evaluate(
      async ({ url, paths }) => {
        const { normalPath } = await import(`${url}/client/visits.js`)
        return paths.map(normalPath)
      },
      { url: app.url, paths: vectors.map(({ path }) => path) },
    )
    assert.deepEqual(
      normals,
      vectors.map(({ normal }) => normal),
    )
  })
})

describe('leaving the page', () => {
  const elsewhere = () => app.serveHtml('/elsewhere.html', '<title>Elsewhere</title>')

  it('activity during pagehide is sent', async (t) => {
    const page = await open(t)
    await page.evaluate(`rank.track('like', 'before')`)
    const url = elsewhere()
    await page.evaluate((url) => {
      addEventListener('pagehide', () => rank.track('like', 'p'), { capture: true })
      location.href = url
    }, url)
    await page.waitForURL(url)
    await eventually(counts, { like: 2 })
  })

  it('activity behind a slow request is sent', async (t) => {
    const page = await open(
      t,
      `const { fetch } = Client
      Client.fetch = (url, options) => {
        globalThis.isSlow = options.body.includes('slow')
        return isSlow ? new Promise(() => {}) : fetch(url, options)
      }`,
    )
    await page.evaluate(`rank.track('like', 'q')`)
    await page.evaluate(`rank.track('like', 'slow'), 0`)
    await eventually(() => page.evaluate('isSlow'), true)
    await page.evaluate(`rank.track('like', 'p'), 0`)
    await eventually(() => queued(page), 2)
    await page.goto(elsewhere())
    await eventually(counts, { like: 2 })
  })
})

describe('back/forward cache', () => {
  const leave = (page) => page.evaluate(`dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })), 0`)
  const restore = (page) => page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })), 0`)

  it('restored page sends a lost activity', async (t) => {
    const page = await open(t)
    await page.evaluate(`rank.track('like', 'p')`)
    await leave(page)
    let requests = 0
    await intercept(page, (route) => {
      requests++
      return route.abort()
    })
    await startTracking(page, `rank.track('like', 'q')`)
    await eventually(() => requests, 1)
    await page.unroute(ACTIVITY)
    await restore(page)
    assert.equal((await page.evaluate('pending')).outcome, 'counted')
    assert.deepEqual(await counts(), { like: 2 })
  })

  it('restored page is visited again', async (t) => {
    const page = await open(t, 'rank.visits()')
    await eventually(counts, { visit: 1 })
    const results = () => page.evaluate('results')
    const path = new URL(page.url()).pathname
    await eventually(results, [[path, 'counted']])
    await leave(page)
    await restore(page)
    await eventually(results, [
      [path, 'counted'],
      [path, 'duplicate'],
    ])
  })
})

it('client has at most 6.5 KB gzipped', () => {
  const parts = ['identity', 'queue', 'retry', 'visits'].map((name) => `client/${name}.js`)
  const bytes = gzippedSize(['client.js', ...parts])
  assert.ok(bytes <= 6.5 * 1024, `${bytes}`)
})
