// The best JavaScript answer: Hono, @upstash/redis with all that costs time switched off, and our
// script, one EVALSHA for each request. It answers with the same JSON as the Worker.

import { Hono } from 'hono'
import { cache } from 'hono/cache'
import { Redis } from '@upstash/redis/cloudflare'
import { ids, view } from './calendar.js'
import { faultsOf, isService, RULES } from './checks.js'
import { own, tagOf } from './headers.js'
import { rows, standing } from './views.js'

let redis, commands

// What the Worker waits for its store, unless it is told otherwise.
const DEADLINE = 800

// One client for all requests: it holds no connection of any of them.
function prepare(env) {
  redis = Redis.fromEnv(env, {
    automaticDeserialization: false,
    enableAutoPipelining: false,
    enableTelemetry: false,
    readYourWrites: false,
    responseEncoding: false,
    signal: () => AbortSignal.timeout(DEADLINE),
  })
  commands = Object.fromEntries(Object.entries(env.TEMPLATES).map(([name, text]) => [name, taken(JSON.parse(text)[0])]))
}

function taken([, sha, count, ...rest]) {
  const [keys, args] = [rest.slice(0, count), rest.slice(count)]
  return { sha, keys: keys.map(filler), args: args.map(filler) }
}

// No argument has two of them in it.
function filler(text) {
  const [before, name, after] = text.split(/<(now|user|target)>/)
  return name ? (values) => before + values[name] + after : () => text
}

function ask(name, values) {
  const { sha, keys, args } = commands[name]
  return redis.evalsha(
    sha,
    keys.map((fill) => fill(values)),
    args.map((fill) => fill(values)),
  )
}

const problem = (c, status, slug, title, more) =>
  c.json({ type: `/problems/${slug}`, title, status, ...more }, status, own('no-store', 'application/problem+json'))

const app = new Hono()

app.use(async (c, next) => {
  if (!redis) prepare(c.env)
  await next()
})

app.post('/v1/activity', async (c) => {
  if (!isService(c.req.header('authorization'), c.env)) return problem(c, 401, 'unauthenticated', 'Unauthenticated')
  if (!/^application\/json\b/i.test(c.req.header('content-type') ?? '')) {
    return problem(c, 415, 'unsupported-media-type', 'Not JSON')
  }
  let sent
  try {
    sent = await c.req.json()
  } catch {
    return problem(c, 400, 'invalid-request', 'Not JSON')
  }
  const errors = faultsOf(sent)
  if (errors.length > 0) return problem(c, 400, 'invalid-request', 'Invalid request', { errors })
  if (!RULES.has(sent.action)) return problem(c, 422, 'unknown-action', 'Unknown action')
  const now = Date.now()
  const [, , [[outcome, points]], standings] = await ask('count', { ...sent, now })
  const told = Object.entries(ids(now)).map(([kind, id], at) => {
    const [score, rank] = [standings[2 * at], standings[2 * at + 1]]
    return [kind, { id, score: Math.floor(score / 2 ** 30), rank: rank === null ? null : rank + 1 }]
  })
  return c.json({ outcome, points, standings: Object.fromEntries(told) }, 200, own('no-store'))
})

const FRESH = 'public, max-age=5, stale-if-error=86400'
const cached = cache({ cacheName: 'boards' })

app.use('/v1/ranking/day', (c, next) => (c.env.CACHED ? cached(c, next) : next()))

app.get('/v1/ranking/day', async (c) => {
  const [, total, users, scores, profiles] = await ask('top', {})
  const body = { period: view(Date.now()), total: total ?? 0, entries: rows(1, users, scores, profiles) }
  const text = JSON.stringify(body)
  const headers = { ...own(FRESH), etag: tagOf(text) }
  return headers.etag === c.req.header('if-none-match') ? c.body(null, 304, headers) : c.body(text, 200, headers)
})

app.get('/v1/ranking/day/users/:user', async (c) => {
  const user = c.req.param('user')
  const around = Number(c.req.query('around') ?? 0)
  const reply = await ask('standing', { user })
  return c.json({ period: view(Date.now()), ...standing(user, around, reply) }, 200, own('no-store'))
})

app.onError((_, c) => problem(c, 503, 'store-unavailable', 'The store did not answer in time'))

export default app
