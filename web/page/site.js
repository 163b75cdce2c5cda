// What the pages have in common: the header with language, theme and session, and the notice.

import { $, embedded, memberPath } from './dom.js'
import { isFramed, session } from './session.js'
import { startTheme } from './theme.js'
import { startLanguage, words } from './words.js'

/** @import { Notice } from './texts.d.ts' */

/**
 * Starts a page.
 * @param {object} page
 * @param {() => void} page.render writes the page; called again after a change of the language
 * @param {() => void} page.showMember shows the signed-in member; called first, and after each change of the session
 */
export async function startPage({ render, showMember }) {
  const root = document.documentElement
  root.classList.toggle('framed', isFramed)
  session.start()
  if (session.notice) notify(session.notice)
  startTheme($('theme'))
  await startLanguage($('language'), () => {
    showSession()
    render()
  })
  session.addEventListener('change', () => {
    if (session.notice) notify(session.notice)
    else if (session.user) notify(null)
    showSession()
    showMember()
  })
  $('sign-out').addEventListener('click', () => {
    session.signOut()
    $('home').focus()
  })
  $('notice-close').addEventListener('click', () => notify(null))
  showSession()
  showMember()
  render()
  if (notice) notify(notice)
  root.dataset.ready = ''
}

/**
 * Shows the name of the signed-in member.
 * @param {string} name
 */
export function showName(name) {
  $('me').textContent = name
}

function showSession() {
  const { user } = session
  $('session').hidden = !user
  const link = /** @type {HTMLAnchorElement} */ ($('me'))
  if (!user) return
  link.href = memberPath(user)
  if (!link.textContent || link.dataset.user !== user) link.textContent = user
  link.dataset.user = user
}

/** @type {Notice | null} */
let notice = null

/**
 * Shows a text above the page until it is closed.
 * @param {Notice | null} name of the text, or null for none
 */
export function notify(name) {
  notice = name
  const texts = words()
  if (!texts) return
  $('notice-text').textContent = name ? texts[name] : ''
  $('notice').hidden = !name
}

/** Requests the data of all elements of the page again. */
export function reloadAll() {
  for (const element of embedded()) /** @type {any} */ (element).reload?.()
}
