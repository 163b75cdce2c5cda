// The page of a deployment: boards, a demo for members, and snippets for other sites.

import { $ } from './dom.js'
import { Member } from './member.js'
import { snippets } from './snippets.js'
import { preferredLanguage, storeLanguage, WORDS, words } from './words.js'

const board = $('board')
const languages = /** @type {HTMLSelectElement} */ ($('language'))
const member = new Member(board)

/**
 * Signs in the user of a token's `sub`.
 * @param {string} token
 */
export const signIn = (token) => member.signIn(token)

/** @param {string} tag */
function setLanguage(tag) {
  const { labels } = WORDS[tag]
  document.documentElement.lang = tag
  document.title = labels.title
  languages.value = tag
  /** @type {NodeListOf<HTMLElement>} */
  const labelled = document.querySelectorAll('[data-word]')
  for (const element of labelled) element.textContent = labels[element.dataset.word ?? '']
  /** @type {NodeListOf<HTMLElement>} */
  const elements = document.querySelectorAll('activity-rank, activity-heatmap')
  for (const element of elements) element.lang = tag
  member.label()
}

// Opens the board of the URL: #week, #day/2026-11-19.
function openHash() {
  const [period, date] = location.hash.slice(1).split('/')
  if (!/^(day|week|month|year|all)$/.test(period)) return
  board.setAttribute('period', period)
  if (date) board.setAttribute('date', date)
  else board.removeAttribute('date')
}

function updateHash() {
  const [period, date] = ['period', 'date'].map((name) => board.getAttribute(name))
  const hash = `#${period ?? 'day'}${date ? `/${date}` : ''}`
  if (hash !== (location.hash || '#day')) history.replaceState(null, '', hash)
}

/** @param {HTMLButtonElement} button */
async function copySnippet(button) {
  const text = button.closest('figure')?.querySelector('pre')
  if (!text) return
  const { labels } = words()
  try {
    await navigator.clipboard.writeText(text.textContent)
    button.textContent = labels.copied
  } catch {
    // The clipboard needs HTTPS and may need a permission.
    getSelection()?.selectAllChildren(text)
    button.textContent = labels.selected
  }
  setTimeout(() => (button.textContent = words().labels.copy), 2000)
}

// Against clickjacking, a framed page shows the boards only.
document.documentElement.classList.toggle('framed', self !== top)
for (const snippet of snippets(new URL('/', location.href).href.replace(/\/$/, ''))) $('snippets').append(snippet)
setLanguage(preferredLanguage())
document.documentElement.dataset.ready = ''
openHash()
addEventListener('hashchange', openHash)
new MutationObserver(updateHash).observe(board, { attributes: true, attributeFilter: ['period', 'date'] })
languages.addEventListener('change', () => {
  const { value } = languages
  storeLanguage(value)
  setLanguage(value)
})
$('snippets').addEventListener('click', ({ target }) => {
  if (target instanceof HTMLButtonElement) copySnippet(target)
})
