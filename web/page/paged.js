// A list that loads further pages.

import { make } from './dom.js'
import { number, words } from './words.js'

/** @typedef {{ entries: any[], next: string | null }} Page */

export class PagedList {
  #container
  #item
  #load
  /** @type {any[]} */
  #entries = []
  /** @type {string | null} */
  #next = null
  #hasFailed = false
  #isLoaded = false
  #requests = 0 // answers to earlier ones are dropped after the list has been cleared

  /**
   * @param {HTMLElement} container
   * @param {(entry: any) => HTMLElement} item returns an entry's list item
   * @param {(next: string | null) => Promise<import('./session.js').Answer>} load
   */
  constructor(container, item, load) {
    this.#container = container
    this.#item = item
    this.#load = load
  }

  /** Loads the first page in place of all others, and returns the number of entries. */
  async start() {
    this.clear()
    await this.#more()
    return this.#entries.length
  }

  clear() {
    this.#entries = []
    this.#next = null
    this.#requests++
    this.#isLoaded = this.#hasFailed = false
    this.#container.replaceChildren()
  }

  /** Writes the list in the page's language. */
  render() {
    if (!this.#isLoaded) return
    const { empty_list, more, not_loaded, entries } = words()
    const list = make('ol', { className: 'plain entries' }, ...this.#entries.map(this.#item))
    const status = make('p', { className: 'muted', role: 'status' })
    if (this.#hasFailed) status.textContent = not_loaded
    else
      status.textContent = this.#entries.length
        ? entries(this.#entries.length, number(this.#entries.length))
        : empty_list
    const button = make('button', { type: 'button', hidden: !this.#next && !this.#hasFailed }, more)
    button.addEventListener('click', () => this.#continue(button))
    this.#container.replaceChildren(list, status, button)
  }

  /** @param {HTMLButtonElement} button */
  async #continue(button) {
    button.disabled = true
    const before = this.#entries.length
    await this.#more()
    // The keyboard goes on with the first new entry.
    const item = /** @type {HTMLElement | null} */ (this.#container.querySelectorAll('.entries > li')[before] ?? null)
    if (item) Object.assign(item, { tabIndex: -1 }).focus()
  }

  async #more() {
    const request = this.#requests
    const { status, body } = await this.#load(this.#next)
    if (request !== this.#requests) return
    this.#isLoaded = true
    this.#hasFailed = status !== 200
    if (status === 200) {
      this.#entries.push(...body.entries)
      this.#next = body.next
    }
    this.render()
  }
}
