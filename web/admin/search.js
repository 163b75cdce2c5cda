// Search of the members and targets that boards rank, by name or id. Any other one is opened by its exact id.

/** @import { Content } from './parts.js' */
/** @import { Context, Target, User } from './types.js' */
/** @typedef {'members' | 'targets'} Kind */
/** @typedef {{ id: string, name?: string, author?: User, score: number }} Item */
/** @typedef {{ score: number, user: User, target: Target, author?: User }} Row of a board, with a user or a target */

import { make } from '../page/dom.js'
import { code, feed, heading, member, memberUrl, note, target, targetUrl } from './parts.js'

const ROWS = 100 // the most that a request returns
const SHOWN = 20

const KINDS = {
  members: { root: 'ranking', periods: /** @type {const} */ ('periods'), urlOf: memberUrl },
  targets: { root: 'content', periods: /** @type {const} */ ('content_periods'), urlOf: targetUrl },
}

/**
 * @param {Kind} kind
 * @param {string} id
 */
export const urlOf = (kind, id) => KINDS[kind].urlOf(id)

/**
 * @param {Kind} kind
 * @param {Item} item
 */
export const linkTo = (kind, { id, name }) => (kind === 'members' ? member({ id, name }) : target({ id, title: name }))

/**
 * Returns the first rows of all boards of a kind as items, the longest period first, each id once. Returns null without
 * such boards.
 * @param {Context} context
 * @param {Kind} kind
 */
export async function itemsOf(context, kind) {
  const { api, signal } = context
  const { configured } = await api.health(signal)
  const periods = configured?.[KINDS[kind].periods] ?? []
  const boards = await Promise.all([...periods].reverse().map((period) => boardOf(context, kind, period, ROWS)))
  /** @type {Map<string, Item>} */
  const items = new Map()
  for (const item of boards.flat()) if (!items.has(item.id)) items.set(item.id, item)
  return periods.length ? [...items.values()] : null
}

/**
 * Returns the first rows of a board as items.
 * @param {Context} context
 * @param {Kind} kind
 * @param {string} period
 * @param {number} limit
 * @returns {Promise<Item[]>}
 */
export async function boardOf({ api, signal }, kind, period, limit) {
  /** @type {{ entries: Row[] }} */
  const { entries } = await api.get(`/v1/${KINDS[kind].root}/${period}?limit=${limit}`, signal)
  return entries.map(({ score, user, target, author }) =>
    kind === 'members' ? { id: user.id, name: user.name, score } : { id: target.id, name: target.title, author, score },
  )
}

/**
 * Returns whether an item matches a query, without regard to case.
 * @param {string} query
 * @param {Item} item
 */
export const isMatch = (query, { id, name, author }) => matches(query, id, name, author?.id, author?.name)

/**
 * Creates the list of items.
 * @param {Context} context
 * @param {Kind} kind
 * @param {Item[]} items
 */
export function itemList({ texts, format }, kind, items) {
  const rows = items.map((item) => {
    /** @type {Content[]} */
    const more = item.author ? [`${texts.author}: `, member(item.author)] : []
    return { line: [linkTo(kind, item)], more, value: [texts.scored(format.number(item.score))] }
  })
  return feed(rows)
}

/**
 * Creates a view with a field that filters the items while the moderator types, and opens an exact id.
 * @param {Context} context
 * @param {Kind} kind
 */
export async function searchView(context, kind) {
  const { texts, format, announce } = context
  const words = texts[kind]
  const items = await itemsOf(context, kind)
  if (!items) return make('div', {}, heading(texts.sections[kind]), note(texts.targets.no_boards))
  const results = make('section', { className: 'card results', ariaLabel: words.found })
  /** @param {string} query */
  const show = (query) => {
    const found = items.filter((item) => isMatch(query, item))
    const exact = query && !items.some(({ id }) => id === query)
    results.replaceChildren(
      ...(exact ? [make('p', {}, make('a', { href: urlOf(kind, query) }, words.open, code(query)))] : []),
      found.length ? itemList(context, kind, found.slice(0, SHOWN)) : note(words.none),
    )
    return found.length
  }
  const input = make('input', { id: 'search', type: 'search', autocomplete: 'off', spellcheck: false, required: true })
  input.setAttribute('aria-describedby', 'search-hint')
  const form = make(
    'form',
    { className: 'search', autocomplete: 'off' },
    make('label', { htmlFor: input.id }, words.label),
    make('div', { className: 'row' }, input, make('button', { className: 'primary' }, texts.open)),
    make('p', { id: 'search-hint', className: 'hint' }, words.hint),
  )
  form.role = 'search'
  input.addEventListener('input', () => announce(texts.results(format.number(show(input.value.trim())))))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    location.hash = urlOf(kind, input.value.trim())
  })
  show('')
  return make('div', {}, heading(texts.sections[kind]), form, results)
}

/**
 * Returns whether one of the texts contains a query, without regard to case.
 * @param {string} query
 * @param {...(string | undefined)} texts
 */
export const matches = (query, ...texts) =>
  texts.some((text) => text?.toLocaleLowerCase().includes(query.toLocaleLowerCase()))
