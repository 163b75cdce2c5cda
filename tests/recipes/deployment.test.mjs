// The configuration with which a receiver reaches its deployment, and the undo for all members.

import assert from 'node:assert/strict'
import { it } from 'node:test'

import { connect, failureOf, send } from '../../recipes/receiver/deployment.js'
import { errorResponse } from '../../recipes/receiver/problem.js'
import { ApiError, ConnectionError } from '../../sdk/js/src/errors.js'

const URL = 'https://rank.example.com'
for (const [name, env, detail] of [
  ['no key', { ACTIVITY_RANK_URL: URL }, 'The secret ACTIVITY_RANK_KEY is not set.'],
  ['no deployment', { ACTIVITY_RANK_KEY: 'key' }, 'Neither RANK nor ACTIVITY_RANK_URL is set.'],
  [
    'a key with a line break',
    { ACTIVITY_RANK_URL: URL, ACTIVITY_RANK_KEY: 'key\n' },
    'ACTIVITY_RANK_URL is not a URL, or ACTIVITY_RANK_KEY has white space.',
  ],
  [
    'an address that is no URL',
    { ACTIVITY_RANK_URL: 'rank', ACTIVITY_RANK_KEY: 'key' },
    'ACTIVITY_RANK_URL is not a URL, or ACTIVITY_RANK_KEY has white space.',
  ],
]) {
  it(`receiver with ${name} is misconfigured`, () => {
    assert.throws(
      () => connect(/** @type {any} */ (env)),
      ({ document }) => {
        assert.deepEqual([document.status, document.detail], [500, detail])
        return true
      },
    )
  })
}

const UNDO = { action: 'comment', target: 'discourse:post:5' }
const undone = (user) => ({ user, outcome: 'undone', points: -3 })
const refused = (status, slug) => ({ type: `/problems/${slug}`, title: 'Injected', status })
const NO_JOURNAL = refused(422, 'not-undoable')

/** Sends an undo for all members to a deployment with these responses. Returns the results and the bodies of the requests. */
async function sendUndo(responses, user = '31') {
  const bodies = []
  const client = {
    async request(operation, { body }) {
      assert.equal(operation, 'countActivity')
      bodies.push(body)
      const response = responses.shift()
      if (response.status) throw new ApiError(operation, response)
      return { body: response }
    },
  }
  const changes = {
    activities: [],
    undos: [{ ...UNDO, ...(user && { user }) }],
    members: [],
    profiles: new Map(),
    targets: new Map(),
  }
  return { results: await send(/** @type {any} */ (client), changes, 1000), bodies }
}

it('undo for all members names no user', async () => {
  const { results, bodies } = await sendUndo([{ results: [undone('32')] }])
  assert.deepEqual([results, bodies], [[undone('32')], [{ ...UNDO, undo: true }]])
})

it('undo for all members is sent until none is left', async () => {
  const frozen = { user: '3', error: refused(403, 'forbidden') }
  const { results, bodies } = await sendUndo([
    { results: [undone('1')], more: true },
    { results: [undone('2'), frozen], more: true },
    { results: [frozen], more: true },
  ])
  assert.deepEqual([results.length, bodies.length], [4, 3])
})

it('undo that finds no member names the user', async () => {
  const { results, bodies } = await sendUndo([
    { results: [] },
    { results: [{ outcome: 'nothing-to-undo', points: 0 }] },
  ])
  assert.deepEqual(bodies, [{ ...UNDO, undo: true }, [{ ...UNDO, undo: true, user: '31' }]])
  assert.deepEqual(results, [{ outcome: 'nothing-to-undo', points: 0 }])
  assert.deepEqual((await sendUndo([{ results: [] }], '')).results, [])
})

it('undo without a journal names the user', async () => {
  const { results, bodies } = await sendUndo([NO_JOURNAL, { results: [undone('31')] }])
  assert.deepEqual(bodies, [{ ...UNDO, undo: true }, [{ ...UNDO, undo: true, user: '31' }]])
  assert.deepEqual(results, [undone('31')])
  await assert.rejects(sendUndo([NO_JOURNAL], ''), { status: 422 })
})

for (const [name, error, status, detail] of /** @type {[string, Error, number, string][]} */ ([
  [
    'journal that lags',
    new ApiError('countActivity', refused(503, 'store-unavailable')),
    503,
    'The deployment did not count the activity (countActivity: 503 Injected). Send the delivery again.',
  ],
  [
    'timeout of a proxy',
    new ApiError('countActivity', { type: 'about:blank', title: 'Request Timeout', status: 408 }),
    503,
    'The deployment did not count the activity (countActivity: 408 Request Timeout). Send the delivery again.',
  ],
  [
    'deployment that does not respond',
    new ConnectionError('countActivity', new Error('connect ECONNREFUSED 127.0.0.1:1')),
    503,
    'The deployment did not count the activity (countActivity: no response: connect ECONNREFUSED 127.0.0.1:1). Send the delivery again.',
  ],
  [
    'other server',
    new ApiError('countActivity', { type: 'about:blank', title: 'Not Found', status: 404 }),
    500,
    'RANK or ACTIVITY_RANK_URL is not a deployment of activity-rank: countActivity: 404 Not Found',
  ],
])) {
  it(`${name} answers ${status} with the reason, logged`, async (t) => {
    const log = t.mock.method(console, 'error', () => {})
    const response = errorResponse(failureOf(error))
    assert.deepEqual([response.status, (await response.json()).detail], [status, detail])
    assert.deepEqual(
      log.mock.calls.map(({ arguments: [line] }) => line),
      [detail],
    )
  })
}
