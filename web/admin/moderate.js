// What a moderator does to a member or a target. Each shows what the service answered.

/** @import { Context, Moderation } from './types.js' */

import { make } from '../page/dom.js'
import { path } from './api.js'
import { confirmField, openForm, readerField, reasonField } from './dialog.js'
import { badge, button, named } from './parts.js'

/**
 * Returns buttons that set flags of a moderation state. A `PUT` replaces all flags, so the others are sent as they are.
 * @template {Record<string, boolean>} State
 * @param {Context} context
 * @param {object} options
 * @param {string} options.url
 * @param {string} options.id
 * @param {string} [options.name] of the member or target
 * @param {State} options.state
 * @param {(keyof State & ('hidden' | 'frozen'))[]} options.flags
 */
export function flagButtons(context, { url, id, name, state, flags }) {
  const { api, texts } = context
  // A target has no reader of its own.
  const readers = flags.some((flag) => flag === 'frozen') ? [readerField(context)] : []
  return flags.map((flag) => {
    const isSet = state[flag]
    const words = texts.flags[flag]
    const text = isSet ? words.clear : words.set
    const element = button(text, async () => {
      const answer = await openForm(context, {
        title: `${text}: ${named(id, name)}`,
        content: [make('p', {}, isSet ? words.clear_effect : words.set_effect)],
        fields: [reasonField(context), ...readers],
        submit: text,
        send: async ({ reason, reader }) => {
          // Another moderator may have changed the other flags since.
          const now = pick(flags, await api.get(url))
          const body = { ...now, [flag]: !isSet, reason, ...(reader && { public_reason: true }) }
          return api.request('PUT', url, { body })
        },
      })
      if (!answer) return
      context.announce(texts.answered(name ?? id, answer[flag] ? words.is_set : words.is_clear))
      context.reload()
    })
    element.id = `set-${flag}`
    return element
  })
}

/**
 * @param {string[]} flags
 * @param {Record<string, boolean>} state
 */
const pick = (flags, state) => Object.fromEntries(flags.map((flag) => [flag, state[flag]]))

/**
 * Returns badges of the flags that are set.
 * @param {Context} context
 * @param {Partial<Moderation>} state
 */
export function flagBadges({ texts }, { hidden, frozen, user }) {
  const badges = []
  if (hidden) badges.push(badge(texts.flags.hidden.is_set, 'warn'))
  if (frozen) badges.push(badge(texts.flags.frozen.is_set, 'warn'))
  if (user?.hidden) badges.push(badge(texts.member_page.opted_out))
  if (!badges.length) badges.push(badge(texts.visible, 'good'))
  return badges
}

/**
 * Returns the button that erases a member or deletes a target, once the moderator has typed the id.
 * @param {Context} context
 * @param {object} options
 * @param {string} options.url
 * @param {string} options.id
 * @param {string} [options.name]
 * @param {string} options.label
 * @param {string} options.effect
 * @param {string} options.done
 * @param {string} options.back the hash to open afterwards
 */
export function removeButton(context, { url, id, name, label, effect, done, back }) {
  const { texts, api } = context
  const confirmation = confirmField(context, id)
  const element = button(
    label,
    async () => {
      const answer = await openForm(context, {
        title: `${label}: ${named(id, name)}`,
        content: [make('p', {}, effect)],
        fields: [confirmation],
        submit: label,
        isDanger: true,
        send: async () => {
          await api.request('DELETE', url)
          return true
        },
      })
      if (!answer) return
      location.hash = back
      // The new view clears the message of the one before.
      addEventListener('hashchange', () => context.announce(texts.answered(id, done)), { once: true })
    },
    'danger quiet',
  )
  element.id = 'remove'
  return element
}

/** @param {string} user */
export const userPath = (user) => path`/v1/users/${user}`

/** @param {string} target */
export const targetPath = (target) => path`/v1/targets/${target}`
