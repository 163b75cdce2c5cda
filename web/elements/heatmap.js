// <activity-heatmap>: what a member did in the last 31 days, as a calendar that only they, or a
// service, may see.

import { calendar } from './calendar.js'
import { baseOf, make, reflect, secondsOf, write } from './dom.js'
import { languageOf } from './languages.js'
import { Source } from './source.js'
import { common } from './style.js'

const ATTRIBUTES = ['src', 'user', 'refresh', 'theme']
const LEVELS = 4 // beside none

export class ActivityHeatmap extends HTMLElement {
  static observedAttributes = [...ATTRIBUTES, 'lang']

  /** All is asked for by this: put another in its place to have it asked otherwise. */
  static fetch = (url, options) => fetch(url, options)

  #token = null
  #due = false
  #spoken // promise of the language
  #language
  #source
  #shown
  #told = ''
  #body = make('tbody')
  #weekdays = make('tr')
  #table = make('table', { part: 'calendar', role: 'grid' }, make('thead', {}, this.#weekdays), this.#body)
  #days = [] // cells and what they tell, the earliest first
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
    this.#settle('failed')
    // Set before the element was defined.
    if (Object.hasOwn(this, 'token')) {
      this.#token = this.token
      delete this.token
    }
    this.#table.onkeydown = (event) => this.#walk(event)
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

  attributeChangedCallback(name, before, after) {
    if (before !== after && this.isConnected) this.#update()
  }

  /**
   * The user token, or a function that gives one, at once or later, before each request. It cannot
   * be read again, and there is no attribute for it: HTML is kept, cached and read by others.
   */
  set token(token) {
    this.#token = token
    this.#source?.unwatch(this.#see)
    this.#source = null
    this.#update()
  }

  /** Looks now whether there is anything new. */
  reload() {
    this.#source?.refresh()
  }

  #update() {
    if (this.#due) return
    this.#due = true
    queueMicrotask(() => {
      this.#due = false
      this.#look()
      this.#speak()
    })
  }

  #look() {
    // Without a token the service would only refuse.
    const ready = this.isConnected && this.user && this.#token
    const url = ready ? new URL(`v1/users/${encodeURIComponent(this.user)}/activity`, baseOf(this)).href : undefined
    if (!this.#source || this.#source.url !== url) {
      this.#source?.unwatch(this.#see)
      // Asked by a function of its own, so shared with nobody: what one token may see is no other's.
      this.#source = url && Source.of(this.#ask, url)
      this.#told = ''
      this.#shown = null
      this.#settle(url ? 'loading' : 'failed')
    }
    this.#source?.watch(this.#see, secondsOf(this, 60))
  }

  #ask = async (url, options) => {
    const token = typeof this.#token === 'function' ? await this.#token() : this.#token
    return this.constructor.fetch(url, { ...options, headers: { authorization: `Bearer ${token}` } })
  }

  async #speak() {
    const spoken = languageOf(this)
    if (spoken === this.#spoken) return
    this.#spoken = spoken
    const language = await spoken
    if (spoken !== this.#spoken) return
    this.#language = language
    this.#shown = null
    this.#section.lang = language.tag
    this.#section.ariaLabel = this.#table.ariaLabel = language.texts.activity
    if (this.#source) this.#see(this.#source.state)
  }

  #see = ({ data, at, failure }) => {
    if (!this.#language) return
    const { texts } = this.#language
    if (data && data !== this.#shown) {
      this.#shown = data
      this.#show(data)
      this.#settle('')
    }
    if (data) {
      const words = failure?.offline ? texts.offline : texts.failed
      write(this.#status, failure ? words(this.#language.time(at)) : '')
      this.#tell(new Event('load'))
    } else if (failure) {
      const hasFallback = this.childElementCount > 0 || this.textContent.trim() !== ''
      this.#settle('failed')
      write(this.#status, hasFallback ? '' : texts.unknown)
      this.#tell(new ErrorEvent('error', { message: failure.problem?.detail ?? `status ${failure.status}` }))
    }
  }

  // Once of each address and token, as an image does of its source.
  #tell(event) {
    if (this.#told === event.type || this.#told === 'load') return
    this.#told = event.type
    this.dispatchEvent(event)
  }

  #settle(state) {
    this.#section.className = state
    this.#section.ariaBusy = String(state === 'loading')
  }

  #show({ days, streak }) {
    const { texts, tag } = this.#language
    const number = (value) => this.#language.number(value)
    const all = days.toReversed()
    const points = all.reduce((sum, day) => sum + day.points, 0)
    const active = all.filter((day) => day.points > 0).length
    write(this.#summary, texts.summary(number(active), number(points), number(all.length)))
    write(this.#streak, texts.streak(number(streak.current), number(streak.longest)))
    const format = (options) => new Intl.DateTimeFormat(tag, { ...options, timeZone: 'UTC' })
    const [long, short, weekday] = [{ dateStyle: 'long' }, { day: 'numeric' }, { weekday: 'narrow' }].map(format)
    const full = format({ weekday: 'long' })

    const most = Math.max(...all.map((day) => day.points))
    this.#days = all.map(({ date, points, actions }) => {
      const noon = Date.parse(`${date}T12:00Z`)
      const did = Object.entries(actions).map(([action, { count, points }]) =>
        texts.did(texts.actions[action] ?? action, number(count), number(points)),
      )
      const text = [texts.day_points(long.format(noon), points, number(points)), ...did].join(' · ')
      const level = points > 0 ? Math.ceil((points / most) * LEVELS) : 0
      // Only the number: some languages write a word beside it.
      const content = short.formatToParts(noon).find(({ type }) => type === 'day').value
      const cell = make('td', { part: `day level-${level}`, tabIndex: -1, ariaLabel: text }, content)
      return { noon, text, cell }
    })
    this.#days.at(-1).cell.tabIndex = 0

    // From Monday, as the service's weeks.
    const column = ({ noon }) => (new Date(noon).getUTCDay() + 6) % 7
    const blank = column(this.#days[0])
    const cells = [...Array.from({ length: blank }, () => make('td')), ...this.#days.map(({ cell }) => cell)]
    while (cells.length % 7) cells.push(make('td'))
    const weeks = Array.from({ length: cells.length / 7 }, (_, week) => make('tr', {}, ...cells.slice(week * 7, week * 7 + 7)))
    const focused = this.shadowRoot.activeElement
    this.#body.replaceChildren(...weeks)
    if (focused) this.#days.at(-1).cell.focus({ preventScroll: true })
    const monday = Date.UTC(2024, 0, 1)
    const names = Array.from({ length: 7 }, (_, day) => monday + day * 864e5)
    this.#weekdays.replaceChildren(
      ...names.map((day) => make('th', { scope: 'col', ariaLabel: full.format(day) }, weekday.format(day))),
    )
    write(this.#details, this.#days.at(-1).text)
  }

  #walk(event) {
    const at = this.#days.findIndex(({ cell }) => cell === event.target)
    const on = getComputedStyle(this).direction === 'rtl' ? -1 : 1
    const steps = { ArrowLeft: -on, ArrowRight: on, ArrowUp: -7, ArrowDown: 7, Home: -at, End: this.#days.length - 1 - at }
    const to = this.#days[at + steps[event.key]]
    if (at < 0 || !to || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    event.target.tabIndex = -1
    to.cell.tabIndex = 0
    to.cell.focus()
  }
}

reflect(ActivityHeatmap, ATTRIBUTES)
