// Invented responses of the API, by state and path.

const HOUR = 36e5 // ms
const DAY = 24 * HOUR
const LEVELS = ['Newcomer', 'Regular', 'Pillar', 'Legend'].map((name, index) => ({ number: index + 1, name }))

/** @type {[id: string, name: string][]} */
const MEMBERS = [
  ['ada', 'Ada Lovelace'],
  ['ming', '王小明'],
  ['grace', 'Grace Hopper'],
  ['emmy', 'Emmy Noether'],
  ['ibn', 'ابن الهيثم'],
  ['alan', 'Alan Turing'],
  ['johann', 'Johann Wolfgang von Weisskopf-Morgenstern'],
  ['li', '李四光'],
  ['sofia', 'Sofia Kovalevskaya'],
  ['mary', 'Mary Somerville'],
]
const POSTS = [
  'How to write a leaderboard that people like',
  '一篇很长的标题：如何在社区里持续写作',
  'Why is my cache never hit?',
  'Release notes',
  'Ten small habits of long communities, and one that nobody talks about although everybody knows it',
]

/** @param {string} id */
function userOf(id) {
  const index = MEMBERS.findIndex(([known]) => known === id)
  if (index < 0) return { id, ...(id === 'wu' && { name: 'Chien-Shiung Wu' }), level: LEVELS[0] }
  return { id, name: MEMBERS[index][1], level: LEVELS[3 - Math.floor(index / 3)] }
}

const iso = (/** @type {number} */ instant) => new Date(instant).toISOString().replace('.000Z', 'Z')
const midnight = () => Math.floor(Date.now() / DAY) * DAY
const monday = () => midnight() - ((new Date().getUTCDay() + 6) % 7) * DAY

/** @param {string} kind @param {boolean} [isPast] */
function periodOf(kind, isPast = false) {
  if (kind === 'all') return { kind, id: 'all', start: null, end: null, timezone: 'UTC', closed: false }
  const lengths = /** @type {Record<string, number>} */ ({ day: 1, week: 7, month: 30, year: 365 })
  const length = lengths[kind] * DAY
  const start = (kind === 'day' ? midnight() : monday()) - (isPast ? length : 0)
  return { kind, id: iso(start), start: iso(start), end: iso(start + length), timezone: 'UTC', closed: isPast }
}

/** @param {number} count @param {number} most */
function entriesOf(count, most) {
  return Array.from({ length: count }, (_, index) => {
    const id = MEMBERS[index]?.[0] ?? `member-${index + 1}`
    const previous_rank = index % 5 === 4 ? null : Math.max(1, index + 1 + [1, -1, 0, 5][index % 4])
    return { rank: index + 1, previous_rank, score: Math.max(1, Math.round(most / (index / 2 + 1))), user: userOf(id) }
  })
}

const COUNTS = /** @type {Record<string, number>} */ ({
  'one-row': 1,
  'three-rows': 3,
  'hundred-rows': 100,
  empty: 0,
  stale: 3,
  podium: 3,
})

/** @param {string} state @param {string} kind */
function boardOf(state, kind) {
  const count = COUNTS[state] ?? 10
  const most = state === 'large-scores' ? 137_438_953_471 : state === 'compact' ? 12 : 1234
  const board = { total: count < 10 ? count : 128, entries: entriesOf(count, most) }
  if (state === 'event') {
    const [from, to] = [iso(midnight() - 2 * DAY), iso(midnight() + 3 * DAY)]
    const final_at = iso(midnight() + 3 * DAY + 3 * HOUR)
    return { event: { id: 'hackathon', title: 'Autumn hackathon', state: 'running', from, to, final_at }, ...board }
  }
  const period = periodOf(kind, state === 'closed')
  return { period, ...board, ...(state === 'stale' && { stale: true, as_of: iso(Date.now() - HOUR / 3) }) }
}

/** @param {string} period */
function contentOf(period) {
  const entries = POSTS.map((title, index) => ({
    rank: index + 1,
    score: period === 'hot' ? 48.25 / (index + 1) : Math.round(240 / (index + 1)),
    target: { id: `post-${index}`, title, url: 'https://example.com/' },
    ...(index !== 3 && { author: userOf(MEMBERS[index][0]) }),
  }))
  return period === 'hot' ? { entries } : { period: periodOf(period), total: entries.length, entries }
}

/** @param {string} kind @param {boolean} [isPast] */
function standingOf(kind, id = 'wu', isPast = false) {
  const [period, user, total] = [periodOf(kind, isPast), userOf(id), 128]
  if (id === 'new' && !isPast) {
    return { period, user, rank: null, previous_rank: null, score: 0, total, percentile: null, next: null, around: [] }
  }
  const rank = id === 'ada' ? 1 : 23
  const scoreAt = (/** @type {number} */ place) => 110 - 3 * place
  const neighbours = ['emmy', 'sofia', 'johann', 'ming', id, 'grace', 'li', 'ibn', 'alan']
  const around = neighbours
    .map((neighbour, index) => ({ rank: rank + index - 4, score: scoreAt(rank + index - 4), user: userOf(neighbour) }))
    .filter((entry) => entry.rank > 0)
  const next = rank > 1 ? { rank: rank - 1, score: scoreAt(rank - 1), points: 4 } : null
  return { period, user, rank, previous_rank: rank + 3, score: scoreAt(rank), total, percentile: 82.8, next, around }
}

/** What `<activity-climb>` reads of the configuration. */
const HEALTH = {
  configured: {
    rules: {
      visit: { points: 1, by: 'user' },
      like: { points: 2, by: 'user' },
      comment: { points: 3, by: 'user' },
      publish: { points: 10, by: 'service' },
    },
  },
}

const NUMBERS = { targets: [{ target: 'post-7', counts: { like: 128, helpful: 41, unhelpful: 3 } }] }

/** Returns a history, newest day first. @param {number} days @param {(day: number) => number} pointsOf */
function historyOf(days, pointsOf) {
  const list = Array.from({ length: days }, (_, day) => {
    const points = pointsOf(day)
    const actions = points ? { like: { count: Math.ceil(points / 2), points } } : {}
    return { date: iso(midnight() - day * DAY).slice(0, 10), points, actions }
  })
  return { user: { id: 'ada' }, timezone: 'UTC', days: list, streak: { current: 4, longest: 9 } }
}

/** @param {number} day */
const busy = (day) => (day % 7 === 3 || (day > 170 && day < 200) ? 0 : (day * 37) % 23)
const HISTORIES = /** @type {Record<string, () => object>} */ ({
  year: () => historyOf(366, busy),
  'year-narrow': () => historyOf(366, busy),
  'few-days': () => historyOf(366, (day) => ({ 0: 3, 1: 104, 9: 2 })[day] ?? 0),
  month: () => historyOf(31, busy),
})

/** @param {string} id */
function cardOf(id) {
  const isRanked = id !== 'li'
  const places = Object.entries({ day: 12, week: 3, month: 1, year: 17, all: 218 }).map(([kind, rank], index) => {
    const { id } = periodOf(kind)
    return [
      kind,
      isRanked ? { id, score: 57 * 4 ** index, rank, total: 40 * 5 ** index } : { id, score: 0, rank: null, total: 40 },
    ]
  })
  return {
    user: userOf(id),
    standings: Object.fromEntries(places),
    streak: id === 'ada' ? { current: 4, longest: 9 } : null,
  }
}

/**
 * Returns a response of the API, or `null` for a problem.
 * @param {string} state
 * @param {string[]} path after `v1`; empty for the state of the service
 * @param {boolean} [isPast] whether it is about a closed period
 */
export function respond(state, [root, name, part, id], isPast = false) {
  if (['unavailable', 'fallback'].includes(state) || part === 'live') return null
  if (!root) return HEALTH
  if (root === 'content') return name === 'counts' ? NUMBERS : contentOf(name)
  if (root === 'users') return part === 'card' ? cardOf(name) : (HISTORIES[state]?.() ?? null)
  if (part === 'winners') {
    const entries = entriesOf(3, 940).map(({ rank, score }, index) => ({
      rank,
      score,
      user: userOf(MEMBERS[2 - index][0]),
    }))
    return { boards: [{ period: periodOf(name, true), total: 90, entries }] }
  }
  return part === 'users' ? standingOf(name, id, isPast) : boardOf(state, name)
}
