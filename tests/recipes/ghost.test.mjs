// The receiver of webhooks from Ghost.

import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'

import { experimental_readRawConfig } from 'wrangler'

import { listen } from '../sdk/listen.mjs'
import { HANG } from '../server-sdk/support.mjs'
import { blocksOf } from './commands.mjs'
import { deliver, ONCE, outcomes, payload, points, read, SIGN, startReceiver, thrice, UNDONE_ONCE } from './support.mjs'

let app
before(async () => {
  app = await startReceiver('ghost')
})
after(() => app?.stop())

const PUBLISHED = 'post.published'
const current = (author, post, values = {}) => ({
  'post.current.id': post,
  'post.current.primary_author.id': author,
  ...values,
})
const body = (event, values = {}) => payload('ghost', event, values)

it('post delivered three times counts once', async () => {
  assert.deepEqual(await thrice(app, PUBLISHED, body(PUBLISHED, current('a1', 'p1'))), ONCE)
  assert.deepEqual(await points(app, 'ghost:a1'), [
    { at: '2025-11-03T10:00:00Z', action: 'publish', target: 'ghost:post:p1', points: 10 },
  ])
  assert.deepEqual(await read(app, '/v1/users/ghost:a1'), {
    id: 'ghost:a1',
    name: 'Ada Lovelace',
    avatar: 'https://blog.example.com/content/images/ada.jpg',
    url: 'https://blog.example.com/author/ada/',
  })
  assert.deepEqual(await read(app, '/v1/targets/ghost:post:p1'), {
    id: 'ghost:post:p1',
    title: 'Sketch of the engine',
    url: 'https://blog.example.com/sketch-of-the-engine/',
    image: 'https://blog.example.com/content/images/engine.jpg',
    author: 'ghost:a1',
  })
})

it('post created as published and newsletter count', async () => {
  const created = body(PUBLISHED, current('a2', 'p2', { 'post.previous': {} }))
  assert.equal(await outcomes(app, PUBLISHED, created), 'counted')
  const sent = body(PUBLISHED, current('a3', 'p3', { 'post.current.status': 'sent' }))
  assert.equal(await outcomes(app, PUBLISHED, sent), 'counted')
})

it('unpublished post loses its points', async () => {
  const published = body(PUBLISHED, current('a4', 'p4'))
  assert.equal(await outcomes(app, PUBLISHED, published), 'counted')
  const unpublished = body('post.unpublished', current('a4', 'p4'))
  assert.deepEqual(await thrice(app, 'post.unpublished', unpublished), UNDONE_ONCE)
  assert.equal(await outcomes(app, PUBLISHED, published), 'stale')
  const again = body(PUBLISHED, current('a4', 'p4', { 'post.current.updated_at': '2025-11-05T10:00:00.000Z' }))
  assert.deepEqual(await thrice(app, PUBLISHED, again), ONCE)
  assert.equal(await app.rank.score('ghost:a4'), 10)
})

it('deleted post loses its points', async () => {
  assert.equal(await outcomes(app, PUBLISHED, body(PUBLISHED, current('a5', 'p5'))), 'counted')
  const deleted = body('post.deleted', { 'post.previous.id': 'p5', 'post.previous.authors.0.id': 'a5' })
  assert.deepEqual(await thrice(app, 'post.deleted', deleted), UNDONE_ONCE)
  assert.equal(await app.rank.score('ghost:a5'), 0)
})

/** The primary author of a post may change while it is published. */
it('deleted post takes points from its first author', async (t) => {
  const app = await startReceiver('ghost', { databases: true })
  t.after(() => app.stop())
  assert.equal(await outcomes(app, PUBLISHED, body(PUBLISHED, current('a8', 'p8'))), 'counted')
  const deleted = body('post.deleted', { 'post.previous.id': 'p8', 'post.previous.authors.0.id': 'a9' })
  assert.equal(await outcomes(app, 'post.deleted', deleted), 'undone')
  assert.deepEqual([await app.rank.score('ghost:a8'), await app.rank.score('ghost:a9')], [0, 0])
})

/** Returns the variables of the document, with the keys of Ghost at another address. */
function documentVars(t, keys) {
  const folder = mkdtempSync(join(tmpdir(), 'ghost-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'wrangler.toml')
  writeFileSync(file, blocksOf('recipes/ghost/README.md', 'toml')[0])
  const { vars } = experimental_readRawConfig({ config: file }).rawConfig
  assert.equal(vars.JWKS_URL, 'https://blog.example.com/members/.well-known/jwks.json')
  return { ...vars, JWKS_URL: keys, JWT_SECRET: undefined }
}

it('member has the id of the token, until deleted', async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'members', use: 'sig' }
  const keys = await listen((_, response) => response.end(JSON.stringify({ keys: [jwk] })))
  t.after(keys.stop)
  const app = await startReceiver('ghost', { vars: documentVars(t, `${keys.url}/`) })
  t.after(() => app.stop())
  // The claims of Ghost's tokens.
  const token = (claims) => {
    const [now, site] = [Math.floor(Date.now() / 1000), 'https://blog.example.com/members/api']
    const all = { sub: 'grace@example.com', kid: 'members', ...claims, iat: now, exp: now + 300, aud: site, iss: site }
    const parts = [{ alg: 'RS512', typ: 'JWT', kid: 'members' }, all]
    const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
    return `${signed}.${sign('sha512', Buffer.from(signed), privateKey).toString('base64url')}`
  }
  const uuid = '0b8f1f3e-2d4c-4e1a-9b7d-5f6e7a8b9c0d'
  const like = { user: `ghost:member:${uuid}`, action: 'like', target: 'ghost:post:p1' }
  const send = async (bearer) => {
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
    const response = await fetch(`${app.rank.url}/v1/activity`, { method: 'POST', headers, body: JSON.stringify(like) })
    return response.status
  }
  assert.equal(await send(token({ scope: 'members:identity' })), 403)
  const entitlements = { scope: 'members:entitlements:read', member_uuid: uuid, paid: false, active_tier_ids: [] }
  assert.equal(await send(token(entitlements)), 200)
  assert.equal(await app.rank.score(like.user), 2)
  const { status, body: response } = await deliver(app, 'member.deleted', body('member.deleted'))
  assert.deepEqual([status, response, await app.rank.score(like.user)], [200, { results: [] }, 0])
})

it('deployment that does not respond answers 503', async () => {
  app.fault = () => HANG
  const { status } = await deliver(app, PUBLISHED, body(PUBLISHED, current('a7', 'p7')))
  app.fault = () => undefined
  assert.deepEqual([status, await app.rank.score('ghost:a7')], [503, 0])
})

for (const [name, event, values] of [
  ['edited post', 'post.published.edited', {}],
  ['draft', PUBLISHED, { 'post.current.status': 'draft', 'post.previous': {} }],
  ['post for members', PUBLISHED, { 'post.current.visibility': 'members' }],
  ['post for paying members', PUBLISHED, { 'post.current.visibility': 'paid' }],
  ['post for a tier', PUBLISHED, { 'post.current.visibility': 'tiers' }],
  ['deleted draft', 'post.deleted', { 'post.previous.status': 'draft' }],
  ['member', 'member.added', {}],
]) {
  it(`${name} answers 204`, async () => {
    assert.equal((await deliver(app, event, body(event, values))).status, 204)
  })
}

const text = JSON.stringify(body(PUBLISHED, current('a6', 'p6')))
const valid = SIGN.ghost(text)['x-ghost-signature']
for (const [name, signature] of [
  ['six minutes old', SIGN.ghost(text, PUBLISHED, Date.now() - 360_000)['x-ghost-signature']],
  ['with another instant', valid.replace(/\d{3}$/, '000x').replace('x', '')],
  ['without its instant', valid.split(',')[0]],
]) {
  it(`signature ${name} is refused`, async () => {
    const { status } = await deliver(app, PUBLISHED, text, { headers: { 'x-ghost-signature': signature } })
    assert.deepEqual([status, await app.rank.score('ghost:a6')], [401, 0])
  })
}
