// The achievements of a member: steps that were earned, and those that a moderator awards or withdraws.

/** @import { Content } from './parts.js' */
/** @import { Achievement, Context, Field, User } from './types.js' */

import { make } from '../page/dom.js'
import { path } from './api.js'
import { openForm, reasonField } from './dialog.js'
import { badge, button, feed, named, time } from './parts.js'

/**
 * Returns the achievements of a member; empty if the deployment has none.
 * @param {Context} context
 * @param {string} id
 * @returns {Promise<Content>}
 */
export async function achievementsOf(context, id) {
  const { api, texts, format, signal } = context
  const words = texts.achievements
  /** @type {{ user: User, achievements: Achievement[] }} */
  const { user, achievements } = await api.get(
    path`/v1/users/${id}/achievements?lang=${document.documentElement.lang}`,
    signal,
  )
  if (!achievements.length) return ''
  const items = achievements.map((achievement) => {
    const { steps, value, next } = achievement
    const earned = steps.filter(({ at }) => at)
    const last = earned.at(-1)
    const more = [words.value(format.number(value), next === null ? '' : format.number(next))]
    const actions = []
    if (earned.length < steps.length) actions.push(changeButton(context, { user, achievement, isAward: true }))
    if (earned.length) actions.push(changeButton(context, { user, achievement, isAward: false }))
    return {
      line: [
        make('span', {}, achievement.name),
        ...earned.flatMap(({ value, by }) => [' ', badge(by ? words.by(format.number(value)) : format.number(value))]),
      ],
      more: last?.at ? [time(context, last.at), ` · ${more}`] : more,
      value: actions,
    }
  })
  return feed(items)
}

/**
 * Returns the button that awards steps of an achievement, or withdraws them.
 * @param {Context} context
 * @param {{ user: User, achievement: Achievement, isAward: boolean }} change
 */
function changeButton(context, { user: { id, name }, achievement, isAward }) {
  const { api, texts, format, announce } = context
  const words = isAward ? texts.achievements.award : texts.achievements.withdraw
  const url = path`/v1/users/${id}/achievements/${achievement.id}`
  const steps = achievement.steps.filter(({ at }) => !at === isAward)
  /** @type {Field} */
  const step = {
    name: 'step',
    label: texts.achievements.step,
    hint: words.hint,
    type: 'select',
    value: String(steps.at(isAward ? 0 : -1)?.value),
    options: steps.map(({ value }) => [String(value), format.number(value)]),
    pointer: '/step',
  }
  const element = button(words.title, async () => {
    const answer = await openForm(context, {
      title: `${words.title}: ${achievement.name}, ${named(id, name)}`,
      fields: [step, reasonField(context)],
      submit: words.title,
      send: async ({ step, reason }) => {
        const query = new URLSearchParams({ step, reason })
        if (isAward) await api.request('PUT', url, { body: { step: Number(step), reason } })
        else await api.request('DELETE', `${url}?${query}`)
        return true
      },
    })
    if (!answer) return
    announce(texts.answered(achievement.name, words.done))
    context.reload()
  })
  element.ariaLabel = `${words.title}: ${achievement.name}`
  return element
}
