// An optimised JavaScript implementation: Hono, @upstash/redis with every costly option disabled, and
// our script, one EVALSHA per request. Its responses equal the Worker's.

import { Hono } from 'hono'
import { cache } from 'hono/cache'
import { Redis } from '@upstash/redis/cloudflare'
import { dayPeriod, entries, etagOf, headers, periodIds, standing } from './responses.js'
import { fieldErrors, isService, RULES } from './validation.js'

let redis, commands

// The Worker's default store timeout in milliseconds.
const STORE_TIMEOUT = 2000

// One client serves all requests, because it keeps no connection of a request.
function prepare(env) {
  redis = Redis.fromEnv(env, {
    automaticDeserialization: false,
    enableAutoPipelining: false,
    enableTelemetry: false,
    readYourWrites: false,
    responseEncoding: false,
    signal: () => AbortSignal.timeout(STORE_TIMEOUT),
  })
  commands = Object.fromEntries(Object.entries(env.TEMPLATES).map(([name, text]) => [name, template(JSON.parse(text)[0])]))
}

function template([, sha, count, ...rest]) {
  const [keys, args] = [rest.slice(0, count), rest.slice(count)]
  return { sha, keys: keys.map(filler), args: args.map(filler) }
}

// Returns a function that fills the placeholders of a text.
function filler(text) {
  const parts = text.split(/<(now|user|target)>/)
  return (values) => parts.map((part, index) => (index % 2 ? values[part] : part)).join('')
}

function runScript(name, values) {
  const { sha, keys, args } = commands[name]
  return redis.evalsha(
    sha,
    keys.map((fill) => fill(values)),
    args.map((fill) => fill(values)),
  )
}

const problem = (c, status, slug, title, more) =>
  c.json({ type: `/problems/${slug}`, title, status, ...more }, status, headers('no-store', 'application/problem+json'))

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
  let activity
  try {
    activity = await c.req.json()
  } catch {
    return problem(c, 400, 'invalid-request', 'Not JSON')
  }
  const errors = fieldErrors(activity)
  if (errors.length > 0) return problem(c, 400, 'invalid-request', 'Invalid request', { errors })
  if (!RULES.has(activity.action)) return problem(c, 422, 'unknown-action', 'Unknown action')
  const now = Date.now()
  const [, [reply], standings] = await runScript('count', { ...activity, now })
  // Any other outcome than `counted` is a text.
  const [outcome, points] = Array.isArray(reply) ? reply : [reply, 0]
  const boards = Object.entries(periodIds(now)).map(([period, id], at) => {
    const [score, rank] = [standings[2 * at], standings[2 * at + 1]]
    return [period, { id, score: Math.floor(score / 2 ** 30), rank: rank === null ? null : rank + 1 }]
  })
  return c.json({ outcome, points, standings: Object.fromEntries(boards) }, 200, headers('no-store'))
})

const fresh = (env) => `public, max-age=${env.BOARD_MAX_AGE ?? 5}, stale-if-error=86400`
const cached = cache({ cacheName: 'boards' })

app.use('/v1/ranking/day', (c, next) => (c.env.CACHED ? cached(c, next) : next()))

app.get('/v1/ranking/day', async (c) => {
  const [, total, users, scores, profiles] = await runScript('top', {})
  const body = { period: dayPeriod(Date.now()), total: total ?? 0, entries: entries(1, users, scores, profiles) }
  const text = JSON.stringify(body)
  const etag = etagOf(text)
  const board = { ...headers(fresh(c.env)), etag }
  return etag === c.req.header('if-none-match') ? c.body(null, 304, board) : c.body(text, 200, board)
})

app.get('/v1/ranking/day/users/:user', async (c) => {
  const user = c.req.param('user')
  const around = Number(c.req.query('around') ?? 0)
  const reply = await runScript('standing', { user })
  return c.json({ period: dayPeriod(Date.now()), ...standing(user, around, reply) }, 200, headers('no-store'))
})

app.onError((_, c) => problem(c, 503, 'store-unavailable', 'The store is unavailable'))

export default app
