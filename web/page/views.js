// Views of the board beside its top, for the signed-in member: the members around, and the followed members. The address
// names the view: ?view=around

import { $, faceOf, make, memberLink } from './dom.js'
import { session } from './session.js'
import { store, stored } from './storage.js'
import { Tabs } from './tabs.js'
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
  #board
  #tabs
  /** @type {string[]} */
  #periods = []
  /** @type {Entry[] | null} null before they have loaded, or if they cannot be loaded */
  #entries = null
  #isLoaded = false
  #requests = 0

  /**
   * @param {object} board
   * @param {() => string | null} board.periodOf returns the period of a board of members, none for another board
   * @param {() => boolean} board.isPast returns whether the board is of a date
   * @param {(period: string) => void} board.select shows the current board of a period
   */
  constructor(board) {
    this.#board = board
    this.#tabs = new Tabs($('list-tabs'), $('list-content'), board.select)
    const wanted = new URLSearchParams(location.search).get('view') ?? stored(STORAGE_KEY)
    this.#view = VIEWS.find((view) => view === wanted) ?? 'top'
    setInterval(() => document.hidden || this.load(), INTERVAL)
  }

  /** @param {string[]} periods of the boards of members */
  set periods(periods) {
    this.#periods = periods
    this.render()
  }

  get #isOffered() {
    return Boolean(session.user && this.#board.periodOf())
  }

  /**
   * The view that is shown: of a past board, there is only the top.
   * @returns {View}
   */
  get #shown() {
    return this.#isOffered && !this.#board.isPast() ? this.#view : 'top'
  }

  /** Follows the session, the board and the language. */
  render() {
    if (!words()) return
    const view = this.#shown
    $('views').hidden = !this.#isOffered
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
    if (view === 'top') $('list-content').replaceChildren()
    else this.#renderList()
  }

  /** Loads the list of the view, if it shows one. */
  async load() {
    const view = this.#shown
    if (view === 'top') return
    const id = encodeURIComponent(session.user ?? '')
    const path = view === 'around' ? `/users/${id}?around=${AROUND}` : `/users?followed_by=${id}`
    const request = ++this.#requests
    const { status, body } = await session.request(`/v1/ranking/${this.#board.periodOf()}${path}`)
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
    if (view !== 'top' && this.#board.isPast()) this.#board.select(this.#board.periodOf() ?? '')
    this.restart()
  }

  #renderList() {
    this.#tabs.render(this.#periods, this.#board.periodOf() ?? '')
    const { alone, not_loaded } = words()
    const content = $('list-content')
    content.ariaBusy = String(!this.#isLoaded)
    // Until the rows are there, the former ones keep their place.
    if (!this.#isLoaded) return
    if (!this.#entries) return content.replaceChildren(make('p', { className: 'muted' }, not_loaded))
    const rows = this.#entries.map(({ rank, score, user }) => {
      const place = make('span', { className: 'rank' }, rank ? number(rank) : '–')
      const row = make('li', {}, place, faceOf(user), memberLink(user), make('b', {}, number(score)))
      if (user.id === session.user) row.ariaCurrent = 'true'
      return row
    })
    content.replaceChildren(make('ol', { className: 'plain ranks' }, ...rows))
    const view = /** @type {'around' | 'friends'} */ (this.#view)
    // The member is among their friends.
    const isAlone = view === 'friends' ? rows.length < 2 : !rows.length
    if (isAlone) content.append(make('p', { className: 'muted' }, alone[view]))
  }
}
