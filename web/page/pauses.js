// The pauses of the signed-in member's streak, on their own page: pauses that are not over, and a form that declares another.

import { $, make } from './dom.js'
import { session } from './session.js'
import { reloadAll } from './site.js'
import { days, language, words } from './words.js'

/** @typedef {{ from: string, until: string }} Pause first and last day, in the deployment's time zone */
/** @typedef {'pause_saved' | 'pause_ended' | 'pause_withdrawn'} Success */
/** @typedef {Success | 'not_loaded' | 'not_saved' | 'is_frozen' | 'pause_invalid' | 'pause_conflict'} Message */

const DAY = 864e5 // ms
const MAX_DAYS = 92 // of one pause
const MAX_AHEAD = 366 // days until the latest beginning
/** @type {Record<number, Message>} by status */
const PROBLEMS = { 400: 'pause_invalid', 403: 'is_frozen', 409: 'pause_conflict' }

/** The pauses of a member in `#pauses`. */
export class Pauses {
  #path
  #from = /** @type {HTMLInputElement} */ ($('pause-from'))
  #until = /** @type {HTMLInputElement} */ ($('pause-until'))
  /**
   * The time zone of the deployment; the reader's before it is known.
   * @type {string | undefined}
   */
  #timeZone
  /** @type {Pause[]} */
  #all = []
  /** @type {Message | null} */
  #message = null
  #shown = '' // what the list shows: a button in it keeps the focus while that stays
  #requests = 0 // answers to earlier ones are dropped after the list has been cleared

  /** @param {string} user */
  constructor(user) {
    this.#path = `/v1/users/${encodeURIComponent(user)}/pause`
    this.#from.addEventListener('input', () => this.#limit())
    $('pause').addEventListener('submit', (event) => {
      event.preventDefault()
      this.#declare()
    })
  }

  /**
   * Loads the pauses.
   * @param {Promise<string | undefined>} timeZone
   */
  async start(timeZone) {
    this.clear()
    const request = this.#requests
    const [{ status, body }, zone] = await Promise.all([session.request(this.#path), timeZone])
    if (request !== this.#requests) return
    this.#timeZone = zone
    if (status === 200) this.#all = body.pauses
    else this.#message = 'not_loaded'
    this.render()
  }

  clear() {
    this.#requests++
    this.#all = []
    this.#message = null
    this.#form.reset()
    this.render()
  }

  /** Writes list and message in the page's language. */
  render() {
    this.#limit()
    $('pause-status').textContent = this.#message && words()[this.#message]
    const today = this.#today
    const pauses = this.#all.filter(({ until }) => until >= today)
    const shown = JSON.stringify([language(), today, pauses])
    if (shown === this.#shown) return
    this.#shown = shown
    $('pauses-content').replaceChildren(...pauses.map((pause) => this.#item(pause, pause.from <= today)))
  }

  get #form() {
    return /** @type {HTMLFormElement} */ ($('pause'))
  }

  get #today() {
    return new Intl.DateTimeFormat('sv', { timeZone: this.#timeZone }).format()
  }

  /** Limits the inputs to the days that the API allows. */
  #limit() {
    const [from, until, today] = [this.#from, this.#until, this.#today]
    from.min = today
    from.max = later(today, MAX_AHEAD)
    const isKnown = from.value && from.validity.valid
    until.min = isKnown ? from.value : today
    until.max = later(isKnown ? from.value : from.max, MAX_DAYS - 1)
  }

  async #declare() {
    const pause = { from: this.#from.value, until: this.#until.value }
    const answer = await this.#change('pause_saved', { method: 'PUT', body: pause })
    if (!answer) return
    this.#all = answer.body.pauses
    this.#form.reset()
    this.render()
  }

  /**
   * Ends a pause that has begun, or withdraws another one.
   * @param {Pause} pause
   * @param {Success} done
   */
  async #remove({ from }, done) {
    if (!(await this.#change(done, { method: 'DELETE' }, `?from=${from}`))) return
    this.#all = this.#all.filter((pause) => pause.from !== from)
    this.render()
    // The button that had the focus is gone.
    $('pauses-title').focus()
  }

  /**
   * Sends a change, and shows its result. Returns the answer if the service has made the change.
   * @param {Success} done
   * @param {{ method: string, body?: Pause }} options
   * @param {string} [query]
   */
  async #change(done, options, query = '') {
    // A message that appears again is announced again.
    this.#message = null
    this.render()
    const request = this.#requests
    const answer = await session.request(`${this.#path}${query}`, options)
    if (request !== this.#requests) return
    const isDone = answer.status === 200 || answer.status === 204
    this.#message = isDone ? done : (PROBLEMS[answer.status] ?? 'not_saved')
    this.render()
    if (!isDone) return
    // Calendar and streak may be others.
    reloadAll()
    return answer
  }

  /**
   * @param {Pause} pause
   * @param {boolean} hasBegun
   */
  #item(pause, hasBegun) {
    const { states, pause_end, pause_withdraw } = words()
    const name = hasBegun ? pause_end : pause_withdraw
    const text = days(pause.from, later(pause.until, 1), 'UTC')
    const button = make('button', { type: 'button', ariaLabel: `${name}: ${text}` }, name)
    button.addEventListener('click', () => this.#remove(pause, hasBegun ? 'pause_ended' : 'pause_withdrawn'))
    const badge = make('span', { className: 'badge running', hidden: !hasBegun }, states.running)
    return make('li', {}, make('p', {}, text, ' ', badge), button)
  }
}

/**
 * @param {string} day
 * @param {number} count of days
 */
const later = (day, count) => new Date(Date.parse(day) + count * DAY).toISOString().slice(0, 10)
