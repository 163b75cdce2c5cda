// <activity-heatmap>: a user's last 31 days as a calendar. Only that user or a service may read them.

import { calendar } from './calendar.js'
import { baseOf, make, reflecting, secondsOf, write } from './dom.js'
import { languageOf } from './languages.js'
import { Source } from './source.js'
import { common } from './style.js'

const ATTRIBUTES = /** @type {const} */ (['src', 'user', 'refresh', 'theme'])
const LEVELS = 4 // above zero
const DAY = 864e5 // ms
const MONDAY = Date.UTC(2024, 0, 1)

export class ActivityHeatmap extends reflecting(ATTRIBUTES) {
  static observedAttributes = [...ATTRIBUTES, 'lang']

  /** Sends every request; may be overridden. */
  static fetch = (url, options) => fetch(url, options)

  #token = null
  #isScheduled = false
  #requestedLanguage // promise
  #language
  #source
  #shown // history on display
  #fired = '' // the last event: load or error
  #body = make('tbody')
  #weekdays = make('tr')
  #table = make('table', { part: 'calendar', role: 'grid' }, make('thead', {}, this.#weekdays), this.#body)
  #days = [] // cells and their texts, in ascending order
  #summary = make('p', { part: 'summary' })
  #streak = make('p', { part: 'streak' })
  #details = make('p', { part: 'details' })
  #status = make('p', { part: 'status', role: 'status' })
  #content = make('div', { part: 'content' }, this.#summary, this.#table, this.#details, this.#streak)
  #section = make('section', { part: 'activity', role: 'group' }, this.#content, make('slot'), this.#status)

  constructor() {
    super()
    const root = this.attachShadow({ mode: 'open' })
    root.adoptedStyleSheets = [common, calendar]
    root.append(this.#section)
    this.#setState('failed')
    // A token assigned before the element was defined shadows the setter.
    if (Object.hasOwn(this, 'token')) {
      this.#token = this.token
      delete this.token
    }
    this.#table.onkeydown = (event) => this.#onKey(event)
    for (const name of ['focusin', 'pointerover']) {
      this.#table.addEventListener(name, ({ target }) => {
        const day = this.#days.find(({ cell }) => cell === target)
        if (day) write(this.#details, day.text)
      })
    }
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

  /**
   * The user token, or a function called before each request that returns it or a promise of it. It is write-only
   * and has no attribute, because HTML is stored, cached and read by other scripts.
   */
  set token(token) {
    this.#token = token
    this.#source?.unwatch(this.#onHistory)
    this.#source = null
    this.#update()
  }

  /** Requests the history now. */
  reload() {
    this.#source?.refresh()
  }

  #update() {
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#setSource()
      this.#setLanguage()
    })
  }

  #setSource() {
    // The service rejects requests without a token.
    const isReady = this.isConnected && this.user && this.#token
    const url = isReady ? new URL(`v1/users/${encodeURIComponent(this.user)}/activity`, baseOf(this)).href : undefined
    if (!this.#source || this.#source.url !== url) {
      this.#source?.unwatch(this.#onHistory)
      // Sources are shared by fetch function. This element's own keeps the data of one token from other elements.
      this.#source = url && Source.of(this.#fetch, url)
      this.#fired = ''
      this.#shown = null
      this.#setState(url ? 'loading' : 'failed')
    }
    this.#source?.watch(this.#onHistory, secondsOf(this, 60))
  }

  #fetch = async (url, options) => {
    const token = typeof this.#token === 'function' ? await this.#token() : this.#token
    const type = /** @type {typeof ActivityHeatmap} */ (this.constructor)
    return type.fetch(url, { ...options, headers: { authorization: `Bearer ${token}` } })
  }

  async #setLanguage() {
    const requested = languageOf(this)
    if (requested === this.#requestedLanguage) return
    this.#requestedLanguage = requested
    const language = await requested
    if (requested !== this.#requestedLanguage) return
    this.#language = language
    this.#shown = null
    this.#section.lang = language.tag
    this.#section.ariaLabel = this.#table.ariaLabel = language.texts.activity
    if (this.#source) this.#onHistory(this.#source.state)
  }

  #onHistory = ({ data, at, failure }) => {
    if (!this.#language) return
    const { texts } = this.#language
    if (data && data !== this.#shown) {
      this.#shown = data
      this.#show(data)
      this.#setState('')
    }
    if (data) {
      const status = failure?.offline ? texts.offline : texts.failed
      write(this.#status, failure ? status(this.#language.time(at)) : '')
      this.#fire(new Event('load'))
    } else if (failure) {
      const hasFallback = this.childElementCount > 0 || this.textContent.trim() !== ''
      this.#setState('failed')
      write(this.#status, hasFallback ? '' : texts.unknown)
      this.#fire(new ErrorEvent('error', { message: failure.problem?.detail ?? `status ${failure.status}` }))
    }
  }

  /** Dispatches `error` and then `load` at most once for each URL and token, as images do. */
  #fire(event) {
    if (this.#fired === event.type || this.#fired === 'load') return
    this.#fired = event.type
    this.dispatchEvent(event)
  }

  #setState(state) {
    this.#section.className = state
    this.#section.ariaBusy = String(state === 'loading')
  }

  #show({ days: newestFirst, streak }) {
    const { texts, tag } = this.#language
    const number = (value) => this.#language.number(value)
    const format = (options) => new Intl.DateTimeFormat(tag, { ...options, timeZone: 'UTC' })
    const dateFormat = format({ dateStyle: 'long' })
    const dayFormat = format({ day: 'numeric' })
    const days = newestFirst.toReversed()
    const total = days.reduce((sum, { points }) => sum + points, 0)
    const active = days.filter(({ points }) => points > 0).length
    write(this.#summary, texts.summary(number(active), total, number(total), number(days.length)))
    write(this.#streak, texts.streak(number(streak.current), number(streak.longest)))

    const max = Math.max(...days.map(({ points }) => points))
    this.#days = days.map(({ date, points, actions = {} }) => {
      const noon = Date.parse(`${date}T12:00Z`)
      const done = Object.entries(actions).map(([action, { count, points }]) =>
        texts.done(action, count, number(count), points, number(points)),
      )
      const text = [texts.day_points(dateFormat.format(noon), points, number(points)), ...done].join(' · ')
      const level = points > 0 ? Math.ceil((points / max) * LEVELS) : 0
      // Only the number: some languages add a word.
      const content = dayFormat.formatToParts(noon).find(({ type }) => type === 'day').value
      const cell = make('td', { part: `day level-${level}`, tabIndex: -1, ariaLabel: text }, content)
      return { noon, text, cell }
    })
    const today = this.#days.at(-1)
    today.cell.tabIndex = 0

    // Weeks begin on Monday, as in the API.
    const column = ({ noon }) => (new Date(noon).getUTCDay() + 6) % 7
    const padding = Array.from({ length: column(this.#days[0]) }, () => make('td'))
    const cells = [...padding, ...this.#days.map(({ cell }) => cell)]
    while (cells.length % 7) cells.push(make('td'))
    const weeks = Array.from({ length: cells.length / 7 }, (_, week) =>
      make('tr', {}, ...cells.slice(week * 7, week * 7 + 7)),
    )
    const focused = this.shadowRoot.activeElement
    this.#body.replaceChildren(...weeks)
    if (focused) today.cell.focus({ preventScroll: true })
    const [long, narrow] = [format({ weekday: 'long' }), format({ weekday: 'narrow' })]
    const weekdays = Array.from({ length: 7 }, (_, day) => MONDAY + day * DAY)
    this.#weekdays.replaceChildren(
      ...weekdays.map((day) => make('th', { scope: 'col', ariaLabel: long.format(day) }, narrow.format(day))),
    )
    write(this.#details, today.text)
  }

  #onKey(event) {
    const index = this.#days.findIndex(({ cell }) => cell === event.target)
    const forward = getComputedStyle(this).direction === 'rtl' ? -1 : 1
    const last = this.#days.length - 1
    const steps = {
      ArrowLeft: -forward,
      ArrowRight: forward,
      ArrowUp: -7,
      ArrowDown: 7,
      Home: -index,
      End: last - index,
    }
    const day = this.#days[index + steps[event.key]]
    if (index < 0 || !day || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    event.target.tabIndex = -1
    day.cell.tabIndex = 0
    day.cell.focus()
  }
}
