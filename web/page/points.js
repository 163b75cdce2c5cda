// The changes of a member's points, in sentences.

import { fill, make, userLink } from './dom.js'
import { actionName } from './rules.js'
import { change, time, words } from './words.js'

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
 * @property {boolean} [undone]
 */

/** @param {Change} entry */
export function pointItem({ at, type, action, target, points, event, undone }) {
  const { why } = words()
  const texts = {
    activity: why.activities[action ?? ''] ?? why.activity,
    undo: action ? why.undo : why.undo_adjustment,
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
  return make('li', {}, make('div', {}, sentence, facts), amount)
}

/** @param {{ target: Target, registered_at: string, score?: number }} entry */
export function targetItem({ target, registered_at, score = 0 }) {
  const title = make('p', {}, userLink(target.url, target.title ?? target.id))
  const facts = make('p', { className: 'muted' }, time(registered_at))
  return make('li', {}, make('div', {}, title, facts), make('b', {}, words().points(score, change(score))))
}
