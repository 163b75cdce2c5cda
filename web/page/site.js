// The common parts of the pages: the header with language, theme and session, and the notice.

import { $, embedded, memberPath } from './dom.js'
import { isFramed, session } from './session.js'
import { startTheme } from './theme.js'
import { startLanguage, words } from './words.js'

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
  startTheme($('theme'))
  await startLanguage($('language'), () => {
    showNotice()
    render()
  })
  session.addEventListener('change', () => {
    showNotice()
    showSession()
    showMember()
  })
  $('sign-out').addEventListener('click', () => {
    session.signOut()
    $('home').focus()
  })
  $('notice-close').addEventListener('click', () => {
    session.notice = null
    showNotice()
  })
  showNotice()
  showSession()
  showMember()
  render()
  root.dataset.ready = ''
}

/** Shows who is signed in: the id, until the profile with the name has arrived. */
async function showSession() {
  const { user, token } = session
  $('session').hidden = !user
  if (!user) return
  const link = Object.assign($('me'), { href: memberPath(user), textContent: user })
  const { status, body } = await session.profile
  if (status === 200 && body.name && token === session.token) link.textContent = body.name
}

/** Shows why the member is not signed in, until it is closed. */
function showNotice() {
  const { notice } = session
  $('notice-text').textContent = notice ? words()[notice] : ''
  $('notice').hidden = !notice
}

/** Requests the data of all elements of the page again. */
export function reloadAll() {
  for (const element of embedded()) /** @type {any} */ (element).reload?.()
}
