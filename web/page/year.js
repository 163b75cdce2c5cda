// The calendar of a member: the last days or a year, and for the member what they did on a day.

import { $, make } from './dom.js'
import { yearOf } from './mine.js'
import { PagedList } from './paged.js'
import { entryItem, withRefused } from './points.js'
import { read, session } from './session.js'
import { number, weekday, words } from './words.js'

/** @typedef {{ history: { days: { date: string, points: number }[], years?: string[] } | null }} Calendar */

/** The calendar of a member in `#year`. */
export class Year {
  #path
  #user
  /**
   * Points of this year; null if they are not known.
   * @type {number | null}
   */
  #score = null
  /**
   * The year on display; null for the last days.
   * @type {string | null}
   */
  #year = null
  /**
   * The years with points, the latest first; none before they are known.
   * @type {string[]}
   */
  years = []
  /** Points of the year that are on none of its days. */
  #missing = 0
  /**
   * The day that is open.
   * @type {string | null}
   */
  #day = null
  #list
  #onYears

  /**
   * @param {string} user
   * @param {() => void} onYears called when the years are known
   */
  constructor(user, onYears) {
    this.#user = user
    this.#onYears = onYears
    this.#path = `/v1/users/${encodeURIComponent(user)}`
    this.#list = new PagedList($('day-content'), entryItem, async (next) =>
      withRefused(
        await session.request(
          `${this.#path}/points?limit=10&refused=true&date=${this.#day}${next ? `&before=${encodeURIComponent(next)}` : ''}`,
        ),
      ),
    )
    $('day-close').addEventListener('click', () => this.#close(true))
  }

  /**
   * Shows the last days.
   * @param {number | null} score points of this year
   */
  show(score) {
    this.#score = score
    this.#select(null)
  }

  hide() {
    $('year-content').replaceChildren()
    this.#close()
  }

  /** @param {string | null} year */
  #select(year) {
    this.#year = year
    this.#missing = 0
    this.#close()
    const calendar = yearOf(this.#user)
    if (year) calendar.setAttribute('year', year)
    calendar.classList.toggle('own', this.#isOwn)
    calendar.addEventListener('load', () => this.#onLoad(/** @type {any} */ (calendar)))
    calendar.addEventListener('dayselect', (event) => this.#open(/** @type {CustomEvent} */ (event).detail.date))
    $('year-content').replaceChildren(calendar)
    this.render()
  }

  get #isOwn() {
    return session.user === this.#user
  }

  /** @param {Calendar} calendar */
  async #onLoad({ history }) {
    if (!history) return
    const { days, years = [] } = history
    this.years = years
    const selected = this.#year
    const year = selected ?? days[0].date.slice(0, 4)
    const score = selected === null ? this.#score : await this.#scoreOf(year)
    if (this.#year !== selected) return
    const known = days.filter(({ date }) => date.startsWith(year)).reduce((sum, { points }) => sum + points, 0)
    // Without an archive the calendar has a month, and says so.
    this.#missing = years.length && score !== null ? Math.max(0, score - known) : 0
    this.#onYears()
  }

  /**
   * Returns the points of a year; null if they are not known.
   * @param {string} year
   */
  async #scoreOf(year) {
    const { status, body } = await read(`/v1/ranking/year/users/${encodeURIComponent(this.#user)}?date=${year}-01-01`)
    return status === 200 ? body.score : null
  }

  /** Writes everything but the calendar in the page's language. */
  render() {
    const { last_year, not_in_calendar } = words()
    const names = this.years.length > 1 ? [null, ...this.years] : []
    const group = $('years')
    group.hidden = !names.length
    // A button that has the focus stays.
    if (group.childElementCount !== names.length) group.replaceChildren(...names.map((name) => this.#button(name)))
    for (const [index, name] of names.entries()) {
      const button = group.children[index]
      button.textContent = name ?? last_year
      button.ariaPressed = String(name === this.#year)
    }
    $('year-note').hidden = !this.#missing
    $('year-note').textContent = this.#missing ? not_in_calendar(this.#missing, number(this.#missing)) : ''
    if (this.#day) $('day-title').textContent = weekday(this.#day)
    this.#list.render()
  }

  /** @param {string | null} year */
  #button(year) {
    const button = make('button', { type: 'button' })
    button.addEventListener('click', () => this.#select(year))
    return button
  }

  /** @param {string} day */
  async #open(day) {
    if (!this.#isOwn) return
    this.#day = day
    await this.#list.start()
    // Another day was opened meanwhile, or another year.
    if (this.#day !== day) return
    $('day').hidden = false
    this.render()
    $('day-title').focus()
  }

  #close(returnsFocus = false) {
    const wasOpen = this.#day
    this.#day = null
    $('day').hidden = true
    this.#list.clear()
    if (!wasOpen || !returnsFocus) return
    /** @type {HTMLElement | null | undefined} */
    const cell = $('year-content').firstElementChild?.shadowRoot?.querySelector('[tabindex="0"]')
    cell?.focus()
  }
}
