// The receiver of webhooks from Discourse.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, it } from 'node:test'

import { discourse } from '../../recipes/receiver/discourse.js'
import { receiver } from '../../recipes/receiver/receiver.js'
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

/** The category of the payloads. */
const PUBLIC = { categories: [4] }

/** The rule of the document. */
const SOLUTION = { points: 15, once: 'standing', undo: true, by: 'service' }

let app
before(async () => {
  app = await startReceiver('discourse', { mapping: PUBLIC, vars: { RULES: { solution: SOLUTION } } })
})
after(() => app?.stop())

const body = (event, values = {}) => payload('discourse', event, values)

it('topic delivered three times counts once', async () => {
  const author = { 'topic.created_by.id': 100 }
  assert.deepEqual(await thrice(app, 'topic_created', body('topic_created', author)), ONCE)
  assert.deepEqual(await points(app, 'discourse:100'), [
    { at: '2025-11-03T11:00:00.500Z', action: 'publish', target: 'discourse:topic:501', points: 10 },
  ])
  assert.deepEqual(await read(app, '/v1/targets/discourse:topic:501'), {
    id: 'discourse:topic:501',
    title: 'Notes on the engine',
    url: 'https://forum.example.com/t/notes-on-the-engine/501',
    author: 'discourse:100',
  })
})

it('reply delivered three times counts once', async () => {
  assert.deepEqual(await thrice(app, 'post_created', body('post_created', { 'post.user_id': 200 })), ONCE)
  assert.deepEqual(await points(app, 'discourse:200'), [
    { at: '2025-11-03T12:00:00.123Z', action: 'comment', target: 'discourse:post:5002', points: 3 },
  ])
  assert.deepEqual(await read(app, '/v1/users/discourse:200'), {
    id: 'discourse:200',
    name: 'Ada Lovelace',
    avatar: 'https://forum.example.com/user_avatar/forum.example.com/ada/96/12_2.png',
    url: 'https://forum.example.com/u/ada',
  })
})

it('like delivered three times counts once', async () => {
  const ids = { 'like.user.id': 300, 'like.post.user_id': 301, 'like.post.id': 5300 }
  assert.deepEqual(await thrice(app, 'post_liked', body('post_liked', ids)), ONCE)
  const entries = await points(app, 'discourse:300')
  assert.deepEqual(
    entries.map(({ action, target, points }) => [action, target, points]),
    [['like', 'discourse:post:5300', 2]],
  )
  await assertScore(app, '/v1/authors/all/users/discourse:301', 2)
})

for (const [type, path, id, worth] of [
  ['topic', 'topic.created_by.id', 400, 10],
  ['post', 'post.user_id', 401, 3],
]) {
  const [created, destroyed, recovered] = ['created', 'destroyed', 'recovered'].map((event) => `${type}_${event}`)
  it(`${destroyed} takes the points back`, async () => {
    const ids = { [path]: id, [`${type}.id`]: 4000 }
    const user = `discourse:${id}`
    assert.equal(await outcomes(app, created, body(created, ids)), 'counted')
    assert.deepEqual(await thrice(app, destroyed, body(destroyed, ids)), UNDONE_ONCE)
    assert.equal(await outcomes(app, created, body(created, ids)), 'stale')
    assert.equal(await app.rank.score(user), 0)
    assert.deepEqual(await thrice(app, recovered, body(recovered, ids)), ONCE)
    // A copy of the deletion that arrives late is older than the recovery.
    assert.equal(await outcomes(app, destroyed, body(destroyed, ids)), 'stale')
    assert.equal(await app.rank.score(user), worth)
  })
}

for (const [name, event, values] of [
  ['first post of a topic', 'post_created', { 'post.post_number': 1 }],
  ['small action', 'post_created', { 'post.post_type': 3 }],
  ['private message', 'post_created', { 'post.topic_archetype': 'private_message' }],
  ['private topic', 'topic_created', { 'topic.archetype': 'private_message' }],
  ['like of a private message', 'post_liked', { 'like.post.topic_archetype': 'private_message' }],
  ['system user', 'post_created', { 'post.user_id': -1 }],
  ['reply of a bot', 'post_created', { 'post.user_id': -110, 'post.username': 'gpt4_bot' }],
  ['topic of a bot', 'topic_created', { 'topic.created_by.id': -110 }],
  ['recovered reply of a bot', 'post_recovered', { 'post.user_id': -1201 }],
  ['recovered reply of a deleted account', 'post_recovered', { 'post.user_id': null }],
  ['recovered topic of a deleted account', 'topic_recovered', { 'topic.created_by': null }],
  ['like of a bot', 'post_liked', { 'like.user.id': -110 }],
  ['unlisted topic', 'topic_created', { 'topic.visible': false }],
  ['topic of a restricted category', 'topic_created', { 'topic.category_id': 3 }],
  ['reply in a restricted category', 'post_created', { 'post.category_id': 3 }],
  ['like in a restricted category', 'post_liked', { 'like.post.category_id': 3 }],
  ['solution in a restricted category', 'accepted_solution', { 'solved.category_id': 3 }],
  ['solution of a bot', 'accepted_solution', { 'solved.user_id': -110 }],
  ['vote of a bot', 'topic_upvote', { 'topic_voting.voter_id': -110 }],
  ['ping', 'ping', {}],
]) {
  it(`${name} answers 204`, async () => {
    assert.equal((await deliver(app, event, body(event, values))).status, 204)
  })
}

it('solution and vote count until withdrawn', async () => {
  for (const [event, undo, user, points, ids] of [
    ['accepted_solution', 'unaccepted_solution', 510, 15, { 'solved.user_id': 510, 'solved.id': 5510 }],
    ['topic_upvote', 'topic_unvote', 520, 2, { 'topic_voting.voter_id': 520, 'topic_voting.topic_id': 5520 }],
  ]) {
    assert.deepEqual(await thrice(app, event, body(event, ids)), ONCE)
    assert.equal(await app.rank.score(`discourse:${user}`), points)
    assert.deepEqual(await thrice(app, undo, body(undo, ids)), UNDONE_ONCE)
    assert.equal(await app.rank.score(`discourse:${user}`), 0)
  }
  const ids = { 'solved.user_id': 510, 'solved.id': 5510 }
  assert.equal(await outcomes(app, 'accepted_solution', body('accepted_solution', ids)), 'counted')
})

it('suspended user is hidden until the suspension ends', async () => {
  const state = async () => {
    const { hidden, frozen } = await read(app, '/v1/users/discourse:530/moderation')
    return { hidden, frozen }
  }
  assert.equal(
    await outcomes(app, 'post_created', body('post_created', { 'post.user_id': 530, 'post.id': 5530 })),
    'counted',
  )
  const user = { 'user.id': 530 }
  for (const [event, hidden] of [
    ['user_suspended', true],
    ['user_unsuspended', false],
  ]) {
    for (let time = 0; time < 2; time++) {
      const response = await deliver(app, event, body(event, user))
      assert.deepEqual([response.status, response.body], [200, { results: [] }])
      assert.deepEqual(await state(), { hidden, frozen: false })
    }
  }
  const { entries } = await read(app, '/v1/moderation')
  const reasons = entries
    .filter(({ user }) => user?.id === 'discourse:530')
    .map(({ action, reason }) => [action, reason])
  assert.deepEqual(reasons, [
    ['unhide', 'The event user_unsuspended of a webhook'],
    ['hide', 'The event user_suspended of a webhook'],
  ])
})

it('destroyed user is erased', async () => {
  const reply = body('post_created', { 'post.user_id': 540, 'post.id': 5540 })
  assert.equal(await outcomes(app, 'post_created', reply), 'counted')
  assert.equal((await deliver(app, 'user_destroyed', body('user_destroyed', { 'user.id': 540 }))).status, 200)
  assert.deepEqual([await app.rank.score('discourse:540'), await read(app, '/v1/users/discourse:540')], [0, 404])
})

it('log says that no category is public at first', async (t) => {
  const mapping = JSON.parse(readFileSync(new URL('../../recipes/discourse/mapping.json', import.meta.url), 'utf8'))
  assert.deepEqual(mapping.categories, [])
  const log = t.mock.method(console, 'log', () => {})
  const text = JSON.stringify(body('topic_created'))
  const headers = { 'content-type': 'application/json', ...SIGN.discourse(text, 'topic_created') }
  const request = new Request('https://worker.example.com', { method: 'POST', headers, body: text })
  const { status } = await receiver(discourse, mapping).fetch(request, { DISCOURSE_SECRET: SECRET })
  const [line] = log.mock.calls.map(({ arguments: [line] }) => line)
  assert.deepEqual(
    [status, line],
    [204, 'topic_created counts nothing: the content is private by `private` and `categories` of mapping.json.'],
  )
})

it('bot receives no points of an author', async () => {
  const ids = { 'like.user.id': 310, 'like.post.user_id': -110, 'like.post.id': 5310 }
  assert.equal(await outcomes(app, 'post_liked', body('post_liked', ids)), 'counted')
  await assertScore(app, '/v1/authors/all/users/discourse:-110', 0)
  assert.equal((await read(app, '/v1/targets/discourse:post:5310')).author, undefined)
})

/** A limit that the document of the recipe states: Discourse sends no events for the replies. */
it('replies of a deleted topic keep their points', async () => {
  const topic = { 'topic.id': 9901, 'topic.created_by.id': 71 }
  const reply = { 'post.id': 99102, 'post.topic_id': 9901, 'post.user_id': 72 }
  assert.equal(await outcomes(app, 'topic_created', body('topic_created', topic)), 'counted')
  assert.equal(await outcomes(app, 'post_created', body('post_created', reply)), 'counted')
  assert.equal(await outcomes(app, 'topic_destroyed', body('topic_destroyed', topic)), 'undone')
  assert.deepEqual([await app.rank.score('discourse:71'), await app.rank.score('discourse:72')], [0, 3])
})

/** A post is given to another account before it is deleted: the payload names the owner of then. */
it('deleted post takes points from who received them', async (t) => {
  const app = await startReceiver('discourse', { mapping: PUBLIC, databases: true })
  t.after(() => app.stop())
  const ids = (user) => ({ 'post.id': 88002, 'post.user_id': user })
  assert.deepEqual(await thrice(app, 'post_created', body('post_created', ids(31))), ONCE)
  const deleted = await deliver(app, 'post_destroyed', body('post_destroyed', ids(32)))
  const results = [{ user: 'discourse:31', outcome: 'undone', points: -3 }]
  assert.deepEqual([deleted.status, deleted.body], [200, { results }])
  assert.equal(await outcomes(app, 'post_destroyed', body('post_destroyed', ids(32))), 'nothing-to-undo')
  assert.deepEqual([await app.rank.score('discourse:31'), await app.rank.score('discourse:32')], [0, 0])
  // Discourse repeats a failed delivery: the creation may arrive after the deletion.
  const late = { 'post.id': 88003, 'post.user_id': 33 }
  assert.equal(await outcomes(app, 'post_destroyed', body('post_destroyed', late)), 'nothing-to-undo')
  assert.equal(await outcomes(app, 'post_created', body('post_created', late)), 'stale')
})

it('unsigned delivery is refused', async () => {
  const { status } = await deliver(app, 'post_created', body('post_created', { 'post.user_id': 500 }), {
    headers: { 'x-discourse-event': 'post_created' },
  })
  assert.deepEqual([status, await app.rank.score('discourse:500')], [401, 0])
})
