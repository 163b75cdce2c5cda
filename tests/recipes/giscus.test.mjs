// The receiver of webhooks from GitHub Discussions, which giscus stores its comments in.

import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'

import {
  assertScore,
  deliver,
  ONCE,
  outcomes,
  payload,
  points,
  startReceiver,
  thrice,
  UNDONE_ONCE,
} from './support.mjs'

let app
before(async () => {
  const vars = { RULES: { solution: { points: 15, once: 'standing', undo: true, by: 'service' } } }
  app = await startReceiver('giscus', { vars, mapping: { labels: ['invalid'] } })
})
after(() => app?.stop())

const body = (event, values = {}) => payload('github', event, values)
const CREATED = 'discussion_comment.created'

it('comment delivered three times counts once', async () => {
  assert.deepEqual(await thrice(app, CREATED, body(CREATED, { 'comment.user.id': 100 })), ONCE)
  assert.deepEqual(await points(app, 'github:100'), [
    { at: '2025-11-06T08:00:05Z', action: 'comment', target: 'github:discussion-comment:9209', points: 3 },
  ])
})

/** The title of a discussion that giscus creates is the path of its page. */
it('comment gives points to the registered page', async () => {
  const registered = { title: 'The first program', author: '9' }
  await app.rank.client.putTarget({ target: '/posts/first-program', body: registered })
  const ids = { 'comment.user.id': 200, 'comment.id': 9300 }
  assert.equal(await outcomes(app, CREATED, body(CREATED, ids)), 'counted')
  await assertScore(app, '/v1/content/all/targets/%2Fposts%2Ffirst-program', 3)
  await assertScore(app, '/v1/authors/all/users/9', 3)
})

it('deleted comment loses its points', async () => {
  const ids = { 'comment.user.id': 300, 'comment.id': 9400 }
  assert.equal(await outcomes(app, CREATED, body(CREATED, ids)), 'counted')
  const deleted = 'discussion_comment.deleted'
  assert.deepEqual(await thrice(app, deleted, body(deleted, ids)), UNDONE_ONCE)
})

it('discussion of a member counts as published', async () => {
  const created = body('discussion.created', { 'discussion.user.id': 400 })
  assert.deepEqual(await thrice(app, 'discussion.created', created), ONCE)
  const ids = { 'comment.user.id': 401, 'comment.id': 9500, discussion: created.discussion }
  assert.equal(await outcomes(app, CREATED, body(CREATED, ids)), 'counted')
  await assertScore(app, '/v1/authors/all/users/github:400', 3)
})

it('chosen answer counts, and its withdrawal', async () => {
  const ids = (name) => ({ [`${name}.user.id`]: 600, [`${name}.id`]: 9600 })
  const [answered, unanswered] = ['discussion.answered', 'discussion.unanswered']
  assert.deepEqual(await thrice(app, answered, body(answered, ids('answer'))), ONCE)
  assert.deepEqual(await points(app, 'github:600'), [
    { at: '2025-11-06T08:00:00Z', action: 'solution', target: 'github:discussion-comment:9600', points: 15 },
  ])
  assert.deepEqual(await thrice(app, unanswered, body(unanswered, ids('old_answer'))), UNDONE_ONCE)
  assert.deepEqual(await points(app, 'github:600'), [])
})

for (const taken of ['discussion.transferred', 'discussion.labeled']) {
  it(`${taken} takes the points back`, async () => {
    const ids = { 'discussion.user.id': 700 + taken.length, 'discussion.id': 8700 + taken.length }
    assert.equal(await outcomes(app, 'discussion.created', body('discussion.created', ids)), 'counted')
    assert.deepEqual(await thrice(app, taken, body(taken, ids)), UNDONE_ONCE)
    assert.equal(await app.rank.score(`github:${700 + taken.length}`), 0)
    if (taken === 'discussion.transferred') return
    assert.deepEqual(await thrice(app, 'discussion.unlabeled', body('discussion.unlabeled', ids)), ONCE)
  })
}

it('discussion of a private repository answers 204', async () => {
  for (const event of ['discussion.created', CREATED]) {
    assert.equal((await deliver(app, event, body(event, { 'repository.private': true }))).status, 204)
  }
})

it('discussion that giscus creates answers 204', async () => {
  const created = body('discussion.created', { 'discussion.user.type': 'Bot' })
  assert.equal((await deliver(app, 'discussion.created', created)).status, 204)
})
