// The signed-in member's own card and year, and the switch that makes the year public.

import { $, embed, make } from './dom.js'
import { session } from './session.js'
import { words } from './words.js'

const FIELDS = /** @type {const} */ (['name', 'avatar', 'url', 'hidden'])

/** Shows the signed-in member's climb and year, or hides them. */
export function showMine() {
  const { user } = session
  $('mine').hidden = !user
  $('climb').replaceChildren(...(user ? [climbOf(user)] : []))
  $('mine-content').replaceChildren(...(user ? [yearOf(user)] : []))
}

/**
 * Creates the climb of a member; the signed-in member's own knows what they have done today.
 * @param {string} user
 * @param {string} [period]
 */
export function climbOf(user, period = 'week') {
  const climb = embed('activity-climb', { user, period, 'member-url': '/u/{user}' })
  if (user === session.user) Object.assign(climb, { token: session.token })
  else climb.setAttribute('other', '')
  return climb
}

/**
 * Creates the year of a member; the signed-in member's own also has what only they may read.
 * @param {string} user
 */
export function yearOf(user) {
  const year = embed('activity-heatmap', { user })
  if (user === session.user) Object.assign(year, { token: session.token })
  return year
}

/**
 * Creates a switch that lets everyone see the member's year.
 * @param {string} user the signed-in member
 */
export function publicitySwitch(user) {
  const input = make('input', { type: 'checkbox', role: 'switch', disabled: true })
  const text = make('span', {})
  text.dataset.word = 'public_activity'
  text.textContent = words().public_activity
  const status = make('span', { className: 'muted', role: 'status' })
  const path = `/v1/users/${encodeURIComponent(user)}`
  session.profile.then(({ status, body }) => {
    input.checked = status === 200 && body.public_activity === true
    input.disabled = status !== 200 && status !== 404
  })
  input.addEventListener('change', async () => {
    status.textContent = ''
    // A PUT replaces the profile, which the site may have changed in the meantime.
    const before = await session.request(path)
    const profile = before.status === 404 ? {} : before.status === 200 ? before.body : null
    const kept =
      profile && Object.fromEntries(FIELDS.filter((name) => name in profile).map((name) => [name, profile[name]]))
    const body = { ...kept, public_activity: input.checked }
    const { status: code } = kept ? await session.request(path, { method: 'PUT', body }) : before
    const texts = words()
    if (code === 200) {
      status.textContent = input.checked ? texts.now_public : texts.now_private
      return
    }
    input.checked = !input.checked
    status.textContent = code === 403 ? texts.not_allowed : texts.not_saved
  })
  return make('p', { className: 'publicity' }, make('label', {}, input, text), status)
}
