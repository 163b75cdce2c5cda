// The batch sender of the npm package: batches, retries of the same activities, refusals, shutdown.

import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'

import { Client, ClosedError, MemoryOutbox, OutboxFullError } from '../../sdk/js/src/index.js'
import { eventually } from '../sdk/eventually.mjs'
import { scaled } from '../sdk/slowness.mjs'
import { CUT, FAST, HANG, KEY, LOSE_RESPONSE, problem, startApp, startProxy, visits } from './support.mjs'

let app
let users = 0
before(async () => {
  app = await startApp()
})
after(() => app?.stop())

const NEVER = 3_600_000 // ms
const CIRCLE = /** @type {any} */ ({})
CIRCLE.self = CIRCLE

/** Starts a proxy with faults by the number of requests before, and a client that records what is reported. */
async function start(t, fault = (..._) => undefined, options = {}) {
  const proxy = await startProxy(app, fault)
  t.after(() => proxy.stop())
  const reports = { results: [], refused: [], errors: [] }
  const client = new Client({
    url: proxy.url,
    key: KEY,
    retry: FAST,
    batchDelay: NEVER,
    onResult: (activity, { outcome }) => void reports.results.push([activity.target, outcome]),
    onRefused: (activity, { status }) => void reports.refused.push([activity.target, status]),
    onError: (error) => void reports.errors.push(error),
    ...options,
  })
  // What a failed test leaves would keep the process running.
  t.after(() => client.close({ signal: AbortSignal.abort() }))
  return { proxy, client, reports, user: `u${++users}` }
}

const track = (client, activities) => Promise.all(activities.map((activity) => client.track(activity)))
const sizes = (proxy) => proxy.batches().map(({ length }) => length)

it('full batch is sent at once', async (t) => {
  const { proxy, client, user } = await start(t, undefined, { batchSize: 10 })
  await track(client, visits(user, 9))
  assert.deepEqual(sizes(proxy), [])
  await track(client, visits(user, 1, 9))
  await eventually(() => app.score(user), 10)
  assert.deepEqual(sizes(proxy), [10])
  await track(client, visits(user, 25, 10))
  await client.close()
  assert.deepEqual([await app.score(user), sizes(proxy)], [35, [10, 10, 10, 5]])
})

it('smaller batch is sent after the delay', async (t) => {
  const { proxy, client, user } = await start(t, undefined, { batchDelay: 50 })
  const started = performance.now()
  await track(client, visits(user, 3))
  await eventually(() => app.score(user), 3)
  assert.deepEqual(sizes(proxy), [3])
  const waited = proxy.requests[0].time - started
  // Timers of Node.js may fire a millisecond early.
  assert.ok(waited >= 49, `${waited} ms`)
})

it('batch has at most 500 activities', async (t) => {
  const { proxy, client, user } = await start(t)
  await track(client, visits(user, 1001))
  await client.close()
  assert.equal(await app.score(user), 1001)
  assert.deepEqual(sizes(proxy).toSorted(), [1, 500, 500])
  for (const batchSize of [0, 501, 1.5]) {
    const invalid = new Client({ url: app.url, batchSize })
    await assert.rejects(invalid.track(visits(user, 1)[0]), RangeError)
  }
})

/** 500 of these are more than 256 KiB, which the service would refuse. */
it('batch fits in a request', async (t) => {
  const { proxy, client, user } = await start(t)
  const long = visits(user, 500).map((visit) => ({ ...visit, target: visit.target.padEnd(500, 'x') }))
  await track(client, long)
  await client.close()
  assert.equal(await app.score(user), 500)
  assert.equal(proxy.batches().flat().length, 500)
  for (const { text } of proxy.requests) assert.ok(Buffer.byteLength(text) <= 256 * 1024)
})

it('activity has the instant of its acceptance', async (t) => {
  const { proxy, client, user } = await start(t)
  const [visit, dated] = visits(user, 2)
  const before = Date.now()
  await client.track(visit)
  const accepted = Date.now()
  await client.track({ ...dated, at: '2026-01-01T00:00:00Z' })
  await client.close()
  const [[first, second]] = proxy.batches()
  assert.deepEqual(first, { ...visit, at: first.at })
  assert.ok(Date.parse(first.at) >= before && Date.parse(first.at) <= accepted)
  assert.equal(second.at, '2026-01-01T00:00:00Z')
})

/** Otherwise a repeated visit would count again after midnight. */
it('retry after lost response is the same request', async (t) => {
  const { proxy, client, reports, user } = await start(t, (_, index) => (index < 2 ? LOSE_RESPONSE : undefined))
  await track(client, visits(user, 2))
  await client.close()
  const [first, second, third] = proxy.batches()
  assert.deepEqual([second, third], [first, first])
  assert.equal(await app.score(user), 2)
  assert.deepEqual(reports.results, [
    ['/pages/0', 'duplicate'],
    ['/pages/1', 'duplicate'],
  ])
  assert.equal(reports.errors.length, 2)
})

/** The like of the first attempt arrives again after its undo. */
it('repeated like does not count after its undo', async (t) => {
  const { client, reports, user } = await start(t, (_, index) => (index === 0 ? LOSE_RESPONSE : undefined))
  const like = { user, action: 'like', target: 'post-7' }
  await client.track(like)
  // Instants are milliseconds.
  for (const now = Date.now(); Date.now() === now; );
  await client.track({ ...like, undo: true })
  await client.close()
  assert.equal(await app.score(user), 0)
  assert.deepEqual(
    reports.results.map(([, outcome]) => outcome),
    ['stale', 'nothing-to-undo'],
  )
})

it('every temporary failure keeps the activities', async (t) => {
  const faults = [problem(408), problem(429), problem(500), problem(503), CUT, { status: 502, body: '' }]
  const { proxy, client, reports, user } = await start(t, (_, index) => faults[index])
  await track(client, visits(user, 3))
  await client.close()
  assert.deepEqual([await app.score(user), sizes(proxy), reports.refused], [3, [3, 3, 3, 3, 3, 3, 3], []])
})

it('sender honours retry after', async (t) => {
  const { proxy, client, user } = await start(t, (_, index) =>
    index === 0 ? problem(503, { 'retry-after': '1' }) : undefined,
  )
  await track(client, visits(user, 1))
  await client.close()
  const [first, second] = proxy.requests
  assert.ok(second.time - first.time >= 1000)
})

it('temporary failure of an item keeps that item', async (t) => {
  const { proxy, client, reports, user } = await start(t, ({ text }, index) => {
    if (index > 0) return undefined
    const { body, ...rest } = problem(200, { 'content-type': 'application/json' })
    const results = JSON.parse(text).map(({ target }) =>
      target === '/pages/1' ? { error: { type: '', title: '', status: 503 } } : { outcome: 'counted', points: 1 },
    )
    return { ...rest, body: JSON.stringify({ results }) }
  })
  await track(client, visits(user, 3))
  await client.close()
  assert.deepEqual(
    proxy.batches().map((batch) => batch.map(({ target }) => target)),
    [['/pages/0', '/pages/1', '/pages/2'], ['/pages/1']],
  )
  assert.deepEqual(reports.results.map(([target]) => target).toSorted(), ['/pages/0', '/pages/1', '/pages/2'])
})

it('refused activity is reported and not sent again', async (t) => {
  const { proxy, client, reports, user } = await start(t)
  const [first, last] = visits(user, 2)
  await track(client, [
    first,
    { user, action: 'dance', target: 'floor' },
    { user: 'no user', action: 'like', target: 'p' },
    { user, action: 'visit', target: 'undated', at: 'yesterday' },
    last,
  ])
  assert.equal(await client.close(), true)
  assert.deepEqual(reports.refused, [
    ['floor', 422],
    ['p', 400],
    ['undated', 400],
  ])
  assert.deepEqual([await app.score(user), sizes(proxy)], [2, [5]])
})

it('activity that spoils a batch is found', async (t) => {
  const { client, reports, user } = await start(t, ({ text }) =>
    text.includes('/pages/5"') ? problem(400) : undefined,
  )
  await track(client, visits(user, 9))
  await client.close()
  assert.deepEqual([await app.score(user), reports.refused], [8, [['/pages/5', 400]]])
})

/** It would be in front of all others for ever, and closing would not end. */
for (const [name, change, message] of /** @type {[string, object, RegExp][]} */ ([
  ['a BigInt', { target: 7n }, /BigInt/],
  ['a circle', { target: CIRCLE }, /circular/],
  ['a throwing toJSON', { target: { toJSON: () => assert.fail('a mistake') } }, /a mistake/],
  [
    'a throwing getter',
    Object.defineProperty({}, 'on', { enumerable: true, get: () => assert.fail('a mistake') }),
    /a mist/,
  ],
  ['more bytes than a request', { target: '\u{e9}'.repeat(125_000) }, /at most 250000 bytes/],
  ['an array for JSON', { toJSON: () => [] }, /must be an object/],
  ['a fraction for a user', { user: 61000.5 }, /`user` must be/],
  ['a user from 2^53', { user: 2 ** 53 }, /`user` must be/],
  ['true for a user', { user: true }, /`user` must be/],
  ['NaN for an author', { author: Number.NaN }, /`author` must be/],
])) {
  it(`activity with ${name} is refused`, async (t) => {
    const { client, reports, user } = await start(t)
    const [first, second] = visits(user, 2)
    await client.track(first)
    const activity = Object.defineProperties({ ...first }, Object.getOwnPropertyDescriptors(change))
    await assert.rejects(client.track(activity), message)
    await client.track(second)
    assert.equal(await client.close(), true)
    assert.deepEqual([await app.score(user), reports.errors, reports.refused], [2, [], []])
  })
}

it('value that is no activity is refused', async (t) => {
  const { proxy, client } = await start(t)
  for (const value of [undefined, null, 7, 'visit', [], () => {}, {}]) {
    await assert.rejects(client.track(/** @type {any} */ (value)), TypeError)
  }
  assert.equal(await client.close(), true)
  assert.deepEqual(sizes(proxy), [])
})

it('integer user is sent as its decimal text', async (t) => {
  const { proxy, client } = await start(t)
  const id = 61_000 + ++users
  for (const user of [id, BigInt(id), String(id)]) {
    await client.track(/** @type {any} */ ({ user, action: 'like', target: 'post-7' }))
  }
  assert.equal(await client.close(), true)
  assert.deepEqual(
    proxy.batches().flatMap((batch) => batch.map(({ user }) => user)),
    Array(3).fill(String(id)),
  )
  assert.equal(await app.score(String(id)), 2)
})

it('accepted activity does not change', async (t) => {
  const { proxy, client, user } = await start(t)
  const [visit] = visits(user, 1)
  await client.track(visit)
  visit.target = '/other'
  await client.close()
  assert.equal(proxy.batches()[0][0].target, '/pages/0')
})

/** As while a key is rotated. */
it('wrong key keeps the activities', async (t) => {
  let key = 'wrong'
  const { client, reports, user } = await start(t, undefined, { key: () => key })
  await track(client, visits(user, 2))
  const closed = client.close()
  await eventually(() => reports.errors.length > 2, true)
  assert.equal(/** @type {any} */ (reports.errors[0]).status, 401)
  key = KEY
  assert.equal(await closed, true)
  assert.deepEqual([await app.score(user), reports.refused], [2, []])
})

it('error in a callback is reported', async (t) => {
  const { client, reports, user } = await start(t, undefined, {
    onResult: () => {
      throw new Error('A mistake of the caller.')
    },
  })
  await track(client, visits(user, 2))
  await client.close()
  assert.equal(await app.score(user), 2)
  assert.deepEqual(
    reports.errors.map(({ message }) => message),
    ['A mistake of the caller.', 'A mistake of the caller.'],
  )
})

it('close and disposal send what is waiting', async (t) => {
  for (const close of ['close', Symbol.asyncDispose]) {
    const { client, user } = await start(t)
    const accepted = track(client, visits(user, 700))
    assert.equal(await client[close](), close === 'close' ? true : undefined)
    await accepted
    assert.equal(await app.score(user), 700)
    await assert.rejects(client.track(visits(user, 1)[0]), ClosedError)
    assert.equal(await client.close(), true)
  }
})

/** An outbox of the caller, such as a table, which stores the activity only after `close` was called. */
it('close waits for the outbox', async (t) => {
  const stored = new MemoryOutbox()
  let store = (_ = undefined) => {}
  const ready = new Promise((resolve) => (store = resolve))
  const outbox = {
    durable: false,
    append: (activity) => ready.then(() => stored.append(activity)),
    peek: (limit) => stored.peek(limit),
    remove: (ids) => stored.remove(ids),
    close: () => stored.close(),
  }
  const { client, user } = await start(t, undefined, { outbox })
  const accepted = client.track(visits(user, 1)[0])
  const closed = client.close()
  await new Promise((resolve) => setImmediate(resolve))
  store()
  await accepted
  assert.equal(await closed, true)
  assert.equal(await app.score(user), 1)
})

it('flush sends without closing', async (t) => {
  const { client, user } = await start(t)
  await client.flush()
  await track(client, visits(user, 3))
  await client.flush()
  assert.equal(await app.score(user), 3)
  await track(client, visits(user, 3, 3))
  await client.flush()
  assert.equal(await app.score(user), 6)
})

it('aborted flush stops waiting', async (t) => {
  const { proxy, client, user } = await start(t, (_, index) => (index === 0 ? HANG : undefined), {
    timeout: scaled(3000),
  })
  await track(client, visits(user, 1))
  const controller = new AbortController()
  const flushed = client.flush({ signal: controller.signal })
  await eventually(() => proxy.requests.length, 1)
  controller.abort(new Error('Too late.'))
  await assert.rejects(flushed, { message: 'Too late.' })
  assert.equal(await client.close(), true)
  assert.equal(await app.score(user), 1)
})

it('aborted close leaves the rest', async (t) => {
  const { client, reports, user } = await start(t, () => CUT)
  await track(client, visits(user, 1))
  const controller = new AbortController()
  const closed = client.close({ signal: controller.signal })
  await eventually(() => reports.errors.length > 0, true)
  controller.abort()
  assert.equal(await closed, false)
  await assert.rejects(client.track(visits(user, 1)[0]), ClosedError)
})

it('aborted track accepts nothing', async (t) => {
  const { proxy, client, user } = await start(t)
  await assert.rejects(client.track(visits(user, 1)[0], { signal: AbortSignal.abort() }), { name: 'AbortError' })
  await client.close()
  assert.deepEqual(sizes(proxy), [])
})

it('full outbox rejects', async (t) => {
  const { client, user } = await start(t, undefined, { outbox: new MemoryOutbox({ limit: 2 }) })
  const [first, second, third] = visits(user, 3)
  await track(client, [first, second])
  await assert.rejects(client.track(third), OutboxFullError)
  await client.flush()
  await client.track(third)
  await client.close()
  assert.equal(await app.score(user), 3)
})

it('overlapping calls are all counted', async (t) => {
  const { client, user } = await start(t, (_, index) => (index % 3 === 1 ? LOSE_RESPONSE : undefined), {
    batchSize: 20,
    batchDelay: 1,
  })
  const activities = visits(user, 600)
  const worker = async () => {
    for (let visit = activities.pop(); visit; visit = activities.pop()) await client.track(visit)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  await client.flush()
  assert.equal(await app.score(user), 600)
  await client.close()
})
