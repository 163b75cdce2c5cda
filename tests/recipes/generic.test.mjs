// The receiver of webhooks that follow the Standard Webhooks specification.

import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'

import { generic } from '../../recipes/receiver/generic.js'
import { parse } from '../../recipes/receiver/receiver.js'
import {
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
  app = await startReceiver('generic')
})
after(() => app?.stop())

const LIKED = 'photo.liked'
const body = (event, member) => payload('generic', event, { 'data.member.id': member })

it('event delivered three times counts once', async () => {
  assert.deepEqual(await thrice(app, LIKED, body(LIKED, 'u1')), ONCE)
  assert.deepEqual(await points(app, 'u1'), [
    { at: '2025-11-03T10:00:00Z', action: 'like', target: 'photo-7', points: 2 },
  ])
  assert.deepEqual(await read(app, '/v1/users/u1'), { id: 'u1', name: 'Ada' })
  assert.deepEqual(await read(app, '/v1/targets/photo-7'), {
    id: 'photo-7',
    title: 'Sunrise',
    url: 'https://photos.example.com/7',
    author: '9',
  })
})

/** Svix, which many services send with, gives the headers of the specification names of its own. */
it('event with the headers of Svix counts once', async () => {
  const text = JSON.stringify(body(LIKED, 'user_2abcDEF'))
  const svix = (headers) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.replace('webhook', 'svix'), value]))
  const headers = svix(SIGN.generic(text))
  assert.deepEqual(Object.keys(headers), ['svix-id', 'svix-timestamp', 'svix-signature'])
  for (const outcome of ONCE) {
    const { status, body } = await deliver(app, LIKED, text, { headers })
    assert.deepEqual([status, body.results.map(({ outcome }) => outcome)], [200, [outcome]])
  }
  for (const changed of [{ 'svix-id': 'msg_2' }, { 'svix-timestamp': '1' }, { 'svix-signature': 'v1,AAAA' }]) {
    assert.equal((await deliver(app, LIKED, text, { headers: { ...headers, ...changed } })).status, 401)
  }
})

it('undo delivered three times takes the points once', async () => {
  assert.equal(await outcomes(app, LIKED, body(LIKED, 'u2')), 'counted')
  assert.deepEqual(await thrice(app, 'photo.unliked', body('photo.unliked', 'u2')), UNDONE_ONCE)
  assert.equal(await outcomes(app, LIKED, body(LIKED, 'u2')), 'stale')
})

/** Databases make ids of the time, and JavaScript rounds them. */
it('integers above 2^53 keep their digits', async () => {
  for (const [member, photo] of [
    ['1234567890123456781', '71'],
    ['1234567890123456782', '71'],
    ['7', '1234567890123456789'],
    ['7', '1234567890123456790'],
  ]) {
    const event = payload('generic', LIKED, { 'data.member.id': 'MEMBER', 'data.photo.id': 'PHOTO' })
    const text = JSON.stringify(event).replace('"MEMBER"', member).replace('"PHOTO"', photo)
    assert.equal(await outcomes(app, LIKED, text), 'counted')
    assert.ok((await points(app, member)).some(({ target }) => target === `photo-${photo}`))
  }
  const text = '{"a":"1 \\"12345678901234567890","b":[-12345678901234567890,0.1234567890123456,1e30,42]}'
  const b = ['-12345678901234567890', 0.1234567890123456, 1e30, 42]
  assert.deepEqual(parse(new TextEncoder().encode(text)), { a: '1 "12345678901234567890', b })
})

it('secret is base64, also with v1 before it', async () => {
  const text = JSON.stringify(body(LIKED, 'u6'))
  const delivery = { headers: new Headers(SIGN.generic(text)), body: new TextEncoder().encode(text), now: Date.now() }
  assert.equal(await generic.verify({ ...delivery, secret: `v1,${SECRET}` }), true)
  const detail =
    'WEBHOOK_SECRET must be `whsec_` and the base64 of at least 24 random bytes: echo "whsec_$(openssl rand -base64 32)"'
  for (const secret of ['correct horse battery staple', 'password', 'whsec_']) {
    await assert.rejects(
      async () => generic.verify({ ...delivery, secret }),
      ({ document }) => document.status === 500 && document.detail === detail,
    )
  }
})

it('one valid signature of several suffices', async () => {
  const text = JSON.stringify(body(LIKED, 'u3'))
  const headers = SIGN.generic(text)
  headers['webhook-signature'] = `v1,AAAA v2,x ${headers['webhook-signature']}`
  assert.equal((await deliver(app, LIKED, text, { headers })).status, 200)
})

const text = JSON.stringify(body(LIKED, 'u4'))
for (const [name, headers] of [
  ['six minutes old', SIGN.generic(text, LIKED, Date.now() - 360_000)],
  ['of another message', { ...SIGN.generic(text), 'webhook-id': 'msg_other' }],
  ['of another scheme', { ...SIGN.generic(text), 'webhook-signature': 'v1a,AAAA' }],
  ['that is not base64', { ...SIGN.generic(text), 'webhook-signature': 'v1,%' }],
]) {
  it(`signature ${name} is refused`, async () => {
    const { status } = await deliver(app, LIKED, text, { headers })
    assert.deepEqual([status, await app.rank.score('u4')], [401, 0])
  })
}

for (const user of ['white space', '.']) {
  it(`user id "${user}" is refused as the API refuses it`, async () => {
    const { status, body: problem } = await deliver(app, LIKED, body(LIKED, user))
    assert.deepEqual([status, problem.type], [400, '/problems/invalid-request'])
  })
}

it('activity with a refused title counts', async () => {
  const titled = payload('generic', LIKED, {
    'data.member.id': 'u5',
    'data.photo.title': 'a\u202eb',
    'data.photo.id': 8,
  })
  assert.equal(await outcomes(app, LIKED, titled), 'counted')
  assert.equal(await read(app, '/v1/targets/photo-8'), 404)
})

it('event without a type answers 204', async () => {
  assert.equal((await deliver(app, LIKED, { data: {} })).status, 204)
})
