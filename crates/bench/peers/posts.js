// The design of typical blog posts: a hash of a user's activity of the day, a sorted set of the day and
// one of the month, and sequential SDK calls. Nothing is atomic.

import { Redis } from '@upstash/redis/cloudflare'

const POINTS = { visit: 1, like: 2, bookmark: 2, follow: 2, comment: 3, publish: 10 }
const DAY = 86400

function boardsOf(prefix, now) {
  const day = now.toISOString().slice(0, 10)
  return {
    day: { key: `${prefix}:board:${day}`, lifetime: 31 * DAY },
    month: { key: `${prefix}:board:${day.slice(0, 7)}`, lifetime: 366 * DAY },
  }
}

async function count(redis, prefix, { user, action, target }) {
  const now = new Date()
  const points = POINTS[action]
  const done = `${prefix}:done:${user}:${now.toISOString().slice(0, 10)}`
  const field = `${action}:${target}`
  if ((await redis.hget(done, field)) !== null) return { outcome: 'duplicate', points: 0 }
  await redis.hset(done, { [field]: points })
  await redis.expire(done, 31 * DAY)
  for (const { key, lifetime } of Object.values(boardsOf(prefix, now))) {
    const score = await redis.zincrby(key, points, user)
    // A new board needs an expiry.
    if (score <= points && (await redis.ttl(key)) < 0) await redis.expire(key, lifetime)
  }
  return { outcome: 'counted', points }
}

async function entries(redis, prefix, key, first, last) {
  const rows = await redis.zrange(key, first, last, { rev: true, withScores: true })
  const users = rows.filter((_, at) => at % 2 === 0).map(String)
  const profiles = users.length > 0 ? await redis.hmget(`${prefix}:profiles`, ...users) : {}
  return users.map((id, at) => ({ rank: first + at + 1, score: rows[2 * at + 1], user: { id, ...profiles?.[id] } }))
}

async function top(redis, prefix, key, query) {
  const [offset, limit] = [Number(query.get('offset') ?? 0), Number(query.get('limit') ?? 30)]
  return { entries: await entries(redis, prefix, key, offset, offset + limit - 1) }
}

async function standing(redis, prefix, key, user, query) {
  const around = Number(query.get('around') ?? 0)
  const score = await redis.zscore(key, user)
  const rank = await redis.zrevrank(key, user)
  const total = await redis.zcard(key)
  const neighbours = await entries(redis, prefix, key, Math.max(0, rank - around), rank + around)
  return { user: { id: user }, rank: rank + 1, score, total, around: neighbours }
}

export default {
  async fetch(request, env) {
    const redis = Redis.fromEnv(env)
    const { pathname, searchParams } = new URL(request.url)
    if (request.method === 'POST') return Response.json(await count(redis, env.PREFIX, await request.json()))
    const [, , , period, , user] = pathname.split('/')
    const { key } = boardsOf(env.PREFIX, new Date())[period]
    const body = user ? standing(redis, env.PREFIX, key, user, searchParams) : top(redis, env.PREFIX, key, searchParams)
    return Response.json(await body)
  },
}
