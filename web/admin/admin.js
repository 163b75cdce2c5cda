// The admin page: signs in with a service key, and opens the view of the URL's hash.

/** @import { Context, Texts } from './types.js' */
/** @typedef {(context: Context, argument: string) => Promise<HTMLElement>} View */

import { $, decoded, make } from '../page/dom.js'
import { store, stored } from '../page/storage.js'
import { startTheme } from '../page/theme.js'
import { directionOf, preferredLanguage, storeLanguage } from '../page/words.js'
import { Api, ApiError } from './api.js'
import { auditView } from './audit.js'
import { caseView } from './case.js'
import { casesView } from './cases.js'
import { eventsView } from './events.js'
import { Format } from './format.js'
import { healthView } from './health.js'
import { openJump } from './jump.js'
import { languages, load } from './language.js'
import { memberView } from './member.js'
import { numbersView } from './numbers.js'
import { overviewView } from './overview.js'
import { problem } from './parts.js'
import { rulesView } from './rules.js'
import { searchView } from './search.js'
import { targetView } from './targets.js'
import { webhooksView } from './webhooks.js'

// For as long as the tab is open. A key is never part of a URL.
const STORAGE_KEY = 'activity-rank admin key'

/** @type {Record<string, View>} by the first segment of the hash */
const VIEWS = {
  overview: overviewView,
  members: (context) => searchView(context, 'members'),
  member: memberView,
  targets: (context) => searchView(context, 'targets'),
  target: targetView,
  cases: casesView,
  case: caseView,
  audit: auditView,
  rules: rulesView,
  numbers: numbersView,
  health: healthView,
  events: eventsView,
  webhooks: webhooksView,
}
/** @typedef {keyof Texts['sections']} Section */
/** @type {Section[]} */
const SECTIONS = [
  'overview',
  'members',
  'targets',
  'cases',
  'audit',
  'rules',
  'numbers',
  'health',
  'events',
  'webhooks',
]
/** @type {Record<string, Section>} the section of views that have no entry of their own */
const PARENTS = { member: 'members', target: 'targets', case: 'cases' }

const keyField = /** @type {HTMLInputElement} */ ($('key'))
const languageField = /** @type {HTMLSelectElement} */ ($('language'))

/** @type {Api | null} */
let api = null
/** @type {Texts} */
let texts
/** @type {Format} */
let format
let opened = new AbortController()

/** @param {string} text */
function announce(text) {
  $('news').textContent = text
}

/** Returns the view of the hash and its argument: `#member/42`. */
function route() {
  const [name, ...rest] = location.hash.slice(1).split('/')
  const known = Object.hasOwn(VIEWS, name) ? name : 'overview'
  return { name: known, argument: known === name ? decoded(rest.join('/')) : '' }
}

/**
 * @param {AbortSignal} signal
 * @returns {Context}
 */
const contextOf = (signal) => ({
  ...{ api: /** @type {Api} */ (api), texts, format, signal, announce },
  reload: () => open({ isSame: true }),
})

function jump() {
  if (!api || document.querySelector('dialog')) return
  const sections = SECTIONS.map((name) => ({ url: `#${name}`, label: texts.sections[name], kind: texts.jump.section }))
  openJump(contextOf(opened.signal), sections)
}

/**
 * Opens the view of the hash. A view of which the moderator has already seen another state keeps the focus where it is.
 * @param {{ isSame?: boolean, isFirst?: boolean }} [options]
 */
async function open({ isSame = false, isFirst = false } = {}) {
  opened.abort()
  opened = new AbortController()
  const { signal } = opened
  const { name, argument } = route()
  const view = $('view')
  const section = PARENTS[name] ?? /** @type {Section} */ (name)
  for (const link of document.querySelectorAll('#nav a')) {
    const isCurrent = link.getAttribute('href') === `#${section}`
    if (isCurrent) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
    // On a phone the sections scroll.
    if (isCurrent) link.scrollIntoView({ block: 'nearest', inline: 'center' })
  }
  view.ariaBusy = 'true'
  const focused = isSame ? document.activeElement?.id : undefined
  // Buttons of the previous view would send the wrong change.
  view.inert = true
  if (!isSame) {
    announce('')
    view.replaceChildren(make('p', { className: 'loading' }, texts.loading))
  }
  const context = contextOf(signal)
  /** @type {HTMLElement} */
  let content
  try {
    content = await VIEWS[name](context, argument)
  } catch (error) {
    if (signal.aborted || !(error instanceof ApiError)) {
      if (signal.aborted) return
      throw error
    }
    content = make('div', {}, make('h1', { tabIndex: -1 }, texts.sections[section]), problem(context, error))
    // A request that the service refused would be refused again.
    const mayPass = error.status === 0 || error.status === 429 || error.status >= 500
    if (mayPass) content.append(make('button', { type: 'button', onclick: () => open() }, texts.retry))
  }
  if (signal.aborted) return
  view.replaceChildren(content)
  view.inert = false
  view.ariaBusy = null
  const title = view.querySelector('h1')
  document.title = [title?.textContent, texts.admin, location.host].filter(Boolean).join(' · ')
  if (isFirst) return
  const kept = focused ? document.getElementById(focused) : null
  if (kept) kept.focus()
  else if (!isSame || document.activeElement === document.body) title?.focus()
  if (!isSame) scrollTo(0, 0)
}

/** @param {string} tag */
async function setLanguage(tag) {
  texts = await load(tag)
  format = new Format(tag)
  document.documentElement.lang = tag
  document.documentElement.dir = directionOf(tag)
  document.title = `${texts.admin} · ${location.host}`
  languageField.value = tag
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-text]'))) {
    element.textContent = texts.page[/** @type {keyof Texts['page']} */ (element.dataset.text)]
  }
  $('nav').ariaLabel = texts.navigation
  $('theme').ariaLabel = texts.dark
  $('jump').ariaLabel = texts.jump.title
  $('jump').title = `${texts.jump.title} (Ctrl+K, ⌘K)`
  const links = SECTIONS.map((name) => make('li', {}, make('a', { href: `#${name}` }, texts.sections[name])))
  $('nav').replaceChildren(make('ul', {}, ...links))
}

/** @param {boolean} isSignedIn */
function setSignedIn(isSignedIn) {
  $('sign-in').hidden = isSignedIn
  for (const id of ['nav', 'view', 'jump', 'sign-out']) $(id).hidden = !isSignedIn
  document.documentElement.classList.toggle('signed-in', isSignedIn)
}

/**
 * Signs in if the service accepts the key for administration.
 * @param {string} key
 * @param {boolean} isFirst
 */
async function signIn(key, isFirst) {
  const candidate = new Api(key)
  try {
    await candidate.get('/v1/moderation?limit=1')
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return signOut(reasonOf(error))
  }
  store(STORAGE_KEY, key, 'session')
  candidate.onRejected = () => signOut(texts.sign_in.rejected)
  api = candidate
  $('sign-in-error').textContent = ''
  setSignedIn(true)
  await open({ isFirst })
}

/** @param {ApiError} error */
function reasonOf({ status, problem }) {
  if (status === 401) return texts.sign_in.wrong_key
  if (status === 403) return texts.sign_in.missing_scope
  return status ? (problem.detail ?? problem.title ?? `${status}`) : texts.errors.network
}

/** @param {string} reason */
function signOut(reason) {
  opened.abort()
  api = null
  store(STORAGE_KEY, null, 'session')
  $('view').replaceChildren()
  announce('')
  setSignedIn(false)
  $('sign-in-error').textContent = reason
  document.title = `${texts.admin} · ${location.host}`
  keyField.focus()
}

async function start() {
  for (const { tag, name } of languages()) languageField.append(make('option', { value: tag, lang: tag }, name))
  startTheme($('theme'))
  await setLanguage(preferredLanguage())
  $('host').textContent = location.host
  const key = stored(STORAGE_KEY, 'session')
  if (key) await signIn(key, true)
  else setSignedIn(false)
  document.documentElement.dataset.ready = ''
  if (!key) keyField.focus()
}

languageField.addEventListener('change', async () => {
  storeLanguage(languageField.value)
  await setLanguage(languageField.value)
  $('sign-in-error').textContent = ''
  if (api) await open({ isSame: true })
})
$('sign-in').addEventListener('submit', (event) => {
  event.preventDefault()
  const key = keyField.value.trim()
  keyField.value = ''
  signIn(key, false)
})
$('sign-out').addEventListener('click', () => signOut(''))
$('jump').addEventListener('click', jump)
addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
  if (api) event.preventDefault()
  jump()
})
addEventListener('hashchange', () => api && open())
await start()
