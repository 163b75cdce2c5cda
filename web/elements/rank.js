// <activity-rank>: a leaderboard that updates itself.

import { baseOf, reflecting, secondsOf } from './dom.js'
import { languageOf } from './languages.js'
import { RankMemory } from './members.js'
import { Source } from './source.js'
import { common, ranking } from './style.js'
import { PERIODS, View } from './view.js'

const ATTRIBUTES = /** @type {const} */ ([
  'src',
  'period',
  'date',
  'group',
  'event',
  'user',
  'limit',
  'refresh',
  'theme',
])

export class ActivityRank extends reflecting(ATTRIBUTES) {
  static observedAttributes = [...ATTRIBUTES, 'lang']

  /** Sends every request; may be overridden. */
  static fetch = (url, options) => fetch(url, options)

  #view = new View({
    onPeriod: (period) => {
      this.date = null
      this.period = period
    },
    onDate: (date) => (this.date = date),
  })
  #isScheduled = false
  #requestedLanguage // promise
  #language
  #board // source
  #standing // source
  #shown // board on display
  #fired = '' // the last event: load or error
  #hasShown = false
  #disabled = new Set() // periods
  #memory
  #rank // of `user`
  #step // smallest difference of two scores

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

  attributeChangedCallback(_name, before, after) {
    if (before !== after && this.isConnected) this.#update()
  }

  /** The board as JSON, or null before it has loaded. */
  get board() {
    return this.#board?.state.data ?? null
  }

  /** Requests the board now. */
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

  // Batches updates: attributes change one at a time, and moving the element disconnects it.
  #update() {
    if (this.isConnected) {
      const [limit, period, disabled] = [this.#limit, this.#period, this.#disabled]
      this.#view.reserve({ limit, period, event: this.event, hasOwn: Boolean(this.user), disabled })
    }
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#setSources(this.isConnected ? this.#urls() : {})
      this.#setLanguage()
    })
  }

  /** Returns the URLs of the board, its event stream and the standing of `user`. */
  #urls() {
    const { event, user } = this
    // An event has no dates and no groups.
    const { date, group } = event ? { date: null, group: null } : this
    const limit = this.#limit
    const base = baseOf(this)
    const [root, top] = event ? ['events', '/ranking'] : ['ranking', '']
    const url = (path, query) => {
      const url = new URL(`v1/${root}/${encodeURIComponent(event ?? this.#period)}${path}`, base)
      for (const [name, value] of Object.entries(query)) if (value) url.searchParams.set(name, value)
      return url.href
    }
    return {
      board: url(top, { limit, date, group }),
      live: date ? null : url('/live', { limit, group }),
      standing: user && url(`${top}/users/${encodeURIComponent(user)}`, { date, group }),
    }
  }

  /** @param {Record<string, string>} urls */
  #setSources({ board, live, standing }) {
    const { fetch } = /** @type {any} */ (this.constructor)
    if (this.#board?.url !== board) {
      this.#board?.unwatch(this.#onBoard)
      this.#board = board && Source.of(fetch, board, live)
      this.#fired = ''
      this.#view.load(this.#hasShown)
    }
    if (this.#standing?.url !== standing) {
      this.#standing?.unwatch(this.#showOwn)
      this.#standing = standing && Source.of(fetch, standing)
      this.#rank = null
      this.#memory = standing && new RankMemory(new URL(standing).origin, this.group ?? '', this.user)
      // Renders the board again, which marks the user's row.
      this.#shown = null
    }
    this.#board?.watch(this.#onBoard, secondsOf(this, 15))
    this.#standing?.watch(this.#showOwn, 0)
  }

  async #setLanguage() {
    const requested = languageOf(this)
    if (requested === this.#requestedLanguage) return
    this.#requestedLanguage = requested
    const language = await requested
    if (requested !== this.#requestedLanguage) return
    this.#language = language
    this.#shown = null
    this.#view.label(language)
    if (this.#board) this.#onBoard(this.#board.state)
  }

  #onBoard = ({ data, at, failure }) => {
    const language = this.#language
    if (!language) return
    if (!data) return failure && this.#fail(failure)
    const { texts } = language
    if (data !== this.#shown) {
      const animated = this.#fired === 'load'
      if (animated && !data.entries.some(({ user }) => user.id === this.user)) this.#standing?.refreshSoon()
      this.#shown = data
      this.#hasShown = true
      this.#view.show({ ...data, period: periodOf(data) }, { own: this.user, language, animated })
      this.#showOwn()
    }
    const status = failure ? (failure.offline ? texts.offline : texts.failed) : data.stale && texts.stale
    this.#view.setStatus(status ? status(language.time(data.as_of ? Date.parse(data.as_of) : at)) : '')
    this.#fire(new Event('load'))
    // Back on the current board, it follows the calendar again.
    if (this.date && !periodOf(data).closed) this.date = null
  }

  #fail({ status, problem, offline }) {
    const { texts } = this.#language
    if (!this.event && status === 404 && problem?.type === '/problems/not-found') {
      this.#disabled.add(this.#period)
      const other = PERIODS.find((period) => !this.#disabled.has(period))
      if (other) return (this.period = other)
    }
    const hasFallback = this.childElementCount > 0 || this.textContent.trim() !== ''
    this.#shown = null
    this.#view.fail(texts.nothing, this.#hasShown, hasFallback)
    const message = problem?.detail ?? (offline ? 'offline' : `status ${status}`)
    this.#fire(new ErrorEvent('error', { message }))
  }

  /** Dispatches `error` and then `load` at most once for each URL, as images do. */
  #fire(event) {
    if (this.#fired === event.type || this.#fired === 'load') return
    this.#fired = event.type
    this.dispatchEvent(event)
  }

  // Prefers the board, because every standing costs a request.
  #showOwn = () => {
    if (!this.#shown || !this.#standing) return
    const { total, entries } = this.#shown
    const period = periodOf(this.#shown)
    const { data } = this.#standing.state
    if (data?.next) this.#step = rounded(data.next.points - (data.next.score - data.score))
    const isCurrent = data && periodOf(data).id === period.id
    const index = entries.findIndex(({ user }) => user.id === this.user)
    if (index < 0 ? data && !isCurrent : index > 0 && !this.#step) this.#standing.refreshSoon()
    let standing = isCurrent ? data : null
    if (index >= 0) {
      const [above, entry] = [entries[index - 1], entries[index]]
      const points = above && this.#step && rounded(above.score - entry.score + this.#step)
      standing = { ...entry, total, next: points ? { rank: above.rank, points } : null }
    }
    if (!standing) return
    const { rank } = standing
    const moved = this.date ? 0 : this.#memory.update(period, rank)
    this.#view.own.show(standing, moved, this.#language)
    const last = this.#rank
    this.#rank = { id: period.id, rank }
    if (last?.id !== period.id || last.rank === rank) return
    const detail = { period, from: last.rank, to: rank }
    this.dispatchEvent(new CustomEvent('rankchange', { detail, bubbles: true, composed: true }))
  }
}

/** Returns the period of a board or of a standing; for an event one with its title. */
const periodOf = ({ period, event }) =>
  period ?? {
    kind: 'event',
    id: event.id,
    title: event.title,
    start: event.from,
    end: event.to,
    closed: event.state === 'final',
  }

/** Rounds points to the four decimals of scores. */
const rounded = (points) => Math.round(points * 1e4) / 1e4
