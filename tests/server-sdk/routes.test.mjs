// Each operation of the API, called once with the npm package.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'

import { Client, userToken } from '../../sdk/js/src/index.js'
import { scaled } from '../sdk/slowness.mjs'
import { JWT_SECRET, KEY, startApp } from './support.mjs'

const SVG = /^<svg/
const HTML = /^<!doctype html>/i
const HOUR = 3_600_000 // ms
const EVENT = {
  title: 'Hackathon',
  from: new Date(Date.now() + HOUR).toISOString(),
  to: new Date(Date.now() + 2 * HOUR).toISOString(),
}

let app
/** @type {Client} */
let rank
before(async () => {
  app = await startApp({
    live: true,
    databases: true,
    vars: {
      CONTENT_PERIODS: 'day,all',
      PLAYGROUND: true,
      BADGE_KEY: JSON.stringify(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })),
      BADGE_ISSUER: 'https://rank.example.com',
      FAIR_PLAY: '{}',
      WEBHOOKS: JSON.stringify([{ url: 'http://127.0.0.1:1', secret: `whsec_${'A'.repeat(32)}` }]),
    },
  })
  rank = app.client
})
after(() => app?.stop())

/** In any time zone, a day that a pause may have. */
const TOMORROW = new Date(Date.now() + 2 * 864e5).toISOString().slice(0, 10)

/**
 * Called in this order: an operation, its arguments, and a part of the result, a pattern, or the status of the error.
 * @type {[operation: string, args: object, expected: any][]}
 */
const CALLS = [
  ['putTarget', { target: 'posts/7', body: { author: '9', title: 'A title' } }, { id: 'posts/7', author: '9' }],
  ['putTargets', { body: [{ id: 'post-8', title: 'Another' }] }, { results: [{ id: 'post-8' }] }],
  ['putProfile', { user: '42', body: { name: 'Ada', public_activity: true } }, { id: '42', name: 'Ada' }],
  ['putProfiles', { body: [{ id: '7', name: 'Bob' }] }, { results: [{ id: '7', name: 'Bob' }] }],
  ['countActivity', { body: { user: '42', action: 'like', target: 'posts/7' } }, { outcome: 'counted', points: 2 }],
  [
    'countActivity',
    { body: [{ user: '7', action: 'visit', target: '/' }] },
    { results: [{ outcome: 'counted', points: 1 }] },
  ],
  ['countActivity', { body: { action: 'like', target: 'nothing', undo: true } }, { results: [] }],
  [
    'getBoard',
    { period: 'day', limit: 1 },
    { total: 2, entries: [{ rank: 1, score: 2, user: { id: '42', name: 'Ada' } }] },
  ],
  ['watchBoard', { period: 'day', limit: 1 }, { total: 2, entries: [{ rank: 1, user: { id: '42' } }] }],
  ['getWinners', { period: 'day' }, { boards: [] }],
  ['getStanding', { period: 'day', user: '7', around: 1 }, { rank: 2, score: 1, next: { points: 2 } }],
  ['compareStandings', { period: 'day', ids: ['7', '42'] }, { entries: [{ rank: 1 }, { rank: 2, user: { id: '7' } }] }],
  ['listEvents', {}, { events: [] }],
  ['putEvent', { event: 'hackathon', body: EVENT }, { id: 'hackathon', state: 'coming' }],
  ['getEvent', { event: 'hackathon' }, { title: 'Hackathon' }],
  ['getEventBoard', { event: 'hackathon' }, { total: 0, entries: [] }],
  ['watchEventBoard', { event: 'hackathon' }, { total: 0, entries: [] }],
  ['getEventStanding', { event: 'hackathon', user: '42' }, { rank: null, score: 0 }],
  ['compareEventStandings', { event: 'hackathon', ids: ['42'] }, { entries: [{ position: null }] }],
  ['recountEvent', { event: 'hackathon', body: {} }, { event: { id: 'hackathon' } }],
  ['deleteEvent', { event: 'hackathon' }, undefined],
  ['getRules', {}, { locked: false, rules: { like: { points: 2 } } }],
  [
    'publishRules',
    { body: { rules: { like: { points: 3 } }, reason: 'A test' } },
    { version: 1, state: 'coming', changes: [{ action: 'like', field: 'points', after: 3 }] },
  ],
  ['takeBackRules', { version: 1, reason: 'A test' }, { version: 1 }],
  [
    'previewRules',
    { body: { rules: { like: { points: 3 } }, from: new Date(Date.now() - 864e5).toISOString() } },
    { preview: null },
  ],
  ['getRulesPreview', {}, { preview: null }],
  ['cancelRulesPreview', {}, { preview: null }],
  ['getContentBoard', { period: 'day' }, { entries: [{ score: 2, target: { id: 'posts/7' }, author: { id: '9' } }] }],
  ['createVisitor', { body: {} }, 404],
  ['listCounts', { targets: ['posts/7'] }, 404],
  ['getHotTargets', {}, { entries: [{ target: { id: 'posts/7' } }] }],
  ['watchContentBoard', { period: 'day' }, { entries: [{ score: 2, target: { id: 'posts/7' } }] }],
  ['getTargetStanding', { period: 'day', target: 'posts/7' }, { rank: 1, score: 2 }],
  ['getAuthorsBoard', { period: 'day' }, { entries: [{ score: 2, user: { id: '9' } }] }],
  ['watchAuthorsBoard', { period: 'day' }, { entries: [{ score: 2, user: { id: '9' } }] }],
  ['getAuthorStanding', { period: 'day', user: '9' }, { rank: 1, score: 2 }],
  ['getTarget', { target: 'posts/7' }, { id: 'posts/7', title: 'A title' }],
  ['listUserTargets', { user: '9' }, { entries: [{ target: { id: 'posts/7' }, score: 2 }] }],
  ['putTargetModeration', { target: 'post-8', body: { hidden: true, reason: 'Spam' } }, { hidden: true }],
  ['getTargetModeration', { target: 'post-8' }, { hidden: true }],
  ['deleteTarget', { target: 'post-8' }, undefined],
  [
    'getHistory',
    { user: '42', days: 1 },
    { days: [{ points: 2, actions: { like: { count: 1 } } }], streak: { current: 1 } },
  ],
  [
    'listDone',
    { user: '42', action: 'like', targets: ['posts/7', 'a,b%'] },
    { targets: [{ done: true }, { target: 'a,b%', done: false }] },
  ],
  ['listStandings', { user: '42', movement: true }, { standings: { day: { rank: 1, score: 2 } } }],
  ['getProfile', { user: '42' }, { id: '42', name: 'Ada', public_activity: true }],
  ['listPoints', { user: '42', limit: 5 }, { entries: [{ action: 'like', points: 2 }] }],
  ['listAchievements', { lang: 'de' }, { achievements: [] }],
  ['getAchievements', { user: '42' }, { user: { id: '42' }, achievements: [] }],
  ['awardAchievement', { user: '42', achievement: 'voter', body: { reason: 'A prize' } }, 404],
  ['withdrawAchievement', { user: '42', achievement: 'voter', step: 3 }, 404],
  ['getCredential', { user: '42', achievement: 'commenter', step: '10' }, 404],
  ['getIssuer', {}, { type: ['Profile'] }],
  ['getIssuerKeys', {}, { keys: [{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA' }] }],
  ['getIssuerKey', { key: 'other' }, 404],
  ['getCard', { user: '42' }, { user: { id: '42' }, standings: { day: { rank: 1 } } }],
  ['getCardPicture', { user: '42', theme: 'dark', lang: 'zh-Hans' }, SVG],
  ['getBadge', { user: '42' }, SVG],
  ['putPause', { user: '42', body: { from: TOMORROW, until: TOMORROW } }, { pauses: [{ from: TOMORROW }] }],
  ['listPauses', { user: '42' }, { user: { id: '42' }, pauses: [{ until: TOMORROW }] }],
  ['deletePauses', { user: '42', from: TOMORROW }, undefined],
  ['getToken', {}, 403],
  ['putAccount', { user: '43', body: { of: '42' } }, { account_of: '42' }],
  ['getAccount', { user: '42' }, { account_of: null, accounts: ['43'] }],
  ['deleteAccount', { user: '43' }, undefined],
  ['adjustPoints', { user: '42', body: { id: 'case-1', points: 5, reason: 'A prize' } }, { points: 5 }],
  [
    'putModeration',
    { user: '7', body: { hidden: true, frozen: false, reason: 'Spam' } },
    { hidden: true, frozen: false },
  ],
  ['getModeration', { user: '7' }, { hidden: true, frozen: false }],
  ['getAudit', { limit: 1 }, { entries: [{ action: 'hide', user: { id: '7' } }] }],
  ['getJournal', { limit: 1 }, { entries: [{}] }],
  ['searchCases', {}, { complete: true, opened: 0, updated: 0 }],
  ['listCases', { state: 'open' }, { cases: [], next: null }],
  ['openCase', { body: { members: ['7', '9'], reason: 'Said by members' } }, { kind: 'manual', members: ['7', '9'] }],
  ['getCase', { id: `case_${'0'.repeat(16)}` }, 404],
  ['putCase', { id: `case_${'0'.repeat(16)}`, body: { state: 'dismissed', reason: 'A team' } }, 404],
  ['listDeliveries', { state: 'pending' }, { deliveries: [] }],
  ['retryDelivery', { id: `msg_${'0'.repeat(32)}` }, 404],
  [
    'putSync',
    { source: 'github/acme', body: { state: 'done', differences: 0, refused: { 'own-target': 41 } } },
    { source: 'github/acme', differences: 0, mended: 0, refused: { 'own-target': 41 } },
  ],
  ['listSyncs', {}, { syncs: [{ source: 'github/acme', state: 'done' }] }],
  ['deleteSync', { source: 'github/acme' }, undefined],
  ['getStats', {}, { timezone: 'UTC', days: [{ active: 1 }] }],
  ['getStatus', {}, { store: { circuit: 'closed' } }],
  ['getMetrics', {}, /^activity_rank_store_up 1$[\s\S]*# EOF\n$/m],
  ['getDigest', { week: '2026-W01' }, { period: { id: '2026-W01' }, total: 0 }],
  ['getAtomFeed', {}, /<feed /],
  ['getJsonFeed', {}, { items: [] }],
  ['getHealth', {}, { status: 'ok' }],
  ['getOpenApi', {}, { openapi: '3.1.0' }],
  ['getPage', {}, HTML],
  ['getManifest', {}, { display: 'minimal-ui' }],
  ['getMemberPage', { user: '42' }, HTML],
  ['getRecapPage', { user: '42', period: '2026' }, HTML],
  ['getSharePicture', { user: '42' }, /^<svg /],
  ['getStatusPage', {}, HTML],
  ['getPlayground', {}, HTML],
  ['getAdminPage', {}, HTML],
  ['getGallery', {}, HTML],
  ['getDocs', {}, HTML],
  ['eraseUser', { user: '42' }, undefined],
]

/** Returns the result of a method: of an event stream its first board. */
async function call(operation, args) {
  const result = rank[operation](args, { signal: AbortSignal.timeout(scaled(20_000)) })
  if (!operation.startsWith('watch')) return result
  for await (const board of result) return board
}

it('every operation has a method', () => {
  const { paths } = JSON.parse(readFileSync(new URL('../../web/openapi.json', import.meta.url), 'utf8'))
  const ids = Object.values(paths).flatMap((item) => Object.values(item).flatMap(({ operationId = [] }) => operationId))
  assert.deepEqual(
    ids.filter((id) => typeof (/** @type {any} */ (rank)[id]) !== 'function'),
    [],
  )
  assert.deepEqual([...new Set(CALLS.map(([id]) => id))].toSorted(), ids.toSorted())
})

for (const [operation, args, expected] of CALLS) {
  it(operation, async () => {
    if (typeof expected === 'number') {
      await assert.rejects(call(operation, args), { name: 'ApiError', status: expected })
      return
    }
    let result = await call(operation, args)
    // Targets and authors receive after the response.
    const received = /Content|Author|Hot/.test(operation) && expected.entries
    for (let left = 200; received && left > 0 && !result.entries.length; left--) {
      await setTimeout(50)
      result = await call(operation, args)
    }
    if (expected instanceof RegExp) assert.match(result, expected)
    else if (expected === undefined) assert.equal(result, undefined)
    else assert.partialDeepStrictEqual(result, expected, JSON.stringify(result))
  })
}

it('request returns status and headers', async () => {
  const first = await rank.request('getBoard', { period: 'all' })
  assert.equal(first.status, 200)
  const etag = first.headers.get('etag')
  assert.ok(etag)
  const second = await rank.request('getBoard', { period: 'all' }, { headers: { 'if-none-match': etag } })
  assert.deepEqual([second.status, second.body], [304, undefined])
})

it('preferences are passed on', async () => {
  const like = { user: '50', action: 'like', target: 'posts/7' }
  const minimal = await rank.countActivity({ body: like }, { headers: { prefer: 'return=minimal' } })
  assert.deepEqual(minimal, { outcome: 'counted', points: 2 })
})

it('event stream follows changes until it is left', async () => {
  const period = 'all'
  const totals = []
  for await (const { entries } of rank.watchBoard({ period, limit: 100 })) {
    const { score } = entries.find(({ user }) => user.id === '60') ?? { score: 0 }
    totals.push(score)
    if (score === 2) break
    await rank.countActivity({ body: { user: '60', action: 'visit', target: `/${totals.length}` } })
  }
  assert.deepEqual(totals, [0, 1, 2])
})

it('aborted event stream rejects with the reason', async () => {
  const controller = new AbortController()
  const reason = new Error('The server stops.')
  const boards = rank.watchBoard({ period: 'year' }, { signal: controller.signal })
  await boards.next()
  const next = boards.next()
  controller.abort(reason)
  await assert.rejects(next, (error) => error === reason)
})

it('refused event stream rejects', async () => {
  await assert.rejects(rank.watchContentBoard({ period: 'week' }).next(), { status: 404 })
})

it('user token acts for its user alone', async () => {
  const token = await userToken({ secret: JWT_SECRET, user: 70, name: 'Grüße', expiresIn: 60 })
  const options = { token }
  const body = { user: '70', action: 'like', target: 'posts/7' }
  assert.equal((await rank.countActivity({ body }, options)).outcome, 'counted')
  assert.equal((await rank.getProfile({ user: '70' })).name, 'Grüße')
  await assert.rejects(rank.countActivity({ body: { ...body, user: '71' } }, options), { status: 403 })
  await assert.rejects(rank.getStatus({}, options), { status: 403 })
})

it('user token expires', async () => {
  const body = { user: '70', action: 'like', target: 'posts/7' }
  // The service allows 60 seconds of clock difference.
  const token = await userToken({ secret: JWT_SECRET, user: '70', claims: { exp: 0, nbf: Date.now() / 1000 + 3600 } })
  await assert.rejects(rank.countActivity({ body }, { token }), { status: 401 })
  const forged = await userToken({ secret: `${JWT_SECRET}!`, user: '70' })
  await assert.rejects(rank.countActivity({ body }, { token: forged }), { status: 401 })
})

it('user token has the claims it was given', async () => {
  const started = Math.floor(Date.now() / 1000)
  const audience = ['a', 'b']
  const claims = { groups: ['eu'], sub: 'other' }
  const token = await userToken({ secret: JWT_SECRET, user: '70', expiresIn: 10, issuer: 'shop', audience, claims })
  const [header, payload] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString())
  const { exp, ...rest } = JSON.parse(payload ?? '')
  assert.deepEqual(
    [JSON.parse(header), rest],
    [
      { alg: 'HS256', typ: 'JWT' },
      { groups: ['eu'], sub: '70', iss: 'shop', aud: ['a', 'b'] },
    ],
  )
  assert.ok(exp >= started + 10 && exp <= Date.now() / 1000 + 10)
})

const INTEGER = '`user` must be a string or an integer below 2^53.'

/** Another number stands for several ids. */
it('number that is no integer names no user', async () => {
  const client = new Client({ url: app.url, key: KEY, retry: { attempts: 1 } })
  const like = { action: 'like', target: 'post-7' }
  for (const user of [1.5, 2 ** 53, Number.NaN]) {
    await assert.rejects(client.countActivity({ body: { user, ...like } }), { message: INTEGER })
    await assert.rejects(client.getProfile({ user: /** @type {any} */ (user) }), { message: INTEGER })
  }
  const user = /** @type {any} */ (61_001n)
  assert.equal((await client.countActivity({ body: [{ user, ...like }] })).results.length, 1)
  assert.equal((await client.getStanding({ period: 'all', user })).score, 2)
})

it('user token refuses what the service would refuse', async () => {
  const secret = JWT_SECRET
  await assert.rejects(userToken({ secret: 'short', user: '42' }), { message: '`secret` must have at least 32 bytes.' })
  for (const user of ['', '..', 'a b', 'x'.repeat(65)]) await assert.rejects(userToken({ secret, user }), TypeError)
  for (const user of [1.5, 2 ** 53, Number.NaN, true, null]) {
    await assert.rejects(userToken({ secret, user: /** @type {any} */ (user) }), { message: INTEGER })
  }
  for (const expiresIn of [0, Number.NaN])
    await assert.rejects(userToken({ secret, user: '42', expiresIn }), RangeError)
})
