// The common parts of the pages: the owner's site, the menu with language, theme and session, and the notice.

import { $, embedded, faceOf, make, memberPath } from './dom.js'
import { publicitySwitch } from './mine.js'
import { isFramed, session } from './session.js'
import { startTheme } from './theme.js'
import { startLanguage, words } from './words.js'

/** @typedef {{ text: string, url: string }} Link */
/** @typedef {'events' | 'winners' | 'rules'} Part */

/**
 * The owner's site, from the variable `SITE`.
 * @type {{ name?: string, url?: string, logo?: string, accent?: string, links?: Link[], parts?: Part[] }}
 */
export const site = JSON.parse(document.querySelector('meta[name=site]')?.getAttribute('content') || '{}')

/**
 * Returns whether the front page shows a part.
 * @param {Part} part
 */
export const isShown = (part) => site.parts?.includes(part) ?? true

/**
 * Returns the title of a document, with the name of the site.
 * @param {string} title
 */
export const titleOf = (title) => [...new Set([title, site.name ?? words().title])].join(' · ')

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
  showLook()
  startTheme($('theme'))
  const renderAll = () => {
    showNames()
    showNotice()
    render()
  }
  await startLanguage($('language'), renderAll)
  session.addEventListener('change', () => {
    showNotice()
    showSession()
    showMember()
  })
  $('sign-out').addEventListener('click', () => {
    $('menu').hidePopover()
    session.signOut()
  })
  $('notice-close').addEventListener('click', () => {
    session.notice = null
    showNotice()
  })
  showSession()
  showMember()
  renderAll()
  root.dataset.ready = ''
}

/** Shows logo and colour of the site. */
function showLook() {
  const { logo, accent } = site
  if (logo) {
    const image = make('img', { src: logo, alt: '', width: 32, height: 32, referrerPolicy: 'no-referrer' })
    $('home').firstElementChild?.replaceWith(image)
  }
  if (!accent) return
  document.documentElement.style.setProperty('--site-accent', accent)
  document.documentElement.dataset.accent = ''
}

/** Writes the name of the site and its links. */
function showNames() {
  const { name, url, links = [] } = site
  const texts = words()
  $('site-name').textContent = name ?? texts.title
  const back = url && { text: texts.back(name ?? new URL(url).host), url }
  $('back').hidden = !back
  if (back) Object.assign($('back'), { textContent: back.text, href: back.url })
  const all = back ? [back, ...links] : links
  const items = all.map(({ text, url: href }) => make('li', {}, make('a', { href, dir: 'auto' }, text)))
  document.querySelector('footer')?.toggleAttribute('hidden', !items.length)
  $('links').replaceChildren(...items)
}

/** Shows who is signed in: the id, until the profile with the name has arrived. */
async function showSession() {
  const { user, token } = session
  const button = $('menu-button')
  $('session').hidden = $('sign-out').hidden = !user
  button.querySelector('.face')?.remove()
  if (!user) return $('publicity').replaceChildren()
  const show = (/** @type {import('./dom.js').Profile} */ profile) => {
    $('me').textContent = profile.name ?? profile.id
    button.querySelector('.face')?.remove()
    button.append(faceOf(profile))
  }
  $('me').setAttribute('href', memberPath(user))
  $('publicity').replaceChildren(publicitySwitch(user))
  show({ id: user })
  const { status, body } = await session.profile
  if (status === 200 && token === session.token) show({ ...body, id: user })
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
