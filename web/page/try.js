// The playground for developers: act as a member, see the requests, and copy snippets for other sites.

import { $ } from './dom.js'
import { Member } from './member.js'
import { read, session } from './session.js'
import { startPage } from './site.js'
import { snippets } from './snippets.js'
import { words } from './words.js'

const board = $('board')
const member = new Member()

/**
 * Signs in the user of a token.
 * @param {string} token
 */
export const signIn = (token) => session.signIn(token)

function showMember() {
  if (session.user) board.setAttribute('user', session.user)
  else board.removeAttribute('user')
  const hadFocus = document.activeElement?.closest('#sign-in')
  member.showMember()
  if (hadFocus && session.user) $('target').focus()
}

/** @param {HTMLButtonElement} button */
async function copySnippet(button) {
  const text = button.closest('figure')?.querySelector('pre')
  if (!text) return
  try {
    await navigator.clipboard.writeText(text.textContent)
    button.textContent = words().copied
  } catch {
    // The clipboard needs HTTPS and may need a permission.
    getSelection()?.selectAllChildren(text)
    button.textContent = words().selected
  }
  setTimeout(() => (button.textContent = words().copy), 2000)
}

$('sign-in').addEventListener('submit', (event) => {
  event.preventDefault()
  const input = /** @type {HTMLInputElement} */ ($('token'))
  const token = input.value.trim()
  input.value = ''
  session.signIn(token)
})
$('snippets').addEventListener('click', ({ target }) => {
  if (target instanceof HTMLButtonElement) copySnippet(target)
})

const { status, body } = await read('/elements/integrity.json')
$('snippets').append(...snippets(location.origin, status === 200 ? body['activity-rank.js'] : undefined))
await startPage({ render: () => member.render(), showMember })
member.rules = (await read('/healthz')).body?.configured?.rules ?? {}
