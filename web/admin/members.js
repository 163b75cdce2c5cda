// Search of members: by exact id, and by name on the boards.

/** @import { Context, User } from './types.js' */
/** @typedef {{ rank: number, score: number, user: User }} Row */

import { member, memberUrl } from './parts.js'
import { rowsOf, searchView } from './search.js'

/**
 * @param {Context} context
 * @returns {Promise<HTMLElement>}
 */
export async function membersView(context) {
  const { api, texts, format, signal } = context
  const { configured } = await api.health(signal)
  /** @type {Map<string, Row>} */
  const rows = await rowsOf(context, 'ranking', configured?.periods ?? [], ({ user }) => user.id)
  return searchView(context, {
    name: 'members',
    rows,
    textsOf: ({ user }) => [user.id, user.name],
    titles: [texts.member, `${texts.rank}>`, `${texts.points}>`],
    cellsOf: ({ user, rank, score }) => [member(user), format.number(rank), format.number(score)],
    urlOf: memberUrl,
  })
}
