// The first three of the last boards.

import { make, memberLink } from './dom.js'
import { days, language, number, words } from './words.js'

const MEDALS = ['first', 'second', 'third']

/** @typedef {{ kind: string, id: string, start: string, end: string, timezone: string }} Period */
/** @typedef {{ rank: number, score: number, user: { id: string, name?: string } }} Entry */

/**
 * Returns a list of boards, or nothing without any.
 * @param {{ period: Period, entries: Entry[] }[]} boards
 */
export function winnerList(boards) {
  if (!boards.length) return []
  const items = boards.map(({ period, entries }) => {
    const day = new Intl.DateTimeFormat('sv', { timeZone: period.timezone }).format(Date.parse(period.start) + 432e5)
    const link = make('a', { href: `#${period.kind}/${day}` }, nameOf(period))
    const winners = entries.map(({ rank, score, user }) => {
      const medal = make('span', { className: `medal ${MEDALS[rank - 1] ?? ''}` }, number(rank))
      return make(
        'li',
        {},
        medal,
        memberLink(user),
        make('span', { className: 'muted' }, words().points(score, number(score))),
      )
    })
    return make('li', {}, make('p', { className: 'title' }, link), make('ol', { className: 'plain' }, ...winners))
  })
  return [make('ul', { className: 'plain winners' }, ...items)]
}

/** @param {Period} period */
function nameOf({ kind, start, end, timezone: timeZone }) {
  const middle = (Date.parse(start) + Date.parse(end)) / 2
  if (kind === 'month' || kind === 'year') {
    const month = kind === 'month' ? 'long' : undefined
    return new Intl.DateTimeFormat(language(), { year: 'numeric', month, timeZone }).format(middle)
  }
  return days(start, end, timeZone)
}
