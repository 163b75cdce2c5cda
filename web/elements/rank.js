// <activity-rank>: a leaderboard that updates itself.

import { baseOf, pageOf, reflecting, secondsOf } from './dom.js'
import { languageOf } from './languages.js'
import { member } from './member-style.js'
import { ranking } from './ranking.js'
import { Source } from './source.js'
import { common } from './style.js'
import { periodsOf, View } from './view.js'
import { warn } from './warnings.js'

const LAYOUTS = ['full', 'list', 'compact', 'podium']
const ROOTS = { members: 'ranking', authors: 'authors', content: 'content' }
const MINUTE = 60e3 // ms
const MOST = 100 // rows of a request

const ATTRIBUTES = /** @type {const} */ ([
  'src',
  'of',
  'period',
  'date',
  'group',
  'event',
  'user',
  'limit',
  'layout',
  'winners',
  'member-url',
  'refresh',
  'theme',
])

export class ActivityRank extends reflecting(ATTRIBUTES, common + member + ranking) {
  static observedAttributes = [...ATTRIBUTES, 'lang']

  /** Sends every request; may be overridden. */
  static fetch = (url, options) => fetch(url, options)

  #view = new View({
    onPeriod: (period) => {
      this.date = null
      this.period = period
    },
    onDate: (date) => (this.date = date),
    onMore: () => this.#loadMore(),
  })
  #isScheduled = false
  #requestedLanguage // promise
  #language
  #of // what the columns are labelled for
  #board // source
  #pages = [] // sources of the rows after those of the board
  #merged = [] // the board on display with all pages, and what it was made of
  #focusAt = -1 // row that gets the focus when it is there
  #standing // source
  #winnersUrl
  #winners // source
  #winnersOf // id of the current period
  #shown // board on display
  #context // of the rows on display
  #fired = '' // the last event: load or error
  #invalid // error of attributes from which no URL can be made
  #isBroken = false // whether the last error is reported
  #hasShown = false
  #disabled = new Set() // periods
  #rank // of `user`
  #step // smallest difference of two scores
  #clock

  constructor() {
    super()
    this.shadowRoot.append(this.#view.section)
  }

  connectedCallback() {
    this.#clock = setInterval(() => this.#view.tick(), MINUTE)
    this.#update()
  }

  disconnectedCallback() {
    clearInterval(this.#clock)
    this.#update()
  }

  attributeChangedCallback(name, before, after) {
    if (before === after) return
    if (['src', 'of'].includes(name)) this.#disabled.clear()
    // Renders the board again.
    if (['of', 'member-url'].includes(name)) this.#shown = null
    if (this.isConnected) this.#update()
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

  /** What the rows are: members, authors or content. */
  get #kind() {
    return this.event || !Object.hasOwn(ROOTS, this.of ?? '') ? 'members' : this.of
  }

  get #layout() {
    return LAYOUTS.includes(this.layout) ? this.layout : 'auto'
  }

  get #limit() {
    return this.layout === 'podium' ? 3 : (this.limit ?? 10)
  }

  get #period() {
    const { period } = this
    return period === null || (period === 'hot' && this.#kind !== 'content') ? 'day' : period
  }

  get #periods() {
    return periodsOf(this.#kind).filter((period) => !this.#disabled.has(period))
  }

  // Batches updates: attributes change one at a time, and moving the element disconnects it.
  #update() {
    if (this.isConnected) {
      this.#view.reserve({
        limit: this.#limit,
        rows: this.#rows,
        period: this.#period,
        periods: this.#periods,
        event: this.event,
        of: this.#kind,
        layout: this.#layout,
        hasOwn: this.#hasOwn,
        hasWinners: this.#hasWinners,
      })
    }
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#invalid = null
      let urls = /** @type {any} */ ({})
      try {
        if (this.isConnected) urls = this.#urls()
      } catch (error) {
        this.#invalid = error
      }
      this.#setSources(urls)
      this.#setLanguage()
      this.#onInvalid()
    })
  }

  get #hasOwn() {
    return Boolean(this.user) && this.#kind !== 'content'
  }

  /** Whether the winners of the last period are below the board: only below current boards of members. */
  get #hasWinners() {
    const { event, date, layout, winners } = this
    const isDefault = !event && !date && layout !== 'podium' && winners !== 'none'
    return isDefault && this.#kind === 'members' && this.#period !== 'all'
  }

  /** Returns the URLs of the board, its event stream, the standing of `user` and the last winners. */
  #urls() {
    const { event, user } = this
    const [of, period] = [this.#kind, this.#period]
    const isHot = period === 'hot'
    // Only boards of periods have dates, and only those of members have groups and movement.
    const date = event || isHot ? null : this.date
    const group = event || of !== 'members' ? null : this.group
    const movement = !event && of === 'members' && period !== 'all'
    const limit = this.#limit
    const base = baseOf(this)
    const [root, top] = event ? ['events', '/ranking'] : [ROOTS[of], '']
    const url = (path, query) => {
      const url = new URL(`v1/${root}/${encodeURIComponent(event ?? period)}${path}`, base)
      for (const [name, value] of Object.entries(query)) if (value) url.searchParams.set(name, value)
      return url.href
    }
    return {
      board: url(top, { limit, date, group, movement }),
      live: date || isHot ? null : url('/live', { limit, group, movement }),
      standing: this.#hasOwn ? url(`${top}/users/${encodeURIComponent(user)}`, { date, group, movement }) : undefined,
      winners: this.#hasWinners ? url('/winners', { limit: 1, group }) : undefined,
    }
  }

  /** @param {Record<string, string>} urls */
  #setSources({ board, live, standing, winners }) {
    const { fetch } = /** @type {any} */ (this.constructor)
    if (this.#board?.url !== board) {
      this.#board?.unwatch(this.#onBoard)
      for (const page of this.#pages.splice(0)) page.unwatch(this.#onPage)
      this.#board = board && Source.of(fetch, board, live)
      this.#fired = ''
      this.#view.load(this.#hasShown)
    }
    if (this.#standing?.url !== standing) {
      this.#standing?.unwatch(this.#showOwn)
      this.#standing = standing && Source.of(fetch, standing)
      this.#rank = null
      // Renders the board again, which marks the user's row.
      this.#shown = null
    }
    if (this.#winnersUrl !== winners) {
      this.#winners?.unwatch(this.#onWinners)
      this.#winners = null
      this.#winnersUrl = winners
      this.#view.winners.show(null, this.#language)
      if (this.#shown) this.#showWinners()
    }
    for (const source of [this.#board, ...this.#pages]) this.#watch(source)
    this.#standing?.watch(this.#showOwn, 0)
  }

  async #setLanguage() {
    const requested = languageOf(this, 'board')
    const of = this.#kind
    if (requested === this.#requestedLanguage && of === this.#of) return
    this.#requestedLanguage = requested
    this.#of = of
    const language = await requested
    if (requested !== this.#requestedLanguage || of !== this.#of) return
    this.#language = language
    this.#shown = null
    this.#view.label(language, of)
    this.#onInvalid()
    if (this.#board) this.#onBoard(this.#board.state)
    if (this.#winners) this.#onWinners(this.#winners.state)
  }

  #onBoard = (state) => {
    if (!this.#language) return
    try {
      this.#draw(state)
    } catch (error) {
      // The next response is drawn again.
      this.#break(error)
    }
  }

  #onInvalid() {
    if (this.#language && this.#invalid) this.#break(this.#invalid)
  }

  /** Reports an error, once until a board is drawn, and shows the fallback content. */
  #break(error) {
    if (!this.#isBroken) reportError(error)
    this.#isBroken = true
    this.#shown = null
    this.#hasShown = false
    this.#failWith(String(error))
  }

  #watch(source) {
    source?.watch(source === this.#board ? this.#onBoard : this.#onPage, secondsOf(this, 15))
  }

  /** The number of requested rows. Each page has as many rows as there are before it, at most 100. */
  get #requested() {
    return this.#pages.reduce((rows) => rows + Math.min(MOST, rows), Number(this.#limit))
  }

  /** The number of rows to reserve space for. */
  get #rows() {
    const [limit, { total = 0 }] = [Number(this.#limit), this.#shown ?? {}]
    return this.#pages.length ? Math.min(this.#requested, Math.max(limit, total)) : limit
  }

  /** Requests the next page of rows. */
  #loadMore() {
    const offset = this.#requested
    const url = new URL(this.#board.url)
    url.searchParams.set('limit', String(Math.min(MOST, offset)))
    url.searchParams.set('offset', String(offset))
    const page = Source.of(/** @type {any} */ (this.constructor).fetch, url.href)
    this.#pages.push(page)
    this.#focusAt = this.#shown.entries.length
    this.#view.reserveRows(this.#rows)
    this.#view.setMore(true)
    this.#watch(page)
  }

  #onPage = ({ data, failure }) => {
    if (!data && !failure) return
    if (data) return this.#onBoard(this.#board.state)
    // The button requests it again.
    this.#pages.pop()?.unwatch(this.#onPage)
    this.#view.reserveRows(this.#rows)
    this.#view.setMore(false)
    const { texts } = this.#language
    this.#view.setStatus((failure.offline ? texts.offline : texts.failed)(this.#language.time(this.#board.state.at)))
  }

  /** Returns a board with the rows of all pages. Equal parts give the same object. */
  #withPages(board) {
    const parts = [board, ...this.#pages.map(({ state }) => state.data).filter(Boolean)]
    if (parts.length < 2) return board
    const [merged, ...before] = this.#merged
    if (parts.length === before.length && parts.every((part, index) => part === before[index])) return merged
    if (board !== before[0]) for (const page of this.#pages) page.refreshSoon()
    // A member who has moved since a page was requested is on two of them.
    const entries = new Map()
    for (const entry of parts.flatMap((part) => part.entries)) {
      const { id } = entry.user ?? entry.target
      if (!entries.has(id)) entries.set(id, entry)
    }
    this.#merged = [{ ...board, entries: [...entries.values()] }, ...parts]
    return this.#merged[0]
  }

  #draw({ data: board, at, failure }) {
    const language = this.#language
    if (!board) return failure && this.#fail(failure)
    const data = this.#withPages(board)
    const { texts } = language
    const period = periodOf(data)
    if (data !== this.#shown) {
      const { entries } = data
      const isAnimated = this.#fired === 'load' && Boolean(this.#shown)
      if (isAnimated && !entries.some(({ user }) => user?.id === this.user)) this.#standing?.refreshSoon()
      this.#shown = data
      this.#hasShown = true
      // On the first board ever, every row would be new.
      const isMoving = entries.some(({ previous_rank }) => previous_rank)
      const of = this.#kind
      this.#context = { language, own: this.user, of, isMoving, isAnimated, pageOf: this.#pageOf }
      this.#view.show({ ...data, entries: rowsOf(data), of, period }, this.#context)
      if (this.#pages.every(({ state }) => state.data)) {
        this.#view.setMore(false)
        this.#view.focusRow(this.#focusAt)
        this.#focusAt = -1
      }
      this.#showOwn()
      this.#showWinners()
    }
    this.#view.tick()
    const status = failure ? (failure.offline ? texts.offline : texts.failed) : data.stale && texts.stale
    this.#view.setStatus(status ? status(language.time(data.as_of ? Date.parse(data.as_of) : at)) : '')
    this.#isBroken = false
    this.#fire(new Event('load'))
    // Back on the current board, it follows the calendar again.
    if (this.date && !period.closed) this.date = null
  }

  /** Returns the page of the site about a user; none if `member-url` gives no valid URL. */
  #pageOf = ({ id }) => pageOf(this.memberUrl, id)

  // They are requested once there is a board, and again for each new one.
  #showWinners() {
    const { id } = periodOf(this.#shown)
    if (!this.#winnersUrl || (this.#winners && this.#winnersOf === id)) return
    this.#winnersOf = id
    if (this.#winners) return this.#winners.refresh()
    this.#winners = Source.of(/** @type {any} */ (this.constructor).fetch, this.#winnersUrl)
    this.#winners.watch(this.#onWinners, 0)
  }

  #onWinners = ({ data }) => {
    this.#view.winners.show(data?.boards?.[0], this.#language, this.#pageOf)
  }

  #fail(failure) {
    const { status, problem, offline } = failure
    if (!this.event && status === 404 && problem?.type === '/problems/not-found') {
      this.#disabled.add(this.#period)
      const [other] = this.#periods
      if (other) return (this.period = other)
    }
    this.#shown = null
    warn(this, this.#board.url, failure)
    const isUnknown = this.event && status === 404
    this.#failWith(problem?.detail ?? (offline ? 'offline' : `status ${status}`), isUnknown ? 'no_event' : 'not_loaded')
  }

  /** Shows the fallback content, or a text if there is none or there was a board. */
  #failWith(message, text = 'not_loaded') {
    const hasFallback = this.childElementCount > 0 || this.textContent.trim() !== ''
    this.#view.fail(this.#language.texts[text], this.#hasShown, hasFallback)
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
    this.#view.showOwn(standing, this.user, this.#context)
    const last = this.#rank
    this.#rank = { id: period.id, rank }
    if (last?.id !== period.id || last.rank === rank) return
    const detail = { period, from: last.rank, to: rank }
    this.dispatchEvent(new CustomEvent('rankchange', { detail, bubbles: true, composed: true }))
  }
}

/** Returns the period of a board or of a standing; for an event one with its title. */
const periodOf = ({ period, event }) => {
  if (!event) return period ?? { kind: 'hot', id: 'hot' }
  const { id, title, from: start, to: end, state } = event
  return { kind: 'event', id, title, start, end, closed: state === 'final' }
}

/** Returns the rows of a board; decayed points with one decimal. */
const rowsOf = ({ period, event, entries }) =>
  period || event ? entries : entries.map((entry) => ({ ...entry, score: Math.round(entry.score * 10) / 10 }))

/** Rounds points to the four decimals of scores. */
const rounded = (points) => Math.round(points * 1e4) / 1e4
