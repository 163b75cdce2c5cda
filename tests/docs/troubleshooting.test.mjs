// docs/troubleshooting.md: its commands and messages, each in the state that its section describes.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'

import { eventually } from '../sdk/eventually.mjs'
import { startGateway } from '../sdk/support.mjs'
import { startApp } from '../web/support.mjs'
import { patternOf, ROOT, textOf } from './blocks.mjs'
import { JWT_SECRET, KEY, startDeployment } from './deployments.mjs'
import { Runner } from './runner.mjs'

const DOCUMENT = 'docs/troubleshooting.md'
const ADDRESS = 'https://activity-rank.example.com'
const PAGE = 'https://www.example.com'

const cleanups = []
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

/** Returns what a function returns, which is called at most once. */
function once(create) {
  let value
  return () => (value ??= create())
}

async function started(promise) {
  const thing = await promise
  cleanups.push(() => thing.stop())
  return thing
}

const stores = {
  running: once(() => started(startGateway())),
  /** A store that ends after its deployment has read a board. */
  ended: once(() => started(startGateway())),
  evicting: once(async () => {
    const store = await started(startGateway())
    await redis(store, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    return store
  }),
}

const redis = async (store, ...command) => execFileSync('redis-cli', ['-p', String(store.redisPort), ...command])

/** Returns the variables of a deployment with a store, complete but for what its symptom lacks. */
const variables = async (store, more = {}) => ({
  UPSTASH_REDIS_REST_URL: (await store()).url,
  UPSTASH_REDIS_REST_TOKEN: (await store()).token,
  SERVICE_KEYS: KEY,
  JWT_SECRET,
  ALLOWED_ORIGINS: PAGE,
  STORE_TIMEOUT_MS: 5000,
  ...more,
})

const deployments = {
  complete: once(async () => started(startDeployment(await variables(stores.running), { limit: 5 }))),
  bare: once(async () => {
    const { UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN } = await variables(stores.running)
    return started(startDeployment({ UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN, PREFIX: 'bare' }))
  }),
  /** With the time zone changed after the first activity. */
  moved: once(async () => {
    const { url } = await started(startDeployment(await variables(stores.running)))
    await count(url, 'first')
    return started(startDeployment(await variables(stores.running, { TIMEZONE: 'Europe/Berlin' })))
  }),
  evicting: once(async () => started(startDeployment(await variables(stores.evicting)))),
  /** With a user who has most of the points that a board can store. */
  full: once(async () => {
    const deployment = await started(startDeployment(await variables(stores.running, { PREFIX: 'full' })))
    const response = await fetch(`${deployment.url}/v1/users/42/adjustments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'a-gift', points: 7_000_000, reason: 'A test' }),
    })
    assert.equal(response.status, 200, await response.text())
    return deployment
  }),
  /** Without its store, with a queue. */
  outage: once(async () => {
    const vars = await variables(stores.ended, { BOARD_MAX_AGE: 1, STORE_TIMEOUT_MS: 2000 })
    const deployment = await started(startDeployment(vars, { queue: true }))
    await count(deployment.url, 'first')
    assert.equal((await fetch(`${deployment.url}/v1/ranking/day`)).status, 200)
    await (await stores.ended()).stop()
    await eventually(async () => (await (await fetch(`${deployment.url}/v1/ranking/day`)).json()).stale, true)
    return deployment
  }),
}

async function count(url, target) {
  const response = await fetch(`${url}/v1/activity`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ user: 'ada', action: 'like', target }),
  })
  assert.equal(response.status, 200, await response.text())
}

/** The deployment of each section with commands or log lines; `complete` for all others. */
const SECTIONS = {
  'A board says that updates are delayed': deployments.outage,
  'Activity is queued': deployments.outage,
  '500 misconfigured': deployments.moved,
  '503 store unavailable': deployments.outage,
  'Nothing is configured': deployments.bare,
  'The store evicts keys': deployments.evicting,
  'A score is near its maximum': deployments.full,
}
const deploymentOf = ({ section }) => (SECTIONS[section] ?? deployments.complete)()

const token = (user) =>
  execFileSync(join(ROOT, 'target/debug/activity-rank'), ['token', user], {
    env: { ...process.env, JWT_SECRET },
    encoding: 'utf8',
  }).trim()

it('messages equal the output of deployments', async (t) => {
  /** @type {import('./blocks.mjs').Block[]} */
  const inBrowser = []
  const runner = new Runner(DOCUMENT, {
    replacements: [],
    prepare: async (block) => [[ADDRESS, (await deploymentOf(block)).url]],
    example: async (block, pattern) => {
      if (block.section === 'An element shows only its fallback') return void inBrowser.push(block)
      const deployment = await deploymentOf(block)
      await eventually(async () => deployment.log().some((line) => pattern.test(line)), true).catch(() =>
        assert.fail(`${DOCUMENT}:${block.line}: the log has only\n${deployment.log().join('\n')}`),
      )
    },
    env: { KEY, TOKEN: token('42') },
  })
  t.after(() => runner.stop())
  await runner.run()

  // The console of a page of an origin that is not allowed, and of one that requests boards that do not exist.
  assert.equal(inBrowser.length, 2)
  const app = await started(startApp({ live: false, vars: { ALLOWED_ORIGINS: PAGE } }))
  const allowed = await started(startApp({ live: false }))
  for (const [index, { url, open, restored }] of [
    {
      url: app.url,
      open: (options) => app.open(t, '<activity-rank src="APP_URL"></activity-rank>', options),
      restored: app.pages,
    },
    {
      url: allowed.url,
      open: (options) => allowed.open(t, '<activity-rank src="APP_URL" of="content"></activity-rank>', options),
      restored: allowed.pages,
    },
  ].entries()) {
    const messages = []
    await open({ before: (page) => page.on('console', (message) => messages.push(message.text())) })
    const shown = () =>
      messages.map((text) => text.replaceAll(url, ADDRESS).replaceAll(restored, 'http://localhost:8080'))
    const pattern = patternOf(inBrowser[index].code)
    await eventually(() => shown().some((text) => pattern.test(text)), true).catch(() =>
      assert.fail(shown().join('\n')),
    )
  }
})

/** Returns the first cells of the table of a section, without its heading. */
function firstCells(section) {
  const [, after] = textOf(DOCUMENT).split(`### ${section}\n`)
  const rows = [...after.split('\n### ')[0].matchAll(/^\| (.*?) \|/gm)].map(([, cell]) => cell)
  return rows.slice(1)
}

describe('tables name real messages:', () => {
  const sign = (claims, header = { alg: 'HS256' }, secret = JWT_SECRET) => signed(claims, header, secret)
  const now = () => Math.floor(Date.now() / 1000)

  it('401', async () => {
    const { url } = await deployments.complete()
    const bare = await deployments.bare()
    const exp = now() + 900
    const requests = [
      [url, ''],
      [url, 'not-a-key'],
      [bare.url, 'not-a-key'],
      [url, sign({ sub: '42', exp: now() - 120 })],
      [url, sign({ sub: '42', exp, nbf: now() + 600 })],
      [url, sign({ sub: '42' })],
      [url, sign({ sub: '42', exp: exp * 1000 })],
      [url, sign({ sub: '42', exp }, { alg: 'HS256' }, 'another secret that is long enough')],
      [url, sign({ sub: '42', exp }, { alg: 'RS256' })],
      [url, 'a.b.c'],
    ]
    const details = await Promise.all(requests.map(([url, key]) => detailOf(url, key, { user: '42' }, 401)))
    assert.deepEqual(firstCells('401 unauthenticated'), details)
  })

  it('403', async () => {
    const vars = await variables(stores.running, { SERVICE_KEYS: `activity:${KEY}`, PREFIX: 'scopes' })
    const { url } = await started(startDeployment(vars))
    const details = [
      await detailOf(url, token('42'), { user: '43' }, 403),
      await detailOf(url, sign({ exp: now() + 900 }), { user: '42' }, 403),
      await detailOf(url, token('42'), { user: '42', action: 'publish' }, 403),
      (await (await fetch(`${url}/v1/status`, { headers: { authorization: `Bearer ${KEY}` } })).json()).detail,
    ]
    assert.deepEqual(firstCells('403 forbidden'), details)
  })

  it('503', async () => {
    const store = await started(startGateway())
    const { url, log } = await started(startDeployment(await variables(async () => store, { STORE_TIMEOUT_MS: 300 })))
    const causes = []
    const cause = async () => {
      const before = log().length
      const response = await fetch(`${url}/v1/users/42`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: '{"name":"Ada"}',
      })
      assert.equal(response.status, 503, await response.text())
      await eventually(() => log().length > before, true)
      return JSON.parse(log().at(-1) ?? '{}').cause
    }
    await redis(store, 'REPLICAOF', '127.0.0.1', '1')
    causes.push(await cause())
    await redis(store, 'REPLICAOF', 'NO', 'ONE')
    await redis(store, 'CONFIG', 'SET', 'maxmemory', '1')
    causes.push(await cause())
    await redis(store, 'CONFIG', 'SET', 'maxmemory', '0')
    await redis(store, 'CLIENT', 'PAUSE', '60000')
    for (let count = 0; count < 6; count++) causes.push(await cause())
    await store.stopRedis()
    const other = await started(startDeployment(await variables(async () => store)))
    const healthCause = async () => {
      assert.equal((await fetch(`${other.url}/healthz`)).status, 503)
      return JSON.parse(other.log().at(-1) ?? '{}').cause
    }
    await eventually(async () => (await healthCause())?.includes('redis is not reachable'), true)
    causes.push(await healthCause())
    await store.stop()
    await eventually(async () => (await healthCause())?.includes('Network connection lost'), true)
    causes.push(await healthCause())
    const named = firstCells('503 store unavailable').flatMap((cell) => cell.match(/`[^`]+`/g) ?? [])
    const known = named.map((text) => text.slice(1, -1))
    for (const cause of causes)
      assert.ok(
        known.some((text) => cause.includes(text)),
        `${cause}: ${known.join(' | ')}`,
      )
    assert.equal(new Set(causes.map((cause) => known.find((text) => cause.includes(text)))).size, 6)
  })
})

async function detailOf(url, key, { user, action = 'like' }, status) {
  const response = await fetch(`${url}/v1/activity`, {
    method: 'POST',
    headers: { ...(key && { authorization: `Bearer ${key}` }), 'content-type': 'application/json' },
    body: JSON.stringify({ user, action, target: 'post-7' }),
  })
  assert.equal(response.status, status, await response.clone().text())
  return (await response.json()).detail
}

function signed(claims, header, secret) {
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const content = `${encode(header)}.${encode(claims)}`
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`
}

it('each problem of the service is named', () => {
  const slugs = [...textOf('crates/core/src/error.rs').matchAll(/\(4\d\d, "([a-z-]+)", |\(5\d\d, "([a-z-]+)", /g)]
    .map(([, client, server]) => client ?? server)
    // What no client meets by configuration.
    .filter((slug) => !['not-found', 'method-not-allowed'].includes(slug))
  assert.ok(slugs.length >= 13)
  const text = textOf(DOCUMENT)
  assert.deepEqual(
    slugs.filter((slug) => !text.includes(slug) && !text.includes(slug.replaceAll('-', ' '))),
    [],
  )
})

it('each section is listed at the top', () => {
  const [top, ...sections] = textOf(DOCUMENT)
    .split(/^### (.*)$/m)
    .filter((_, index) => index === 0 || index % 2)
  const anchors = sections.map((title) => title.toLowerCase().replaceAll(' ', '-'))
  assert.ok(anchors.length > 15)
  assert.deepEqual(
    anchors.filter((anchor) => !top.includes(`(#${anchor})`)),
    [],
  )
})
