// <activity-heatmap>: a user's days as a calendar, a year or a month. Without a token only what the user has made public.

import { tokenOf } from '../client/identity.js'
import { layoutOf, MONTH } from './calendar.js'
import { baseOf, make, reflecting, write } from './dom.js'
import { Grid } from './grid.js'
import { heatmap } from './heatmap-style.js'
import { LEVELS, levelsOf } from './levels.js'
import { Panel } from './panel.js'
import { panel } from './panel-style.js'
import { common } from './style.js'

const ATTRIBUTES = /** @type {const} */ (['src', 'user', 'days', 'year', 'refresh', 'theme'])
const YEAR = 366 // days
const DAY = 864e5 // ms
const MONDAY = Date.UTC(2024, 0, 1, 12)

const archiveless = new Set() // values of `src`: deployments that keep a month

// Scripts of the page that may set a token have run.
const pageIsReady = new Promise((resolve) => {
  if (document.readyState === 'complete') resolve(undefined)
  for (const name of ['DOMContentLoaded', 'load']) addEventListener(name, resolve)
})

export class ActivityHeatmap extends reflecting(ATTRIBUTES, common + panel + heatmap) {
  static observedAttributes = [...ATTRIBUTES, 'lang']

  /** Sends every request; may be overridden. */
  static fetch = (url, options) => fetch(url, options)

  #token = null
  #grid = new Grid(this)
  #summary = make('p', { part: 'summary' })
  #streak = make('p', { part: 'streak' })
  #months = make('div', { part: 'months', ariaHidden: 'true' })
  #weekdays = make('div', { part: 'weekdays', ariaHidden: 'true' })
  #scroller = make('div', { part: 'scroller' }, this.#months, this.#grid.element)
  #facts = make('p', { part: 'facts' })
  #less = make('span')
  #more = make('span')
  #panel
  #history = null

  constructor() {
    super()
    const swatches = Array.from({ length: LEVELS + 1 }, (_, level) => make('i', { part: `swatch level-${level}` }))
    const legend = make('p', { part: 'legend', ariaHidden: 'true' }, this.#less, ...swatches, this.#more)
    this.#panel = new Panel(this, {
      part: 'activity',
      content: [
        make('div', { part: 'header' }, this.#summary, this.#streak),
        make('div', { part: 'chart' }, this.#weekdays, this.#scroller),
        make('div', { part: 'footer' }, this.#facts, legend),
        this.#grid.tooltip,
      ],
      urlOf: () => this.#url,
      // Sources are shared by fetch function. This element's own keeps the data of one token from other elements.
      fetchOf: () => this.#fetch,
      clear: () => this.#clear(),
      show: (history, language) => this.#show(history, language),
      label: ({ texts }) => {
        write(this.#less, texts.less)
        write(this.#more, texts.more)
        this.#grid.element.ariaLabel = texts.label
      },
    })
    this.#scroller.onscroll = () => this.#grid.place()
    // A token assigned before the element was defined shadows the setter.
    if (Object.hasOwn(this, 'token')) {
      this.#token = this.token
      delete this.token
    }
  }

  connectedCallback() {
    if (this.user) {
      this.#panel.setState('loading')
      this.#clear()
    }
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
    this.#panel.reset()
    this.#update()
  }

  /** The response on display; `null` without one. */
  get history() {
    return this.#history
  }

  /** Requests the history now. */
  reload() {
    this.#panel.reload()
  }

  async #update() {
    // Otherwise the request would be sent without the token, and again with it.
    if (!this.#token) await pageIsReady
    this.#panel.update()
  }

  get #days() {
    const days = Math.trunc(Number(this.days ?? YEAR))
    return days >= 1 && days <= YEAR ? days : YEAR
  }

  get #url() {
    if (!this.user) return undefined
    const url = new URL(`v1/users/${encodeURIComponent(this.user)}/activity`, baseOf(this))
    if (this.year) url.searchParams.set('year', this.year)
    else url.searchParams.set('days', String(this.#days))
    return url.href
  }

  #fetch = async (url, options) => {
    const token = await tokenOf(this.#token)
    const headers = token ? { authorization: `Bearer ${token}` } : undefined
    const type = /** @type {typeof ActivityHeatmap} */ (this.constructor)
    const fetchDays = (days) => {
      const limited = new URL(url)
      if (days) limited.searchParams.set('days', String(days))
      return type.fetch(limited.href, { ...options, headers })
    }
    if (this.year) return fetchDays()
    const days = this.#days
    if (days <= MONTH || archiveless.has(this.src)) return fetchDays(Math.min(days, MONTH))
    const response = await fetchDays(days)
    if (response.status !== 400) return response
    // The deployment has no archive of day boards, or the user id is invalid.
    const month = await fetchDays(MONTH)
    if (month.ok) archiveless.add(this.src)
    return month
  }

  #clear() {
    const isYear = Boolean(this.year) || (this.#days > MONTH && !archiveless.has(this.src))
    this.#history = null
    this.#setLayout(isYear)
    this.#grid.clear(isYear)
  }

  #setLayout(isYear) {
    this.#panel.section.dataset.layout = isYear ? 'year' : 'month'
  }

  #show(history, language) {
    this.#history = history
    const { days: newestFirst, streak } = history
    const { texts, tag } = language
    const number = (value) => language.number(value)
    const format = (options) => new Intl.DateTimeFormat(tag, { ...options, timeZone: 'UTC' })
    const layout = layoutOf(newestFirst.map(({ date }) => date).reverse(), Boolean(this.year))
    const days = newestFirst.slice(0, layout.dates.length).reverse()
    const points = days.map((day) => day.points)
    const total = points.reduce((sum, value) => sum + value, 0)
    const active = points.filter((value) => value > 0).length
    const { isYear } = layout
    write(
      this.#summary,
      this.year
        ? texts.in_year(this.year, total, number(total))
        : isYear
          ? texts.last_days(total, number(total), days.length, number(days.length))
          : texts.summary(number(active), total, number(total), number(days.length)),
    )
    // The cells of a month have no place for its name.
    const [from, to] = [days[0], days.at(-1)].map(({ date }) => Date.parse(date))
    const range = language.days(from, to, 'UTC', false)
    write(this.#facts, isYear ? texts.active_days(active, number(active)) : range)
    write(this.#streak, texts.streak(number(streak.current), number(streak.longest)))
    this.#streak.className = streak.current ? 'lit' : ''
    this.#setLayout(isYear)

    const date = format({ weekday: 'short', year: 'numeric', month: 'short', day: 'numeric' })
    const dayFormat = format({ day: 'numeric' })
    const levels = levelsOf(points)
    const shown = days.map(({ date: id, points, frozen, actions = {} }, index) => {
      const noon = Date.parse(`${id}T12:00Z`)
      const done = Object.entries(actions).map(([action, { count, points }]) =>
        texts.done(action, count, number(count), points, number(points)),
      )
      const lines = [texts.day_points(date.format(noon), points, number(points)), ...done]
      if (frozen) lines.push(texts.frozen)
      // Only the number: some languages add a word.
      const day = dayFormat.formatToParts(noon).find(({ type }) => type === 'day').value
      const part = frozen ? 'frozen' : `level-${levels[index]}`
      return { date: id, points, text: lines.join(' · '), lines: lines.join('\n'), number: day, part }
    })
    this.#grid.show(layout, shown)
    this.#showHeadings(layout, format)
  }

  /** Shows the names of months above a year, and the letters of weekdays beside it or above a month. */
  #showHeadings({ isYear, months }, format) {
    const [narrow, short] = [format({ weekday: 'narrow' }), format({ month: 'short' })]
    const letters = Array.from({ length: 7 }, (_, day) => make('span', {}, narrow.format(MONDAY + day * DAY)))
    this.#weekdays.replaceChildren(...(isYear ? letters : []))
    const names = months.map(({ date, weeks }) => {
      // A single week is too narrow for a name.
      const name = make('span', {}, weeks > 1 ? short.format(Date.parse(date)) : '')
      name.style.setProperty('--span', String(weeks))
      return name
    })
    this.#months.replaceChildren(...(isYear ? names : letters))
  }
}
