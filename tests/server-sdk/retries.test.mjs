// Requests of the npm package: retries, `Retry-After`, deadlines, aborted calls, errors without secrets.

import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { inspect } from 'node:util'

import { ApiError, Client, ConnectionError } from '../../sdk/js/src/index.js'
import { parseRetryAfter, RETRY_DEFAULTS, retryDelay } from '../../sdk/js/src/retry.js'
import { eventually } from '../sdk/eventually.mjs'
import { scaled } from '../sdk/slowness.mjs'
import { CUT, FAST, HANG, KEY, problem, startApp, startProxy } from './support.mjs'

let app
before(async () => {
  app = await startApp()
})
after(() => app?.stop())

/** Starts a proxy that gives the first requests these faults, and a client that uses it. */
async function faulty(t, faults, options = {}) {
  const proxy = await startProxy(app, (_, index) => faults[index])
  t.after(() => proxy.stop())
  const client = new Client({ url: proxy.url, key: KEY, retry: FAST, ...options })
  return { proxy, client }
}

it('temporary failures are retried', async (t) => {
  const garbage = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"entr' }
  for (const fault of [
    problem(408),
    problem(429),
    problem(500),
    problem(503),
    { status: 502, body: 'proxy' },
    CUT,
    garbage,
  ]) {
    const { proxy, client } = await faulty(t, [fault, fault])
    const { period } = await client.getBoard({ period: 'all' })
    assert.deepEqual([period.id, proxy.requests.length], ['all', 3], inspect(fault))
  }
})

it('other failures are not retried', async (t) => {
  const { proxy, client } = await faulty(t, [])
  const call = client.countActivity({ body: { user: '42', action: 'publish', target: 'p' } }, { token: 'no-token' })
  await assert.rejects(call, { name: 'ApiError', status: 401, operation: 'countActivity' })
  assert.equal(proxy.requests.length, 1)
})

it('api error has the problem and the request id', async () => {
  const error = await app.client.getBoard({ period: 'day', limit: 1000 }).catch((error) => error)
  assert.ok(error instanceof ApiError)
  assert.equal(error.problem.type, '/problems/invalid-request')
  assert.deepEqual(
    error.problem.errors?.map(({ pointer }) => pointer),
    ['/limit'],
  )
  assert.match(String(error.requestId), /\S/)
})

it('api error names each wrong field', async () => {
  const body = /** @type {any} */ ({ user: '42', action: 'like', taget: 'p', at: 'now' })
  const error = await app.client.countActivity({ body }).catch((error) => error)
  const fields = error.problem.errors.map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`)
  assert.ok(fields.length > 1)
  assert.equal(error.message, `countActivity: 400 The request is invalid: ${fields.join('; ')}`)
})

it('attempts are limited', async (t) => {
  const { proxy, client } = await faulty(t, [CUT, CUT, CUT, CUT, CUT])
  const error = await client.getHealth().catch((error) => error)
  assert.ok(error instanceof ConnectionError)
  assert.ok(error.cause instanceof Error)
  assert.equal(proxy.requests.length, 4)
  await assert.rejects(client.getHealth({}, { attempts: 1 }), ConnectionError)
  assert.equal(proxy.requests.length, 5)
})

/** Returns the milliseconds between the first two requests of a call whose first response has these headers. */
async function pauseAfter(t, headers) {
  const { proxy, client } = await faulty(t, [problem(503, headers)])
  await client.getBoard({ period: 'all' })
  const [first, second] = proxy.requests
  return second.time - first.time
}

it('retry after is a lower bound, seconds or a date', async (t) => {
  const pause = await pauseAfter(t, { 'retry-after': '1' })
  assert.ok(pause >= 1000, `${pause} ms`)
  // The clock of the service is a year behind.
  const date = new Date(Date.now() - 365 * 86_400_000)
  const later = new Date(date.getTime() + 1000)
  const dated = await pauseAfter(t, { date: date.toUTCString(), 'retry-after': later.toUTCString() })
  assert.ok(dated >= 1000 && dated < 10_000, `${dated} ms`)
})

for (const [value, expected] of /** @type {[string, number | undefined][]} */ ([
  [' 7 ', 7000],
  ['Fri, 20 Nov 2026 08:00:30 GMT', 30_000],
  ['Fri, 20 Nov 2026 07:00:00 GMT', 0],
  ...['1.5', '-3', '+3', '1e3', 'soon', ''].map((value) => [value, undefined]),
])) {
  it(`retry after "${value}" is ${expected} ms`, () => {
    const headers = new Headers({ 'retry-after': value, date: 'Fri, 20 Nov 2026 08:00:00 GMT' })
    assert.equal(parseRetryAfter(headers), expected)
  })
}

it('mistakes of a caller are named before a request', async (t) => {
  for (const url of ['localhost:8787', 'https://', '', undefined]) {
    assert.throws(() => new Client({ url: /** @type {any} */ (url) }), {
      message: '`url` must be a URL that begins with https:// or http://.',
    })
  }
  const { proxy, client } = await faulty(t, [])
  const activity = /** @type {any} */ ({ user: '42', action: 'like' })
  await assert.rejects(client.countActivity(activity), { message: 'countActivity: `body` is missing.' })
  const id = /** @type {any} */ (2 ** 60)
  for (const [call, name] of /** @type {[Promise<unknown>, string][]} */ ([
    [client.putAccount({ user: '42', body: { of: id, token: '' } }), 'of'],
    [client.putProfiles({ body: [{ id, name: 'Ada' }] }), 'id'],
    [client.compareStandings({ period: 'day', ids: ['7', id] }), 'ids'],
  ])) {
    await assert.rejects(call, { message: `\`${name}\` must be a string or an integer below 2^53.` })
  }
  assert.equal(proxy.requests.length, 0)
})

it('long retry after fails at once', async (t) => {
  const { proxy, client } = await faulty(t, [problem(429, { 'retry-after': '61' })])
  await assert.rejects(client.getBoard({ period: 'all' }), { status: 429, retryAfter: 61_000 })
  assert.equal(proxy.requests.length, 1)
})

it('delays grow with full jitter up to a limit', () => {
  const delays = (random, retryAfter = undefined) =>
    [0, 1, 2, 10].map((attempt) => retryDelay(attempt, retryAfter, { ...RETRY_DEFAULTS, random: () => random }))
  assert.deepEqual(delays(0), [0, 0, 0, 0])
  assert.deepEqual(delays(0.5), [125, 250, 500, 15_000])
  assert.deepEqual(delays(1), [250, 500, 1000, 30_000])
  assert.deepEqual(delays(1, 2000), [2250, 2500, 3000, 32_000])
})

it('attempt ends at its timeout', async (t) => {
  const { proxy, client } = await faulty(t, [HANG, HANG], { timeout: scaled(1000) })
  const error = await client.getHealth({}, { attempts: 2 }).catch((error) => error)
  assert.ok(error instanceof ConnectionError)
  assert.equal(/** @type {Error} */ (error.cause).name, 'TimeoutError')
  assert.equal(proxy.requests.length, 2)
})

it('aborted call rejects with the reason', async (t) => {
  const reason = new Error('The visitor has left.')
  const aborted = AbortSignal.abort(reason)
  const { proxy, client } = await faulty(t, [HANG, problem(503, { 'retry-after': '50' })])
  const same = (error) => error === reason

  await assert.rejects(client.getHealth({}, { signal: aborted }), same)
  assert.equal(proxy.requests.length, 0)

  const during = new AbortController()
  const hanging = client.getHealth({}, { signal: during.signal })
  while (!proxy.requests.length) await new Promise((resolve) => setImmediate(resolve))
  during.abort(reason)
  await assert.rejects(hanging, same)

  // The client waits for 50 seconds or more before the retry.
  const between = new AbortController()
  const waiting = client.getHealth({}, { signal: between.signal })
  await eventually(() => proxy.requests.length, 2)
  between.abort(reason)
  await assert.rejects(waiting, same)
  assert.equal(proxy.requests.length, 2)
})

it('path arguments name one segment', async (t) => {
  const { proxy, client } = await faulty(t, [])
  for (const user of ['', '.', '..']) await assert.rejects(client.eraseUser({ user }), TypeError)
  assert.equal(proxy.requests.length, 0)
  await assert.rejects(client.getTarget({ target: 'a/../b?c#d' }), { status: 404 })
  assert.equal(proxy.requests[0].url, '/v1/targets/a%2F..%2Fb%3Fc%23d')
})

it('deployment may have a path', async (t) => {
  const { proxy } = await faulty(t, [])
  const client = new Client({ url: `${proxy.url}/rank/`, retry: FAST })
  await assert.rejects(client.getHealth(), { status: 404 })
  assert.equal(proxy.requests[0].url, '/rank/healthz')
  assert.equal(proxy.requests[0].headers.authorization, undefined)
})

it('redirects are not followed', async (t) => {
  const { proxy, client } = await faulty(t, [{ status: 307, headers: { location: app.url } }])
  await assert.rejects(client.countActivity({ body: [] }), { status: 307 })
  assert.equal(proxy.requests.length, 1)
})

it('key function is called for each request', async (t) => {
  const keys = ['old', KEY]
  const { client } = await faulty(t, [], { key: () => keys.shift() })
  await assert.rejects(client.getStatus(), { status: 401 })
  assert.equal((await client.getStatus()).store.circuit, 'closed')
})

it('errors and clients show no key', async (t) => {
  const secret = 'a-secret-key'
  assert.throws(
    () => new Client({ url: app.url, key: `${secret}\n` }),
    (error) => !inspect(error).includes(secret),
  )
  const { client } = await faulty(t, [undefined, CUT, CUT, CUT, CUT], { key: secret })
  for (const status of [401, undefined]) {
    const error = await client.getStatus().catch((error) => error)
    assert.equal(error.status, status)
    assert.ok(!inspect(error, { depth: 10, showHidden: true }).includes(secret))
  }
  assert.ok(!inspect(client, { depth: 10, showHidden: true }).includes(secret))
  assert.ok(!JSON.stringify(client).includes(secret))
})
