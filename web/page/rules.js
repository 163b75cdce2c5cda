// How points are earned, from the rules that apply now, and how these have changed.

import { make } from './dom.js'
import { change, dayOf, number, words } from './words.js'

/** @import { PageTexts } from './texts.d.ts' */

/**
 * @typedef {object} Rule
 * @property {number} points
 * @property {'standing' | 'day'} once
 * @property {boolean} undo
 * @property {'user' | 'service'} by
 * @property {number} [daily_cap]
 * @property {number} [member_cap]
 * @property {number} [pair_cap]
 * @property {number} [cooldown] s
 * @property {number} [received]
 */

/** @param {{ rules: Record<string, Rule>, content_periods: string[] }} configured */
export function ruleList({ rules, content_periods }) {
  const items = Object.entries(rules)
    .sort(([, a], [, b]) => b.points - a.points)
    .map(([action, rule]) => {
      const name = make('span', {}, actionName(action))
      const facts = make('p', { className: 'muted' }, factsOf(action, rule, content_periods.length > 0).join(' · '))
      const points = make('b', { title: words().points(rule.points, number(rule.points)) }, change(rule.points))
      return make('li', {}, points, make('div', {}, name, facts))
    })
  return make('ul', { className: 'plain rules' }, ...items)
}

/**
 * @typedef {object} Version
 * @property {string} from
 * @property {string} state
 * @property {{ action: string, field: keyof PageTexts['rules']['fields'], before: number | null, after: number | null }[]} changes
 * @property {string} [reason]
 */

/** The most changes that the page lists. */
const MAX_VERSIONS = 10

/**
 * Returns the last published changes of the rules, newest first, or nothing without any.
 * @param {Version[]} versions
 */
export function changeList(versions) {
  const { rules } = words()
  const value = (/** @type {number | null} */ amount) => (amount === null ? rules.no_limit : number(amount))
  const items = versions
    .filter(({ state, changes }) => state !== 'removed' && changes.length)
    .slice(0, MAX_VERSIONS)
    .map(({ from, changes, reason }) => {
      const texts = changes.map(
        ({ action, field, before, after }) =>
          `${actionName(action)}, ${rules.fields[field]}: ${value(before)} → ${value(after)}`,
      )
      const facts = make('p', { className: 'muted' }, texts.join(' · '))
      const title = [make('time', { dateTime: from }, dayOf(from)), ...(reason ? [' ', make('bdi', {}, reason)] : [])]
      return make('li', {}, make('div', {}, make('span', {}, ...title), facts))
    })
  return items.length ? [make('h3', {}, rules.changed), make('ul', { className: 'plain rules' }, ...items)] : []
}

/** @param {string} action */
export const actionName = (action) => words().actions[action] ?? action.replaceAll(/[_-]/g, ' ')

/**
 * @param {string} action
 * @param {Rule} rule
 * @param {boolean} hasAuthors
 */
function factsOf(action, { once, by, daily_cap, member_cap, pair_cap, cooldown, received }, hasAuthors) {
  const { rules } = words()
  const facts = [once === 'day' ? rules.once_day : action === 'follow' ? rules.once_member : rules.once_standing]
  if (daily_cap) facts.push(rules.cap(daily_cap, number(daily_cap)))
  if (member_cap && by === 'user' && member_cap < (daily_cap ?? Infinity)) {
    facts.push(rules.member_cap(member_cap, number(member_cap)))
  }
  if (cooldown) facts.push(rules.cooldown(number(cooldown, { style: 'unit', unit: 'second', unitDisplay: 'long' })))
  if (hasAuthors && received) facts.push(rules.received(received, number(received)))
  if (pair_cap) facts.push(rules.pair_cap(pair_cap, number(pair_cap)))
  if (by === 'service') facts.push(rules.service)
  return facts
}

/**
 * Returns a list of levels, lowest first, or nothing without any.
 * @param {{ name: string, points: number }[]} levels
 */
export function levelList(levels) {
  if (!levels.length) return []
  const items = levels.map(({ name, points }) =>
    make(
      'li',
      {},
      make('bdi', {}, name),
      ' ',
      make('span', { className: 'muted' }, words().points(points, number(points))),
    ),
  )
  return [make('h3', {}, words().levels), make('ol', { className: 'plain levels' }, ...items)]
}
