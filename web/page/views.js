// Views of the board beside its top, for the signed-in member: the members around, and the followed members. The address
// names the view: ?view=around

import { $, faceOf, make, memberLink } from './dom.js'
import { session } from './session.js'
import { store, stored } from './storage.js'
import { number, words } from './words.js'

/** @typedef {'top' | 'around' | 'friends'} View */
/** @typedef {{ rank: number | null, score: number, user: import('./dom.js').Profile }} Entry */

const VIEWS = /** @type {View[]} */ (['top', 'around', 'friends'])
const INTERVAL = 15e3 // ms
const AROUND = 10 // members above, and below
const STORAGE_KEY = 'activity-rank view'

export class Views {
  /** @type {View} */
  #view = 'top'
  /** @type {() => string | null} */
  #periodOf
  /** @type {Entry[] | null} null before they have loaded, or if they cannot be loaded */
  #entries = null
  #isLoaded = false
  #requests = 0

  /** @param {() => string | null} periodOf returns the period of a board of members, none for another board */
  constructor(periodOf) {
    this.#periodOf = periodOf
    const wanted = new URLSearchParams(location.search).get('view') ?? stored(STORAGE_KEY)
    this.#view = VIEWS.find((view) => view === wanted) ?? 'top'
    setInterval(() => document.hidden || this.load(), INTERVAL)
  }

  /** Follows the session, the board and the language. */
  render() {
    const isOffered = Boolean(session.user && this.#periodOf())
    const view = isOffered ? this.#view : 'top'
    $('views').hidden = !isOffered
    $('list').hidden = view === 'top'
    $('board').hidden = view !== 'top'
    const { views } = words()
    const buttons = VIEWS.map((name) => {
      const button = make('button', { type: 'button', ariaPressed: String(name === view) }, views[name])
      button.addEventListener('click', () => this.#select(name))
      return button
    })
    const focused = [...$('views').children].indexOf(/** @type {Element} */ (document.activeElement))
    $('views').replaceChildren(...buttons)
    buttons[focused]?.focus()
    if (view !== 'top') this.#renderList()
  }

  /** Loads the list of the view, if it shows one. */
  async load() {
    const { user } = session
    const period = this.#periodOf()
    if (!user || !period || this.#view === 'top') return
    const id = encodeURIComponent(user)
    const path = this.#view === 'around' ? `/users/${id}?around=${AROUND}` : `/users?followed_by=${id}`
    const request = ++this.#requests
    const { status, body } = await session.request(`/v1/ranking/${period}${path}`)
    if (request !== this.#requests) return
    this.#isLoaded = true
    this.#entries = status === 200 ? (body.around ?? body.entries) : null
    this.render()
  }

  /** Forgets the list of another board, and loads that of this one. */
  restart() {
    this.#entries = null
    this.#isLoaded = false
    this.#requests++
    this.render()
    this.load()
  }

  /** @param {View} view */
  #select(view) {
    this.#view = view
    store(STORAGE_KEY, view)
    const url = new URL(location.href)
    if (view === 'top') url.searchParams.delete('view')
    else url.searchParams.set('view', view)
    history.replaceState(null, '', url)
    this.restart()
  }

  #renderList() {
    const { alone, not_loaded, now } = words()
    if (!this.#isLoaded) return $('list').replaceChildren()
    const entries = this.#entries
    if (!entries?.length) {
      const text = entries ? alone[/** @type {'around' | 'friends'} */ (this.#view)] : not_loaded
      return $('list').replaceChildren(make('p', { className: 'muted' }, text))
    }
    const rows = entries.map(({ rank, score, user }) => {
      const place = make('span', { className: 'rank' }, rank ? number(rank) : '–')
      const row = make('li', {}, place, faceOf(user), memberLink(user), make('b', {}, number(score)))
      if (user.id === session.user) row.ariaCurrent = 'true'
      return row
    })
    const period = /** @type {keyof typeof now} */ (this.#periodOf())
    $('list').replaceChildren(make('h2', {}, now[period]), make('ol', { className: 'plain ranks' }, ...rows))
  }
}
