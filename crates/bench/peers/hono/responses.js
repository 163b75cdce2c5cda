// Headers and bodies of responses, equal to the Worker's.

const DAY = 86400000

export const headers = (cacheControl, type = 'application/json') => ({
  'cache-control': cacheControl,
  'content-type': type,
  'x-content-type-options': 'nosniff',
  'x-request-id': crypto.randomUUID(),
})

/** Computes an ETag with FNV-1a, one multiplication per character. */
export function etagOf(text) {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return `"${(hash >>> 0).toString(16).padStart(8, '0')}"`
}

/** Returns the ids of the boards of an instant in UTC, by period. */
export function periodIds(now) {
  const day = new Date(now).toISOString().slice(0, 10)
  return { day, week: weekId(now), month: day.slice(0, 7), year: day.slice(0, 4), all: 'all' }
}

// ISO 8601: a week belongs to the year of its Thursday.
function weekId(now) {
  const weekday = (new Date(now).getUTCDay() + 6) % 7
  const thursday = new Date(now + (3 - weekday) * DAY)
  const year = thursday.getUTCFullYear()
  const week = 1 + Math.floor((thursday - Date.UTC(year, 0, 1)) / (7 * DAY))
  return `${year}-W${String(week).padStart(2, '0')}`
}

/** Returns the `period` field of the day of an instant. */
export function dayPeriod(now) {
  const start = Math.floor(now / DAY) * DAY
  return {
    kind: 'day',
    id: periodIds(now).day,
    start: timestamp(start),
    end: timestamp(start + DAY),
    timezone: 'UTC',
    closed: false,
  }
}

const timestamp = (at) => new Date(at).toISOString().replace('.000', '')
const points = (score) => Math.floor(score / 2 ** 30)
const withProfile = (id, profile) => (profile ? { id, ...JSON.parse(profile) } : { id })

/** Converts the rows of a board; the first one has the rank `firstRank`. */
export function entries(firstRank, users, scores, profiles) {
  return users.map((id, at) => ({
    rank: firstRank + at,
    score: points(scores[at]),
    user: withProfile(id, profiles[at]),
  }))
}

/** Converts one standing with its neighbours. */
export function standing(id, around, [, total, profile, index, first, users, scores, profiles]) {
  if (index === null) {
    const user = withProfile(id, profile)
    return { user, rank: null, score: 0, total: total ?? 0, percentile: null, next: null, around: [] }
  }
  const rank = index + 1
  const neighbours = entries(first + 1, users, scores, profiles)
  const { score, user } = neighbours[index - first]
  const above = neighbours[index - first - 1]
  return {
    user,
    rank,
    score,
    total,
    percentile: Math.round((1000 * (total - rank + 1)) / total) / 10,
    next: above ? { rank: above.rank, score: above.score, points: above.score - score + 1 } : null,
    around: around > 0 ? neighbours.filter((entry) => Math.abs(entry.rank - rank) <= around) : [],
  }
}
