// A leaderboard of one command: `ZINCRBY` on the board of the day, of the month and of all time, in one pipeline.

import { Redis } from '@upstash/redis/cloudflare'

const POINTS = { visit: 1, like: 2, bookmark: 2, follow: 2, comment: 3, publish: 10 }

function boardsOf(prefix) {
  const day = new Date().toISOString().slice(0, 10)
  return { day: `${prefix}:${day}`, month: `${prefix}:${day.slice(0, 7)}`, all: `${prefix}:all` }
}

export default {
  async fetch(request, env) {
    const redis = Redis.fromEnv(env)
    const boards = boardsOf(env.PREFIX)
    if (request.method === 'POST') {
      const { user, action } = await request.json()
      const pipeline = redis.pipeline()
      for (const key of Object.values(boards)) pipeline.zincrby(key, POINTS[action], user)
      await pipeline.exec()
      return Response.json({ outcome: 'counted', points: POINTS[action] })
    }
    const { pathname, searchParams } = new URL(request.url)
    const [offset, limit] = [Number(searchParams.get('offset') ?? 0), Number(searchParams.get('limit') ?? 30)]
    const key = boards[pathname.split('/').at(-1)]
    const rows = await redis.zrange(key, offset, offset + limit - 1, { rev: true, withScores: true })
    const entries = rows
      .filter((_, at) => at % 2 === 0)
      .map((id, at) => ({ rank: offset + at + 1, score: rows[2 * at + 1], user: { id: String(id) } }))
    return Response.json({ entries })
  },
}
