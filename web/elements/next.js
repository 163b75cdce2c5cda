// The next steps of a member, from the rules of the service.

/** More repetitions are no suggestion. */
const MAX_COUNT = 20
const MAX_WAYS = 3

/** @typedef {{ points: number, daily_cap?: number, by?: 'user' | 'service' }} Rule */
/** @typedef {Record<string, { points: number }>} Used points of today, by action */

/**
 * Returns the actions that give so many points today, those with the fewest repetitions first.
 * @param {number} points
 * @param {Record<string, Rule>} rules by action
 * @param {Used} used
 */
export function nextSteps(points, rules, used) {
  const steps = []
  for (const [action, rule] of Object.entries(rules)) {
    const count = Math.ceil(points / rule.points - 1e-9)
    if (count >= 1 && count <= MAX_COUNT && count * rule.points <= restOf(action, rule, used) + 1e-9) {
      steps.push({ action, count, points: rule.points, isOwn: rule.by !== 'service' })
    }
  }
  return steps.sort((a, b) => Number(b.isOwn) - Number(a.isOwn) || a.count - b.count || a.points - b.points)
}

/**
 * Returns the actions that enter a board, those with the most points first.
 * @param {Record<string, Rule>} rules by action
 * @param {Used} used
 */
export function waysIn(rules, used) {
  return Object.entries(rules)
    .filter(([action, rule]) => rule.by !== 'service' && rule.points > 0 && restOf(action, rule, used) >= rule.points)
    .map(([action, { points }]) => ({ action, points }))
    .sort((a, b) => b.points - a.points)
    .slice(0, MAX_WAYS)
}

/**
 * Returns the points that an action may still give today.
 * @param {string} action
 * @param {Rule} rule
 * @param {Used} used
 */
function restOf(action, { daily_cap }, used) {
  const spent = Object.hasOwn(used, action) ? used[action].points : 0
  return daily_cap ? daily_cap - spent : Infinity
}
