// What scripts reply, as answers show it.

const points = (score) => Math.floor(score / 2 ** 30)
const named = (id, profile) => (profile ? { id, ...JSON.parse(profile) } : { id })

/** Rows of a board; the first has this rank. */
export function rows(first, users, scores, profiles) {
  return users.map((id, at) => ({ rank: first + at, score: points(scores[at]), user: named(id, profiles[at]) }))
}

/** One standing with neighbours. */
export function standing(id, around, [, total, profile, place, first, users, scores, profiles]) {
  const user = named(id, profile)
  if (place === null) {
    return { user, rank: null, score: 0, total: total ?? 0, percentile: null, next: null, around: [] }
  }
  const rank = place + 1
  const near = rows(first + 1, users, scores, profiles)
  const { score } = near[place - first]
  const above = near[place - first - 1]
  return {
    user,
    rank,
    score,
    total,
    percentile: Math.round((1000 * (total - rank + 1)) / total) / 10,
    next: above ? { rank: above.rank, score: above.score, points: above.score - score + 1 } : null,
    around: around > 0 ? near.filter((row) => Math.abs(row.rank - rank) <= around) : [],
  }
}
