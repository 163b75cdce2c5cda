// The links to the recaps of a member.

import { make, memberPath } from './dom.js'
import { monthOf } from './words.js'

const MONTHS = 3

/**
 * Returns the ids of years, and of the last months.
 * @param {string[]} years
 * @param {Date} now
 */
function yearsAndMonths(years, now) {
  const year = now.getUTCFullYear()
  const months = Array.from({ length: MONTHS }, (_, back) => {
    const month = new Date(Date.UTC(year, now.getUTCMonth() - back, 1))
    return month.toISOString().slice(0, 7)
  })
  return [...(years.length ? years : [String(year)]), ...months]
}

/**
 * Formats the id of a recap: a year or a month.
 * @param {string} id
 */
export const recapTitle = (id) => (id.includes('-') ? monthOf(id) : id)

/**
 * Returns the links to the recaps of a member.
 * @param {string} user
 * @param {string[]} [years] in which the member has points, the latest first; this year if they are not known
 * @param {string} [current] id of the recap on this page
 */
export const recapLinks = (user, years = [], current) =>
  yearsAndMonths(years, new Date()).map((id) => {
    const link = make('a', { href: `${memberPath(user)}/${id}` }, recapTitle(id))
    if (id === current) link.ariaCurrent = 'page'
    return link
  })
