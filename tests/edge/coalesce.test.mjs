// Coalesced requests to the store: src/platform/coalesce.js.

import assert from 'node:assert/strict'
import { afterEach, beforeEach, it, mock } from 'node:test'

// Imported by URL, which tsc does not follow: the Worker's modules have the types of another platform.
const { post: send } = await import(new URL('../../src/platform/coalesce.js', import.meta.url).href)

const TIMEOUT = 1000
const MAX_WAIT = 5
const ping = (name) => JSON.stringify([['PING', name]])
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** The requests to the store, which the test answers. */
let store

beforeEach(() => {
  mock.reset()
  mock.timers.reset()
  mock.timers.enable({ apis: ['Date', 'setTimeout'] })
  // No request of an earlier test is under way any more.
  mock.timers.setTime((elapsed += 10 * TIMEOUT))
  store = []
  mock.method(
    globalThis,
    'fetch',
    (url, { headers, body }) =>
      new Promise((resolve, reject) => {
        const respond = (text, status = 200) => resolve(new Response(text, { status }))
        const echo = () => respond(JSON.stringify(JSON.parse(body).map(([, result]) => ({ result }))))
        store.push({ url, headers, body, respond, echo, reject })
      }),
  )
})
let elapsed = 0

// Nothing waits for the next test.
afterEach(async () => {
  mock.timers.tick(TIMEOUT)
  await nextTurn()
})

function post(body, { url = 'https://store.example', mayCoalesce = true } = {}) {
  const result = send(url, 'Bearer t', TIMEOUT, body, mayCoalesce)
  result.catch(() => {})
  return result
}

/** Starts a request and three that are gathered; the three are sent when the first one has ended. */
async function gather() {
  const first = post(ping('first'))
  const gathered = ['a', 'b', 'c'].map((name) => post(ping(name)))
  assert.equal(store.length, 1)
  store[0].echo()
  await first
  await nextTurn()
  assert.equal(store.length, 2)
  return gathered
}

it('single request is sent at once', async () => {
  for (const name of ['a', 'b']) {
    const result = post(ping(name))
    assert.equal(store.at(-1).body, ping(name))
    store.at(-1).echo()
    assert.deepEqual(await result, { status: 200, body: `[{"result":"${name}"}]` })
  }
  assert.equal(store.length, 2)
})

it('pipelines are gathered while a request lasts', async () => {
  const gathered = await gather()
  assert.equal(store[1].body, '[["PING","a"],["PING","b"],["PING","c"]]')
  store[1].echo()
  const bodies = (await Promise.all(gathered)).map(({ body }) => body)
  assert.deepEqual(bodies, ['[{"result":"a"}]', '[{"result":"b"}]', '[{"result":"c"}]'])
})

it('gathered pipelines wait at most 5 ms', async () => {
  post(ping('slow'))
  const [a, b] = [post(ping('a')), post(ping('b'))]
  mock.timers.tick(MAX_WAIT)
  await nextTurn()
  store[1].echo()
  assert.equal((await a).body, '[{"result":"a"}]')
  assert.equal((await b).body, '[{"result":"b"}]')
})

it('response is divided by numbers of commands', async () => {
  const first = post(ping('first'))
  // Texts that look like the marks between commands and between results.
  const texts = ['["GET', '{"result":', ',{"error":1},', 'x["', '{ "result": [', '\\', '"}]']
  const results = [
    [{ result: texts }, { error: 'ERR {"result":1}' }],
    [{ result: null }],
    [{ result: [[1, []], '9'] }, { result: '' }, { error: 'WRONGTYPE' }],
  ]
  const gathered = results.map((own) => post(JSON.stringify(own.map(() => ['GET', ...texts]))))
  store[0].echo()
  await first
  await nextTurn()
  store[1].respond(` [${results.flat().map((result) => JSON.stringify(result, null, 1))} ] `)
  for (const [index, { body }] of (await Promise.all(gathered)).entries()) {
    assert.deepEqual(JSON.parse(body), results[index])
  }
})

it('integers keep all their digits', async () => {
  const gathered = await gather()
  store[1].respond('[{"result":9007199254740993},{"result":1},{"result":-9223372036854775808}]')
  assert.equal((await gathered[0]).body, '[{"result":9007199254740993}]')
  assert.equal((await gathered[2]).body, '[{"result":-9223372036854775808}]')
})

it('error response reaches all', async () => {
  for (const [text, status] of [
    ['{"error":"Unauthorized"}', 401],
    ['Bad gateway', 502],
    ['<html>', 200],
    ['[{"result":1}]', 200],
  ]) {
    const gathered = await gather()
    store[1].respond(text, status)
    for (const result of gathered) assert.deepEqual(await result, { status, body: text })
    store.length = 0
  }
})

it('failure reaches all without the URL', async () => {
  const gathered = await gather()
  store[1].reject(new Error('connect failed: https://store.example'))
  for (const result of gathered) await assert.rejects(result, (cause) => cause === 'connect failed')
})

it('request that is too large is sent one by one', async () => {
  const gathered = await gather()
  store[1].respond('{"error":"ERR max request size exceeded"}', 413)
  await nextTurn()
  assert.deepEqual(
    store
      .slice(2)
      .map(({ body }) => body)
      .sort(),
    ['a', 'b', 'c'].map(ping),
  )
  for (const { echo } of store.slice(2)) echo()
  const bodies = (await Promise.all(gathered)).map(({ body }) => body)
  assert.deepEqual(bodies, ['[{"result":"a"}]', '[{"result":"b"}]', '[{"result":"c"}]'])
})

it('follower of a lost request ends at its deadline', async () => {
  const [, follower] = await gather()
  // The leader's context is destroyed after it has sent the request.
  mock.timers.tick(2 * MAX_WAIT)
  mock.timers.tick(TIMEOUT)
  await assert.rejects(follower, (cause) => cause === 'The operation was aborted due to timeout')
})

it('follower without leader is sent alone', async (t) => {
  post(ping('slow'))
  // The leader's context is destroyed with its timer.
  const lost = t.mock.method(globalThis, 'setTimeout', () => {})
  post(ping('leader'))
  lost.mock.restore()
  const follower = post(ping('follower'))
  mock.timers.tick(2 * MAX_WAIT)
  await nextTurn()
  assert.equal(store[1].body, ping('follower'))
  store[1].echo()
  assert.equal((await follower).body, '[{"result":"follower"}]')
  // The next ones have a new leader.
  post(ping('next'))
  mock.timers.tick(MAX_WAIT)
  await nextTurn()
  assert.equal(store[2].body, ping('next'))
})

it('request is under way until its deadline at most', () => {
  post(ping('lost'))
  mock.timers.tick(TIMEOUT)
  post(ping('next'))
  assert.equal(store.length, 2)
})

it('job, other store and long pipeline go alone', () => {
  post(ping('slow'))
  post(ping('leader'))
  post(ping('job'), { mayCoalesce: false })
  post(ping('other'), { url: 'https://other.example' })
  post(ping('x'.repeat(20_000)))
  assert.equal(store.length, 4)
})

it('batch of 8 pipelines is sent at once', async () => {
  post(ping('slow'))
  const gathered = Array.from({ length: 9 }, (_, number) => post(ping(`${number}`)))
  await nextTurn()
  assert.equal(store.length, 2)
  assert.equal(JSON.parse(store[1].body).length, 8)
  store[1].echo()
  assert.equal((await gathered[7]).body, '[{"result":"7"}]')
  mock.timers.tick(MAX_WAIT)
  await nextTurn()
  assert.equal(store[2].body, ping('8'))
})

it('sync token is sent once the store has one', async () => {
  const first = post(ping('a'))
  assert.ok(!('upstash-sync-token' in store[0].headers))
  store[0].respond('[{"result":"a"}]')
  await first
})
