// The page of a deployment: its boards, what a member can do, what another site writes to have both.

import { Member } from './member.js'
import { snippets } from './snippets.js'
import { choose, chosen, WORDS } from './words.js'

const $ = (id) => document.getElementById(id)

const member = new Member({ board: $('board'), words: () => WORDS[document.documentElement.lang] })

/** Signs a member in: their token, and its `sub` as the user. */
export const signIn = (token) => member.signIn(token)

function speak(tag) {
  const words = WORDS[tag]
  document.documentElement.lang = tag
  document.title = words.title
  $('language').value = tag
  for (const element of document.querySelectorAll('[data-word]')) element.textContent = words[element.dataset.word]
  for (const element of document.querySelectorAll('activity-rank, activity-heatmap')) element.lang = tag
  member.label()
}

// What the address names: #week, #day/2026-11-19
function route() {
  const [period, date] = location.hash.slice(1).split('/')
  if (!/^(day|week|month|year|all)$/.test(period)) return
  $('board').setAttribute('period', period)
  if (date) $('board').setAttribute('date', date)
  else $('board').removeAttribute('date')
}

function remember() {
  const [period, date] = ['period', 'date'].map((name) => $('board').getAttribute(name))
  const hash = `#${period ?? 'day'}${date ? `/${date}` : ''}`
  if (hash !== (location.hash || '#day')) history.replaceState(null, '', hash)
}

// In another page's frame a click may be meant for something else: there are boards and no buttons.
document.documentElement.classList.toggle('framed', self !== top)
for (const snippet of snippets(new URL('/', location).href.replace(/\/$/, ''))) $('snippets').append(snippet)
speak(chosen())
document.documentElement.dataset.ready = ''
route()
addEventListener('hashchange', route)
new MutationObserver(remember).observe($('board'), { attributes: true, attributeFilter: ['period', 'date'] })
$('language').addEventListener('change', ({ target }) => {
  choose(target.value)
  speak(target.value)
})
$('snippets').addEventListener('click', async ({ target }) => {
  if (!(target instanceof HTMLButtonElement)) return
  const text = target.closest('figure').querySelector('pre')
  const words = WORDS[document.documentElement.lang]
  try {
    await navigator.clipboard.writeText(text.textContent)
    target.textContent = words.copied
  } catch {
    // There is none but by https, and the browser may ask and be refused.
    getSelection().selectAllChildren(text)
    target.textContent = words.selected
  }
  setTimeout(() => (target.textContent = WORDS[document.documentElement.lang].copy), 2000)
})
