// <activity-rank>: a board that keeps itself up to date.

import { baseOf, reflect, secondsOf } from './dom.js'
import { languageOf } from './languages.js'
import { Memory } from './members.js'
import { Source } from './source.js'
import { common, ranking } from './style.js'
import { PERIODS, View } from './view.js'

const ATTRIBUTES = ['src', 'period', 'date', 'group', 'user', 'limit', 'refresh', 'theme']

export class ActivityRank extends HTMLElement {
  static observedAttributes = [...ATTRIBUTES, 'lang']

  /** All is asked for by this; another may take its place. */
  static fetch = (url, options) => fetch(url, options)

  #view = new View({
    choose: (period) => {
      this.date = null
      this.period = period
    },
    go: (date) => (this.date = date),
  })
  #due = false
  #spoken // promise of the language
  #language
  #board // source
  #standing // source
  #shown // board on the page
  #told = '' // load or error
  #hasShown = false
  #off = new Set() // periods there are not
  #memory
  #rank // of the member
  #step // the smallest there is between two scores

  constructor() {
    super()
    const root = this.attachShadow({ mode: 'open' })
    root.adoptedStyleSheets = [common, ranking]
    root.append(this.#view.section)
  }

  connectedCallback() {
    this.#update()
  }

  disconnectedCallback() {
    this.#update()
  }

  attributeChangedCallback(name, before, after) {
    if (before !== after && this.isConnected) this.#update()
  }

  /** The board as JSON, or null. */
  get board() {
    return this.#board?.state.data ?? null
  }

  /** Looks now. */
  reload() {
    this.#board?.refresh()
    this.#standing?.refresh()
  }

  get #limit() {
    return this.limit ?? 10
  }

  get #period() {
    return this.period ?? PERIODS[0]
  }

  // Attributes change one by one, and who is moved leaves first: the rest is done once, after all.
  #update() {
    if (this.isConnected) {
      this.#view.reserve({ limit: this.#limit, period: this.#period, hasOwn: Boolean(this.user), off: this.#off })
    }
    if (this.#due) return
    this.#due = true
    queueMicrotask(() => {
      this.#due = false
      this.#look(...(this.isConnected ? this.#addresses() : []))
      this.#speak()
    })
  }

  // Of board, event stream and standing.
  #addresses() {
    const base = baseOf(this)
    const address = (path, parameters) => {
      const url = new URL(`v1/ranking/${encodeURIComponent(this.#period)}${path}`, base)
      for (const [name, value] of Object.entries(parameters)) if (value) url.searchParams.set(name, value)
      return url.href
    }
    const { date, group, user } = this
    const limit = this.#limit
    return [
      address('', { limit, date, group }),
      date ? null : address('/live', { limit, group }),
      user && address(`/users/${encodeURIComponent(user)}`, { date, group }),
    ]
  }

  #look(board, live, standing) {
    const { fetch } = this.constructor
    const seconds = secondsOf(this, 15)
    if (this.#board?.url !== board) {
      this.#board?.unwatch(this.#see)
      this.#board = board && Source.of(fetch, board, live)
      this.#told = ''
      this.#view.wait(this.#hasShown)
    }
    if (this.#standing?.url !== standing) {
      this.#standing?.unwatch(this.#place)
      this.#standing = standing && Source.of(fetch, standing)
      this.#rank = null
      this.#memory = standing && new Memory(new URL(standing).origin, this.group ?? '', this.user)
      // Their row is marked on the board.
      this.#shown = null
    }
    this.#board?.watch(this.#see, seconds)
    this.#standing?.watch(this.#place, 0)
  }

  async #speak() {
    const spoken = languageOf(this)
    if (spoken === this.#spoken) return
    this.#spoken = spoken
    const language = await spoken
    if (spoken !== this.#spoken) return
    this.#language = language
    this.#shown = null
    this.#view.label(language)
    if (this.#board) this.#see(this.#board.state)
  }

  #see = ({ data, at, failure }) => {
    const language = this.#language
    if (!language) return
    if (!data) return failure && this.#fail(failure)
    const { texts } = language
    if (data !== this.#shown) {
      const same = this.#told === 'load'
      if (same && !data.entries.some(({ user }) => user.id === this.user)) this.#standing?.follow()
      this.#shown = data
      this.#hasShown = true
      this.#view.show(data, { own: this.user, language, same })
      this.#place()
    }
    const time = language.time(data.stale ? Date.parse(data.as_of) : at)
    const words = failure ? (failure.offline ? texts.offline : texts.failed) : data.stale && texts.stale
    this.#view.note(words ? words(time) : '')
    this.#tell(new Event('load'))
    // Who has come to now by the arrows stays with now.
    if (this.date && !data.period.closed) this.date = null
  }

  #fail({ status, problem, offline }) {
    const { texts } = this.#language
    if (status === 404 && problem?.type === '/problems/not-found') {
      this.#off.add(this.#period)
      const left = PERIODS.find((period) => !this.#off.has(period))
      if (left) return (this.period = left)
    }
    const hasFallback = this.childElementCount > 0 || this.textContent.trim() !== ''
    this.#shown = null
    this.#view.fail(texts.nothing, this.#hasShown, hasFallback)
    const message = problem?.detail ?? (offline ? 'offline' : `status ${status}`)
    this.#tell(new ErrorEvent('error', { message }))
  }

  // Once of each address, as an image does.
  #tell(event) {
    if (this.#told === event.type || this.#told === 'load') return
    this.#told = event.type
    this.dispatchEvent(event)
  }

  // By the board where they are on it: a standing is asked for by each member alone.
  #place = () => {
    if (!this.#shown || !this.#standing) return
    const { period, total, entries } = this.#shown
    let standing = this.#standing.state.data
    if (standing?.next) {
      const { score, next } = standing
      this.#step = rounded(next.points - (next.score - score))
    }
    if (standing?.period.id !== period.id) standing = null
    const at = entries.findIndex(({ user }) => user.id === this.user)
    if (at < 0 ? this.#standing.state.data !== standing : at > 0 && !this.#step) this.#standing.follow()
    let place = standing
    if (at >= 0) {
      const [above, entry] = [entries[at - 1], entries[at]]
      const next = above && this.#step && { rank: above.rank, points: rounded(above.score - entry.score + this.#step) }
      place = { ...entry, next, percentile: Math.round((1000 * (total - entry.rank + 1)) / total) / 10 }
    }
    if (!place) return
    const { rank } = place
    this.#view.own.show(place, this.date ? 0 : this.#memory.moved(period, rank), this.#language)
    const last = this.#rank
    this.#rank = { id: period.id, rank }
    const from = last?.rank
    if (last?.id !== period.id || from === rank) return
    const detail = { period, from, to: rank }
    this.dispatchEvent(new CustomEvent('rankchange', { detail, bubbles: true, composed: true }))
  }
}

reflect(ActivityRank, ATTRIBUTES)

// Scores have two decimals at most.
const rounded = (points) => Math.round(points * 100) / 100
