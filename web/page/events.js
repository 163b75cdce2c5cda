// The events of a deployment: those that run or come, and the last that have ended.

import { make, userLink } from './dom.js'
import { days, number, words } from './words.js'

/** @typedef {{ ranks: string, title: string }} Prize */
/** @typedef {'coming' | 'running' | 'settling' | 'final'} State */
/** @typedef {{ id: string, state: State, title: string, from: string, to: string, url?: string, prizes?: Prize[] }} Event */

const MAX_FINAL = 2
const MAX_EVENTS = 6

/**
 * Returns a list of events, or nothing without any.
 * @param {Event[]} events running, coming and past ones, in this order
 */
export function eventList(events) {
  const open = events.filter(({ state }) => state !== 'final')
  const past = events.filter(({ state }) => state === 'final').slice(0, MAX_FINAL)
  const shown = [...open, ...past].slice(0, MAX_EVENTS)
  return shown.length ? [make('ul', { className: 'plain events' }, ...shown.map(eventItem))] : []
}

/**
 * Creates the dates, the prizes and the link of an event.
 * @param {Event} event
 */
export function eventFacts({ state, from, to, url, prizes = [] }) {
  const about = muted(`${words().states[state]} · ${days(from, to)}`)
  return make('div', { className: 'event' }, about, ...prizesAndLink(prizes, url))
}

/** @param {Event} event */
function eventItem({ id, state, title, from, to, url, prizes = [] }) {
  const { states, ends_in, starts_in } = words()
  const link = make('a', { href: `#event/${encodeURIComponent(id)}` }, make('bdi', {}, title))
  const badge = make('span', { className: `badge ${state}` }, states[state])
  const facts = [days(from, to)]
  if (state === 'running') facts.push(ends_in(remaining(to)))
  if (state === 'coming') facts.push(starts_in(remaining(from)))
  const item = make('li', {}, make('p', { className: 'title' }, link, ' ', badge), muted(facts.join(' · ')))
  item.append(...prizesAndLink(prizes.slice(0, 3), url))
  return item
}

/**
 * @param {Prize[]} prizes
 * @param {string} [url]
 */
function prizesAndLink(prizes, url) {
  const { about_event, prize } = words()
  const items = prizes.map(({ ranks, title }) => muted(prize(ranks.replace('-', '–'), title)))
  return url ? [...items, make('p', {}, userLink(url, about_event))] : items
}

/** @param {string} text */
const muted = (text) => make('p', { className: 'muted', dir: 'auto' }, text)

const UNITS = /** @type {const} */ ([
  ['day', 864e5],
  ['hour', 36e5],
  ['minute', 6e4],
])

/**
 * Formats the time until an instant in its largest unit.
 * @param {string} instant RFC 3339
 */
function remaining(instant) {
  const left = Math.max(6e4, Date.parse(instant) - Date.now())
  const [unit, length] = UNITS.find(([, length]) => left >= length) ?? UNITS[2]
  return number(Math.floor(left / length), { style: 'unit', unit, unitDisplay: 'long' })
}
