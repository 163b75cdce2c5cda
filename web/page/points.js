// The changes of a member's points, in sentences.

import { fill, make, userLink } from './dom.js'
import { actionName } from './rules.js'
import { change, number, time, words } from './words.js'

/** @typedef {{ id: string, title?: string, url?: string }} Target */
/** @typedef {'activity' | 'undo' | 'adjustment' | 'received'} Type */
/**
 * @typedef {object} Change
 * @property {string} at RFC 3339
 * @property {Type} type
 * @property {string} [action]
 * @property {Target} [target]
 * @property {number} points
 * @property {string} [event]
 * @property {string} [reason] of a moderator
 * @property {boolean} [undone]
 * @property {true} [source_gone]
 */

/**
 * @typedef {object} Refusal
 * @property {string} at RFC 3339
 * @property {string} action
 * @property {string} reason
 * @property {number} count
 * @property {Target[]} targets the latest ones
 */

/**
 * Puts the activities that did not count among the changes of a page.
 * @param {import('./session.js').Answer} answer
 * @returns {import('./session.js').Answer}
 */
export function withRefused({ status, body }) {
  if (status !== 200) return { status, body }
  /** @type {(Change | Refusal)[]} */
  const entries = [...body.entries, ...(body.refused ?? [])]
  entries.sort((one, other) => Date.parse(other.at) - Date.parse(one.at))
  return { status, body: { ...body, entries } }
}

/** @param {Change | Refusal} entry */
export const entryItem = (entry) => ('count' in entry ? refusalItem(entry) : pointItem(entry))

/** @param {Refusal} entry */
function refusalItem({ at, action, reason, count, targets }) {
  const { why, times } = words()
  const sentence = fill(why.refused[reason] ?? why.refused.other, { action: actionName(action) })
  const links = targets
    .slice(0, 3)
    .flatMap(({ id, title, url }, index) => [index ? ', ' : '', userLink(url, title ?? id)])
  const more = targets.length > 3 ? ['…'] : []
  const facts = [time(at), times(count, number(count))].join(' · ')
  return make(
    'li',
    { className: 'refused' },
    make(
      'div',
      {},
      make('p', {}, ...sentence),
      make('p', { className: 'muted' }, facts, ...(links.length ? [' · '] : []), ...links, ...more),
    ),
    make('span', { className: 'muted' }, change(0)),
  )
}

/** @param {Change} entry */
function pointItem({ at, type, action, target, points, event, reason, undone, source_gone: isGone }) {
  const { why } = words()
  const texts = {
    activity: why.activities[action ?? ''] ?? why.activity,
    undo: isGone ? why.undo_gone : action ? why.undo : why.undo_adjustment,
    adjustment: event ? why.event_adjustment : why.adjustment,
    received: why.gifts[action ?? ''] ?? why.received,
  }
  const values = {
    target: target ? userLink(target.url, target.title ?? target.id) : '',
    action: action ? actionName(action) : '',
    event: make('bdi', {}, event ?? ''),
  }
  const sentence = make('p', {}, ...fill(texts[type], values))
  const facts = make('p', { className: 'muted' }, [time(at), ...(undone ? [why.undone] : [])].join(' · '))
  const amount = make(undone ? 's' : 'b', { className: points < 0 ? 'negative' : 'positive' }, change(points))
  const quote = reason ? [make('p', {}, make('q', {}, reason))] : []
  return make('li', {}, make('div', {}, sentence, ...quote, facts), amount)
}

/** @param {{ target: Target, registered_at: string, score?: number }} entry */
export function targetItem({ target, registered_at, score = 0 }) {
  const title = make('p', {}, userLink(target.url, target.title ?? target.id))
  const facts = make('p', { className: 'muted' }, time(registered_at))
  return make('li', {}, make('div', {}, title, facts), make('b', {}, words().points(score, change(score))))
}
