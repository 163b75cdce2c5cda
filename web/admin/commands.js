// An estimate of the store's commands of today, from the measured costs of docs/costs.md.

/** @import { Day, Health } from './types.js' */

// Commands of a counted activity, with all periods and one shard: of a visit, and of a like. Other actions are taken to
// cost what a like costs, and so are adjustments.
const PER_DAY_ACTION = 21
const ACTION = 22
// Commands of cron in an hour in which nothing happens, of one shard. Without a journal the archive and the snapshots
// read all boards every five minutes.
const CRON_WITH_JOURNAL = 100
const CRON_READING_BOARDS = 5616
const CRON = 84

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
  const cron = Math.round(hours * shards * cronOf(bound))
  return { actions, cron, total: cron + actions.reduce((sum, { commands }) => sum + commands, 0) }
}

/**
 * @param {string} action
 * @param {'day' | 'standing' | undefined} once absent for an action that has no rule any more
 */
function costOf(action, once) {
  return once === 'day' || (!once && action === 'visit') ? PER_DAY_ACTION : ACTION
}

/** @param {string[]} bound */
function cronOf(bound) {
  if (bound.includes('journal')) return CRON_WITH_JOURNAL
  return bound.includes('archive') || bound.includes('snapshots') ? CRON_READING_BOARDS : CRON
}
