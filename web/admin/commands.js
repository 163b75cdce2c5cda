// An estimate of the store's commands of today, from the measured costs of docs/costs.md.

/** @import { Day, Health } from './types.js' */

// Commands of a counted activity, with all periods and one shard.
const PER_DAY_ACTION = 22 // once a day, such as a visit
const ACTION = 24 // such as a like
const ADJUSTMENT = 24
// Commands of cron in an hour in which nothing happens, of one shard: with a journal, and without one.
const CRON = 96
const CRON_WITHOUT_JOURNAL = 72

/**
 * Returns the commands by what caused them. Reads, duplicates and activity that was undone since are not in the numbers.
 * @param {Day} today
 * @param {NonNullable<Health['configured']>} configured
 * @param {number} hours of today so far
 */
export function estimate(today, { rules = {}, bound, shards }, hours) {
  const actions = Object.entries(today.actions ?? {}).map(([action, { count }]) => ({
    action,
    commands: count * costOf(action, rules[action]?.once),
  }))
  const cron = Math.round(hours * shards * (bound.includes('journal') ? CRON : CRON_WITHOUT_JOURNAL))
  return { actions, cron, total: cron + actions.reduce((sum, { commands }) => sum + commands, 0) }
}

/**
 * @param {string} action
 * @param {'day' | 'standing' | undefined} once absent for an action that has no rule any more
 */
function costOf(action, once) {
  if (action === 'adjust') return ADJUSTMENT
  return once === 'day' || (!once && action === 'visit') ? PER_DAY_ACTION : ACTION
}
