// Search of members: by exact id, and by name on the boards.

/** @import { Context, User } from './types.js' */
/** @typedef {{ rank: number, score: number, user: User }} Row */

import { make } from '../page/dom.js'
import { code, heading, member, memberUrl, note, table } from './parts.js'
import { searchForm } from './search.js'

const ROWS = 100 // the most that a request returns
const SHOWN = 20

/**
 * @param {Context} context
 * @returns {Promise<Node>}
 */
export async function membersView(context) {
  const { texts, format } = context
  const rows = await rowsOf(context)
  const results = make('div', { className: 'results' })
  /** @param {string} query */
  const show = (query) => {
    const found = rows.filter(({ user }) => matches(query, user.id, user.name))
    const cells = found
      .slice(0, SHOWN)
      .map(({ user, rank, score }) => [member(user), format.number(rank), format.number(score)])
    const titles = [texts.member, `${texts.rank}>`, `${texts.points}>`]
    const exact = query && !found.some(({ user }) => user.id === query)
    results.replaceChildren(
      ...(exact ? [make('p', {}, make('a', { href: memberUrl(query) }, texts.members.open, code(query)))] : []),
      cells.length ? table(texts.members.found, titles, cells) : note(texts.members.none),
    )
    return found.length
  }
  const form = searchForm(context, {
    label: texts.members.label,
    hint: texts.members.hint,
    show,
    open: (id) => {
      location.hash = memberUrl(id)
    },
  })
  show('')
  return make('div', {}, heading(texts.sections.members), form, results)
}

/**
 * Returns the first rows of the boards of all periods: the longest period first, each member once.
 * @param {Context} context
 */
async function rowsOf({ api, signal }) {
  const { configured } = await api.health(signal)
  const periods = [...(configured?.periods ?? [])].reverse()
  const boards = await Promise.all(periods.map((period) => api.get(`/v1/ranking/${period}?limit=${ROWS}`, signal)))
  /** @type {Map<string, Row>} */
  const rows = new Map()
  for (const row of boards.flatMap(({ entries }) => entries)) if (!rows.has(row.user.id)) rows.set(row.user.id, row)
  return [...rows.values()]
}

/**
 * Returns whether one of the texts contains a query, without regard to case.
 * @param {string} query
 * @param {...(string | undefined)} texts
 */
export const matches = (query, ...texts) =>
  texts.some((text) => text?.toLocaleLowerCase().includes(query.toLocaleLowerCase()))
