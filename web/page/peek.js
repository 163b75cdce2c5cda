// The card of a member beside a link to their page: while the pointer rests on it, while it has the focus, or after a long
// press.

import { embed } from './dom.js'

const CARD = '../elements/activity-card.js' // loaded with the first card
const DELAY = 400 // ms
const GAP = 8 // px between the link and the card
const PAGE = /^\/u\/([^/]+)$/

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer
/** @type {HTMLAnchorElement | null} of the card that is shown or comes */
let shown = null
const peek = Object.assign(document.createElement('div'), { id: 'peek', popover: 'manual' })
peek.role = 'tooltip'

/** Shows cards from now on. */
export function startPeek() {
  document.body.append(peek)
  addEventListener('pointerover', (event) => {
    if (event.pointerType === 'touch') return
    const link = linkOf(event)
    if (link) showSoon(link)
    else if (!event.composedPath().includes(peek)) hide()
  })
  addEventListener('focusin', (event) => {
    const link = linkOf(event)
    if (link?.matches(':focus-visible')) showSoon(link)
    else hide()
  })
  addEventListener('keydown', ({ key }) => key === 'Escape' && hide())
  addEventListener('pointerdown', (event) => {
    hide()
    const link = event.pointerType === 'touch' && linkOf(event)
    if (link) showSoon(link)
  })
  for (const name of ['pointerup', 'pointercancel', 'scroll']) addEventListener(name, () => clearTimeout(timer), true)
  // The menu of the browser would cover the card.
  addEventListener('contextmenu', (event) => {
    if (peek.matches(':popover-open') && linkOf(event) === shown) event.preventDefault()
  })
}

/**
 * Returns the link to a member that an event is about, also one within an element.
 * @param {Event} event
 */
function linkOf(event) {
  const links = event.composedPath().filter((target) => target instanceof HTMLAnchorElement)
  return links.find(({ origin, pathname }) => origin === location.origin && PAGE.test(pathname)) ?? null
}

/** @param {HTMLAnchorElement} link */
function showSoon(link) {
  if (link === shown) return
  hide()
  shown = link
  timer = setTimeout(() => show(link), DELAY)
}

/** @param {HTMLAnchorElement} link */
async function show(link) {
  await import(CARD)
  const user = decodeURIComponent(PAGE.exec(link.pathname)?.[1] ?? '')
  if (link !== shown || !link.isConnected) return
  peek.replaceChildren(embed('activity-card', { user }))
  peek.showPopover()
  const { left, top, bottom } = link.getBoundingClientRect()
  const { width, height } = peek.getBoundingClientRect()
  const below = bottom + GAP
  const y = below + height > innerHeight ? Math.max(GAP, top - GAP - height) : below
  peek.style.translate = `${Math.max(GAP, Math.min(left, innerWidth - width - GAP))}px ${y}px`
}

function hide() {
  clearTimeout(timer)
  shown = null
  if (peek.matches(':popover-open')) peek.hidePopover()
}
