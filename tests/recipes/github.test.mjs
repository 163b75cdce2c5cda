// The receiver of webhooks from GitHub, and what all receivers refuse.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'

import { CUT, problem } from '../server-sdk/support.mjs'
import {
  assertScore,
  deliver,
  ONCE,
  outcomes,
  payload,
  points,
  read,
  SECRET,
  SIGN,
  startReceiver,
  thrice,
  UNDONE_ONCE,
} from './support.mjs'

let app
before(async () => {
  app = await startReceiver('github', { mapping: { labels: ['invalid'] } })
})
after(() => app?.stop())

// The paths of the user in each payload, and what the user gets.
const EVENTS = [
  ['star.created', 'sender.id', 'like', 'github:repository:7001', 2, '2025-11-03T10:20:30Z'],
  ['issues.opened', 'issue.user.id', 'comment', 'github:issue:8005', 3, '2025-11-03T09:00:00Z'],
  ['issue_comment.created', 'comment.user.id', 'comment', 'github:comment:9001', 3, '2025-11-03T09:30:00Z'],
  ['pull_request_review.submitted', 'review.user.id', 'comment', 'github:review:9101', 3, '2025-11-05T07:59:00Z'],
  ['pull_request.closed', 'pull_request.user.id', 'publish', 'github:pull:8106', 10, '2025-11-05T08:00:00Z'],
]

describe('event delivered three times counts once', () => {
  for (const [index, [event, path, action, target, worth, at]] of EVENTS.entries()) {
    it(String(event), async () => {
      const id = 2000 + index
      assert.deepEqual(await thrice(app, event, payload('github', event, { [path]: id })), ONCE)
      assert.deepEqual(await points(app, `github:${id}`), [{ at, action, target, points: worth }])
    })
  }
})

for (const [created, deleted, path] of [
  ['star.created', 'star.deleted', 'sender.id'],
  ['issues.opened', 'issues.deleted', 'issue.user.id'],
  ['issue_comment.created', 'issue_comment.deleted', 'comment.user.id'],
]) {
  it(`${deleted} takes the points back`, async () => {
    const id = 3000 + path.length
    const user = { [path]: id }
    assert.equal(await outcomes(app, created, payload('github', created, user)), 'counted')
    const undo = payload('github', deleted, user)
    assert.deepEqual(await thrice(app, deleted, undo), UNDONE_ONCE)
    assert.equal(await app.rank.score(`github:${id}`), 0)
    // A copy of the first delivery that arrives late is older than the undo.
    assert.equal(await outcomes(app, created, payload('github', created, user)), 'stale')
    assert.equal(await app.rank.score(`github:${id}`), 0)
  })
}

/**
 * GitHub opens the issue again in the other repository, with another id, and reports the move in the first one. Its
 * deletion names the new id alone.
 */
it('issue moved to another repository counts once', async () => {
  const user = { 'issue.user.id': 4501, 'sender.id': 4501 }
  const old = { id: 990001, number: 1, created_at: '2025-11-03T09:00:00Z', user: { id: 4501 } }
  const opened = payload('github', 'issues.opened', { ...user, 'issue.id': 990001, 'repository.id': 1 })
  const moved = payload('github', 'issues.opened', {
    ...user,
    'issue.id': 990002,
    'repository.id': 2,
    'sender.id': 9,
    changes: { old_issue: old, old_repository: { id: 1, full_name: 'o/a' } },
  })
  const transferred = { ...opened, action: 'transferred', changes: { new_issue: { id: 990002 } } }
  assert.deepEqual(await thrice(app, 'issues.opened', opened), ONCE)
  assert.deepEqual(await thrice(app, 'issues.opened', moved), ONCE)
  assert.deepEqual(await thrice(app, 'issues.transferred', transferred), UNDONE_ONCE)
  assert.equal(await app.rank.score('github:4501'), 3)
  const deleted = payload('github', 'issues.deleted', { ...user, 'issue.id': 990002, 'repository.id': 2 })
  assert.deepEqual(await thrice(app, 'issues.deleted', deleted), UNDONE_ONCE)
  assert.equal(await app.rank.score('github:4501'), 0)
})

for (const { type, event, worth } of [
  { type: 'issue', event: 'issues', worth: 3 },
  { type: 'pull_request', event: 'pull_request', worth: 10 },
]) {
  const first = event === 'issues' ? 'issues.opened' : 'pull_request.closed'
  it(`label of ${event} takes the points until removed`, async () => {
    const ids = { [`${type}.user.id`]: 4550 + worth, [`${type}.id`]: 8550 + worth }
    const [labeled, unlabeled] = [`${event}.labeled`, `${event}.unlabeled`]
    assert.equal(await outcomes(app, first, payload('github', first, ids)), 'counted')
    assert.deepEqual(await thrice(app, labeled, payload('github', labeled, ids)), UNDONE_ONCE)
    assert.equal(await app.rank.score(`github:${4550 + worth}`), 0)
    assert.deepEqual(await thrice(app, unlabeled, payload('github', unlabeled, ids)), ONCE)
    assert.equal(await app.rank.score(`github:${4550 + worth}`), worth)
  })
}

it('undo in a repository that became private applies', async () => {
  const user = { 'issue.user.id': 4600, 'issue.id': 8600 }
  assert.equal(await outcomes(app, 'issues.opened', payload('github', 'issues.opened', user)), 'counted')
  const undo = payload('github', 'issues.deleted', { ...user, 'repository.private': true })
  assert.equal(await outcomes(app, 'issues.deleted', undo), 'undone')
})

for (const user of ['constructor', '__proto__']) {
  it(`user named ${user} counts`, async () => {
    const body = payload('github', 'star.created', { 'sender.id': user, 'sender.login': user })
    assert.deepEqual(await thrice(app, 'star.created', body), ONCE)
    assert.equal(await app.rank.score(`github:${user}`), 2)
  })
}

it('star after an undo counts again', async () => {
  const sender = { 'sender.id': 3900 }
  assert.equal(await outcomes(app, 'star.created', payload('github', 'star.created', sender)), 'counted')
  assert.equal(await outcomes(app, 'star.deleted', payload('github', 'star.deleted', sender)), 'undone')
  const again = { ...sender, starred_at: new Date(Date.now() + 1000).toISOString() }
  assert.equal(await outcomes(app, 'star.created', payload('github', 'star.created', again)), 'counted')
})

it('profile and target of the payload are set', async () => {
  const body = payload('github', 'issues.opened', { 'issue.user.id': 4000, 'issue.id': 8400 })
  assert.equal(await outcomes(app, 'issues.opened', body), 'counted')
  assert.deepEqual(await read(app, '/v1/users/github:4000'), {
    id: 'github:4000',
    name: 'grace',
    avatar: 'https://avatars.githubusercontent.com/u/102?v=4',
    url: 'https://github.com/grace',
  })
  assert.deepEqual(await read(app, '/v1/targets/github:issue:8400'), {
    id: 'github:issue:8400',
    title: 'The carry is lost',
    url: 'https://github.com/analytical/engine/issues/5',
    author: 'github:4000',
  })
})

it("comment gives points to the issue's author", async () => {
  const ids = { 'issue.user.id': 4100, 'issue.id': 8500, 'comment.user.id': 4101, 'comment.id': 9500 }
  const body = payload('github', 'issue_comment.created', ids)
  assert.equal(await outcomes(app, 'issue_comment.created', body), 'counted')
  await assertScore(app, '/v1/authors/all/users/github:4100', 3)
  await assertScore(app, '/v1/content/all/targets/github:issue:8500', 3)
})

/** A member's own choices are not in the payload. */
it('choices of a member stay in the profile', async () => {
  const user = 'github:4200'
  await app.rank.client.putProfile({ user, body: { name: 'old name', public_activity: true } })
  const body = payload('github', 'star.created', { 'sender.id': 4200 })
  assert.equal(await outcomes(app, 'star.created', body), 'counted')
  const { name, public_activity } = await read(app, `/v1/users/${user}`)
  assert.deepEqual([name, public_activity], ['ada', true])
})

for (const [name, event, values] of [
  ['bot', 'star.created', { 'sender.type': 'Bot' }],
  ['review with a comment alone', 'pull_request_review.submitted', { 'review.state': 'commented' }],
  ['unmerged pull request', 'pull_request.closed', { 'pull_request.merged': false }],
  ['unmapped action', 'star.created', { action: 'renamed' }],
  ['excluded issue', 'issues.opened', { 'issue.labels': [{ name: 'invalid' }] }],
  ['comment on an excluded issue', 'issue_comment.created', { 'issue.labels': [{ name: 'invalid' }] }],
  ['another label', 'issues.labeled', { 'label.name': 'bug' }],
  ['removed label beside an excluded one', 'issues.unlabeled', { 'issue.labels': [{ name: 'invalid' }] }],
  ['private repository', 'issues.opened', { 'repository.private': true }],
  ['star of a private repository', 'star.created', { 'repository.private': true }],
  ['internal repository', 'issue_comment.created', { 'repository.visibility': 'internal' }],
  ['issue of a deleted account', 'issues.opened', { 'issue.user': null }],
  ['comment of a deleted account', 'issue_comment.created', { 'comment.user': null }],
  ['pull request of a deleted account', 'pull_request.closed', { 'pull_request.user': null }],
  ['ping', 'ping', {}],
]) {
  it(`${name} answers 204`, async () => {
    const count = app.proxy.requests.length
    const { status, body } = await deliver(app, event, payload('github', event, values))
    assert.deepEqual([status, body, app.proxy.requests.length - count], [204, '', 0])
  })
}

describe('refused delivery changes nothing', () => {
  const body = payload('github', 'star.created', { 'sender.id': 5000 })
  const text = JSON.stringify(body)
  const signed = SIGN.github(text, 'star.created')
  const { 'x-hub-signature-256': signature, ...unsigned } = signed
  const sign = (content) => ({ headers: SIGN.github(content, 'star.created') })
  const large = JSON.stringify({ ...body, padding: 'x'.repeat(5 * 1024 * 1024) })
  const { sender, ...anonymous } = body
  for (const [name, content, options, status, slug] of [
    ['without signature', text, { headers: unsigned }, 401, 'unauthenticated'],
    ['signature of another body', `${text} `, { headers: signed }, 401, 'unauthenticated'],
    ['SHA-1', text, { headers: { ...unsigned, 'x-hub-signature-256': 'sha1=00' } }, 401, 'unauthenticated'],
    [
      'cut signature',
      text,
      { headers: { ...unsigned, 'x-hub-signature-256': signature.slice(0, -2) } },
      401,
      'unauthenticated',
    ],
    ['too large', large, sign(large), 413, 'too-large'],
    ['form', text, { ...sign(text), type: 'application/x-www-form-urlencoded' }, 415, 'unsupported-media-type'],
    ['no JSON', '{"action"', sign('{"action"'), 400, 'invalid-request'],
    ['array', '[]', sign('[]'), 400, 'invalid-request'],
    ['without user', JSON.stringify(anonymous), sign(JSON.stringify(anonymous)), 400, 'invalid-request'],
  ]) {
    it(String(name), async () => {
      const count = app.proxy.requests.length
      const response = await deliver(app, 'star.created', content, options)
      assert.deepEqual([response.status, response.body.type], [status, `/problems/${slug}`])
      assert.equal(response.headers.get('content-type'), 'application/problem+json')
      assert.ok(!JSON.stringify(response.body).includes(SECRET))
      assert.equal(app.proxy.requests.length, count)
      assert.equal(await app.rank.score('github:5000'), 0)
    })
  }

  it('GET', async () => {
    const response = await fetch(app.url)
    assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST'])
  })
})

/** Runs a test while the proxy answers every request with a fault. */
async function during(fault, run) {
  app.fault = () => fault
  try {
    await run()
  } finally {
    app.fault = () => undefined
  }
}

for (const { name, id, fault, retryAfter } of [
  { name: 'unavailable store', id: 6000, fault: problem(503, { 'retry-after': '7' }), retryAfter: '7' },
  { name: 'lost connection', id: 6001, fault: CUT, retryAfter: '60' },
]) {
  it(`${name} answers 503, and the retry counts`, async () => {
    const body = payload('github', 'star.created', { 'sender.id': id })
    await during(fault, async () => {
      const response = await deliver(app, 'star.created', body)
      assert.deepEqual([response.status, response.headers.get('retry-after')], [503, retryAfter])
    })
    assert.equal(await app.rank.score(`github:${id}`), 0)
    assert.deepEqual(await thrice(app, 'star.created', body), ONCE)
  })
}

for (const [name, fault] of /** @type {const} */ ([
  ['refused service key', problem(401)],
  ['address of another server', { status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>Not found</h1>' }],
])) {
  it(`${name} answers 500`, async () => {
    await during(fault, async () => {
      const response = await deliver(app, 'star.created', payload('github', 'star.created'))
      assert.deepEqual([response.status, response.body.type], [500, '/problems/misconfigured'])
      assert.ok(!JSON.stringify(response.body).includes('test-service-key'))
    })
  })
}
