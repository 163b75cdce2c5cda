// The accounts of a member: users who count as one.

/** @import { Content } from './parts.js' */
/** @import { Accounts, Context } from './types.js' */

import { path } from './api.js'
import { openForm } from './dialog.js'
import { button, member, named } from './parts.js'

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
    const answer = await openForm(context, {
      title: `${words.join}: ${named(id, name)}`,
      content: [words.join_hint],
      fields: [{ name: 'account', label: words.account, required: true, pointer: '/user' }],
      submit: words.join,
      send: async ({ account }) => {
        await api.request('PUT', accountUrl(account), { body: { of: id } })
        return account
      },
    })
    if (!answer) return
    announce(texts.answered(answer, words.joined(name ?? id)))
    context.reload()
  })
  element.id = 'join'
  return element
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
