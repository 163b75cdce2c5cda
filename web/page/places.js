// The places of a member on the boards of all periods.

import { make } from './dom.js'
import { number, words } from './words.js'

const PERIODS = /** @type {const} */ (['day', 'week', 'month', 'year', 'all'])

/** @typedef {{ rank: number | null, score: number, total: number, next?: { rank: number, points: number } | null }} Place */

/**
 * Returns a table with a row for each period, or nothing without any.
 * @param {Record<string, Place>} standings by period
 */
export function placeTable(standings) {
  const texts = words()
  const rows = PERIODS.filter((period) => standings[period]?.score !== undefined).map((period) => {
    const { rank, score, total, next } = standings[period]
    const link = make('a', { href: `/#${period}` }, texts.now[period])
    const place = rank ? texts.place(number(rank), number(total)) : texts.unranked
    const details = []
    if (rank && total > 3) details.push(texts.top(number(Math.ceil((100 * rank) / total))))
    if (next) details.push(texts.next(next.points, number(next.points), number(next.rank)))
    const cell = make('td', {}, place)
    if (details.length) cell.append(make('p', { className: 'muted' }, details.join(' · ')))
    return make('tr', {}, make('th', { scope: 'row' }, link), cell, make('td', {}, texts.points(score, number(score))))
  })
  return rows.length ? [make('table', {}, make('tbody', {}, ...rows))] : []
}
