// The board of the front page, and its address: #week, #week/2026-11-16, #content/hot, #authors/month, #event/hackathon

import { $, decoded, make } from './dom.js'
import { words } from './words.js'

/** @typedef {'members' | 'authors' | 'content'} Kind */
/** @typedef {{ of: Kind, period: string, date?: string, event?: string }} Address */

const KINDS = /** @type {Kind[]} */ (['members', 'authors', 'content'])
const PERIOD = /^(day|week|month|year|all|hot)$/
const DATE = /^\d{4}-\d\d-\d\d$/
const ATTRIBUTES = ['of', 'period', 'date', 'event']

/**
 * Returns the board of an address, or null if it names none.
 * @param {string} hash
 * @returns {Address | null}
 */
export function parseAddress(hash) {
  // A sign-in link has its token there too.
  const parts = hash.replace(/^#|&token=.*/g, '').split('/')
  if (parts[0] === 'event' && parts[1]) return { of: 'members', period: '', event: decoded(parts[1]) }
  const kind = KINDS.find((kind) => kind === parts[0])
  const [period, date] = kind ? parts.slice(1) : parts
  if (!PERIOD.test(period ?? '') || (period === 'hot' && kind !== 'content')) return null
  return { of: kind ?? 'members', period, ...(date && DATE.test(date) && { date }) }
}

/** @param {Address} address */
export function formatAddress({ of, period, date, event }) {
  if (event) return `#event/${encodeURIComponent(event)}`
  return `#${[of === 'members' ? null : of, period, date].filter(Boolean).join('/')}`
}

/** The board, the links to its kinds, and the address of the page, which follow each other. */
export class Boards {
  #board = $('board')
  /** @type {string[]} Kinds without boards of content: members alone. */
  #contentPeriods = []
  /** @type {import('./events.js').Event[]} */
  #events = []
  #initial

  constructor() {
    this.#initial = this.#current
    this.#open()
    addEventListener('hashchange', () => this.#open())
    new MutationObserver(() => this.#follow()).observe(this.#board, { attributes: true, attributeFilter: ATTRIBUTES })
  }

  /** @param {string[]} periods with boards of content and of authors */
  set contentPeriods(periods) {
    this.#contentPeriods = periods
    this.render()
  }

  /** @param {import('./events.js').Event[]} events the running ones are among the boards */
  set events(events) {
    this.#events = events.filter(({ state }) => state === 'running')
    this.render()
  }

  /** Writes the links to the other kinds of boards, and to running events. */
  render() {
    if (!words()) return
    const texts = words()
    const { of, period, event } = this.#current
    const kinds = this.#contentPeriods.length ? KINDS : KINDS.slice(0, 1)
    const links = kinds.map((kind) => {
      const periods = kind === 'members' ? null : this.#contentPeriods
      const wanted = period === 'hot' || !period ? this.#initial.period : period
      const known = !periods || periods.includes(wanted) ? wanted : periods[0]
      const link = make('a', { href: formatAddress({ of: kind, period: known }) }, texts[kind])
      if (kind === of && !event) link.ariaCurrent = 'page'
      return link
    })
    for (const { id, title } of this.#events) {
      const link = make('a', { href: formatAddress({ of: 'members', period: '', event: id }), dir: 'auto' }, title)
      if (id === event) link.ariaCurrent = 'page'
      links.push(link)
    }
    const nav = $('kinds')
    const focused = [...nav.children].indexOf(/** @type {Element} */ (document.activeElement))
    nav.replaceChildren(...links)
    links[focused]?.focus()
    for (const link of document.querySelectorAll('#events a[href^="#event/"]')) {
      link.ariaCurrent = link.getAttribute('href') === location.hash ? 'page' : null
    }
  }

  /** @returns {Address} */
  get #current() {
    const [of, period, date, event] = ATTRIBUTES.map((name) => this.#board.getAttribute(name) ?? undefined)
    return { of: /** @type {Kind} */ (of ?? 'members'), period: period ?? 'day', date, event }
  }

  /** Shows the board of the address. Without one, the board of the page. */
  #open() {
    const address = parseAddress(location.hash) ?? (location.hash ? null : this.#initial)
    if (!address) return
    const { of, period, date, event } = address
    const values = {
      of: of === 'members' ? null : of,
      period: period || this.#board.getAttribute('period'),
      date,
      event,
    }
    for (const [name, value] of Object.entries(values)) {
      if (value) this.#board.setAttribute(name, value)
      else this.#board.removeAttribute(name)
    }
  }

  /** Writes the board into the address. */
  #follow() {
    if (location.hash.includes('token=')) return
    const hash = formatAddress(this.#current)
    if (hash !== (location.hash || formatAddress(this.#initial))) history.replaceState(null, '', hash)
    this.render()
  }
}
