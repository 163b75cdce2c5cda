// Search of what boards rank: a field that filters the rows while the moderator types, and opens an exact id.

/** @import { Context } from './types.js' */

import { make } from '../page/dom.js'
import { code, heading, note, table } from './parts.js'

const ROWS = 100 // the most that a request returns
const SHOWN = 20

/**
 * Creates a view of the first rows of boards.
 * @template Row
 * @param {Context} context
 * @param {object} options
 * @param {'members' | 'targets'} options.name of the section and its texts
 * @param {Map<string, Row>} options.rows by id
 * @param {(row: Row) => (string | undefined)[]} options.textsOf the texts in which a query is searched
 * @param {string[]} options.titles of the columns
 * @param {(row: Row) => (string | Node)[]} options.cellsOf
 * @param {(id: string) => string} options.urlOf
 */
export function searchView(context, { name, rows, textsOf, titles, cellsOf, urlOf }) {
  const { texts, format, announce } = context
  const words = texts[name]
  const results = make('div', { className: 'results' })
  /** @param {string} query */
  const show = (query) => {
    const found = [...rows.values()].filter((row) => matches(query, ...textsOf(row)))
    const exact = query && !rows.has(query)
    results.replaceChildren(
      ...(exact ? [make('p', {}, make('a', { href: urlOf(query) }, words.open, code(query)))] : []),
      found.length ? table(words.found, titles, found.slice(0, SHOWN).map(cellsOf)) : note(words.none),
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
    location.hash = urlOf(input.value.trim())
  })
  show('')
  return make('div', {}, heading(texts.sections[name]), form, results)
}

/**
 * Returns the first rows of boards, the longest period first, each id once.
 * @template Row
 * @param {Context} context
 * @param {string} root of the boards
 * @param {string[]} periods the shortest first
 * @param {(row: Row) => string} idOf
 */
export async function rowsOf({ api, signal }, root, periods, idOf) {
  const boards = await Promise.all(
    [...periods].reverse().map((period) => api.get(`/v1/${root}/${period}?limit=${ROWS}`, signal)),
  )
  /** @type {Map<string, Row>} */
  const rows = new Map()
  for (const row of boards.flatMap(({ entries }) => entries)) if (!rows.has(idOf(row))) rows.set(idOf(row), row)
  return rows
}

/**
 * Returns whether one of the texts contains a query, without regard to case.
 * @param {string} query
 * @param {...(string | undefined)} texts
 */
export const matches = (query, ...texts) =>
  texts.some((text) => text?.toLocaleLowerCase().includes(query.toLocaleLowerCase()))
