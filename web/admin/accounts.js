// The accounts of a member: users who count as one.

/** @import { Content } from './parts.js' */
/** @import { Accounts, Context, Standing, User } from './types.js' */

import { make } from '../page/dom.js'
import { path } from './api.js'
import { openForm } from './dialog.js'
import { userPath } from './moderate.js'
import { button, member, named, table } from './parts.js'

/** @param {string} user */
const accountUrl = (user) => path`/v1/users/${user}/account`

/**
 * Reads the accounts of a user.
 * @param {Context} context
 * @param {string} id
 * @returns {Promise<Accounts>}
 */
export const accountsOf = ({ api, signal }, id) => api.get(accountUrl(id), signal)

/**
 * Returns the accounts of a member as links, each with a button that detaches it.
 * @param {Context} context
 * @param {string[]} accounts
 * @returns {Content[]}
 */
export const accountList = (context, accounts) =>
  accounts.flatMap((account) => [member({ id: account }), ' ', detachButton(context, account), ' '])

/**
 * Returns the button that makes another user an account of a member.
 * @param {Context} context
 * @param {string} id
 * @param {string} [name]
 */
export function joinButton(context, id, name) {
  const { api, texts, announce } = context
  const words = texts.accounts
  const element = button(words.join, async () => {
    const title = `${words.join}: ${named(id, name)}`
    // A moderator sees whom they join before they do it.
    const found = await openForm(context, {
      title,
      content: [words.join_hint],
      fields: [{ name: 'account', label: words.account, required: true, pointer: '/user' }],
      submit: words.compare,
      send: async ({ account }) => ({ account, standings: await comparisonOf(context, account, id) }),
    })
    if (!found) return
    const answer = await openForm(context, {
      title,
      content: [found.standings, make('p', {}, words.join_hint)],
      fields: [],
      submit: words.join,
      send: async () => {
        await api.request('PUT', accountUrl(found.account), { body: { of: id } })
        return found.account
      },
    })
    if (!answer) return
    announce(texts.answered(answer, words.joined(name ?? id)))
    context.reload()
  })
  element.id = 'join'
  return element
}

const MAX_OFFSET = 100_000 // of a board
const PAGE = 100

/**
 * Returns the rank that a member would have with more points, or a better one if the board has more than 100,000 above.
 * @param {Context} context
 * @param {string} period
 * @param {number} score
 * @param {number} rank that the member has
 */
async function rankWith({ api, signal }, period, score, rank) {
  // Those with more points are the first of the board.
  let [low, high] = [0, Math.min(rank - 1, MAX_OFFSET)]
  while (low < high) {
    const offset = Math.max(low, Math.floor((low + high - PAGE) / 2))
    /** @type {{ entries: { score: number }[] }} */
    const { entries } = await api.get(`/v1/ranking/${period}?offset=${offset}&limit=${PAGE}`, signal)
    const index = entries.findIndex((entry) => entry.score <= score)
    if (index > 0) return offset + index + 1
    if (index === 0) high = offset
    else low = offset + PAGE
  }
  return Math.min(low, high) + 1
}

/**
 * Returns a table of points and ranks of both users as they are now, all time first, and the most that the member can have
 * after a recount.
 * @param {Context} context
 * @param {string} account
 * @param {string} id of the member
 */
async function comparisonOf(context, account, id) {
  const { api, texts, format, signal } = context
  const words = texts.accounts
  /** @type {{ user: User, standings: Record<string, Standing> }[]} */
  const both = await Promise.all([account, id].map((user) => api.get(`${userPath(user)}/standings`, signal)))
  const periods = Object.keys(both[0].standings).filter((period) => Object.hasOwn(texts.periods, period))
  const textOf = (/** @type {number | null} */ score, /** @type {number | null} */ rank) =>
    rank === null ? '–' : words.standing(format.number(score ?? 0), format.number(rank))
  const rows = periods.reverse().map(async (period) => {
    const found = both.map(({ standings }) => standings[period])
    const sum = found.reduce((sum, { score }) => sum + (score ?? 0), 0)
    const ranks = found.flatMap(({ rank }) => rank ?? [])
    const rank = ranks.length ? await rankWith(context, period, sum, Math.min(...ranks)) : null
    return [
      texts.periods[/** @type {'day'} */ (period)],
      ...found.map(({ score, rank }) => textOf(score, rank)),
      textOf(sum, rank),
    ]
  })
  const titles = [texts.board, ...both.map(({ user }) => `${named(user.id, user.name)}>`), `${words.after}>`]
  return make('div', {}, table(words.standings, titles, await Promise.all(rows)), make('p', {}, words.after_hint))
}

/**
 * Returns the button that takes back that a user is an account.
 * @param {Context} context
 * @param {string} account
 */
export function detachButton(context, account) {
  const { api, texts, announce } = context
  const words = texts.accounts
  const element = button(words.detach, async () => {
    const answer = await openForm(context, {
      title: `${words.detach}: ${account}`,
      content: [words.detach_hint],
      fields: [],
      submit: words.detach,
      send: async () => {
        await api.request('DELETE', accountUrl(account))
        return true
      },
    })
    if (!answer) return
    announce(texts.answered(account, words.detached))
    context.reload()
  })
  element.ariaLabel = `${words.detach}: ${account}`
  return element
}
