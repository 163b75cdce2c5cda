// The send queue in localStorage, so it survives the page and all tabs see it. Each activity has a key of its own, so
// tabs that write at the same time lose nothing.

/** @import { Activity } from '../client.js' */
/** @typedef {{ key: string, order: string, text: string, activity: Activity }} Item */

const MAX_ITEMS = 1000 // per user
const MAX_PAUSE = 3600e3 // ms; a longer one was written before the clock was set back

export class Queue {
  #prefix
  /** @type {Map<string, string>} Entries that localStorage has no room for or is not available for. */
  #unstored = new Map()

  /** @param {string} name */
  constructor(name) {
    this.name = name
    this.#prefix = `${name} #`
  }

  /**
   * Appends an activity, unless it repeats the last one of its action and target. Returns its key and the items that
   * exceed the limit.
   * @param {Activity} activity
   */
  add(activity) {
    const items = this.items()
    const { action, target, undo } = activity
    const last = items.findLast(({ activity }) => activity.action === action && activity.target === target)
    if (last && last.activity.undo === undo) return { key: last.key, dropped: [] }
    const time = Math.max(Date.now(), Number(items.at(-1)?.order.slice(0, 15) ?? 0) + 1)
    const order = `${String(time).padStart(15, '0')}-${Math.random().toString(36).slice(2)}`
    const key = this.#prefix + order
    this.#write(key, JSON.stringify(activity))
    return { key, dropped: items.slice(0, Math.max(0, items.length + 1 - MAX_ITEMS)) }
  }

  /**
   * Returns all items in the order they were added. `text` is the activity as JSON.
   * @returns {Item[]}
   */
  items() {
    const unstored = [...this.#unstored].filter(([key]) => key !== this.name)
    const items = [...this.#stored(), ...unstored].map(([key, text]) => {
      return { key, order: key.slice(this.#prefix.length), text, activity: JSON.parse(text) }
    })
    return items.sort((a, b) => (a.order < b.order ? -1 : 1))
  }

  /** @param {string} key */
  remove(key) {
    this.#unstored.delete(key)
    try {
      localStorage.removeItem(key)
    } catch {
      // Storage is unavailable, so nothing is stored.
    }
  }

  /** Remaining ms of the pause that the service asked for. It applies to all tabs. */
  get pause() {
    const pause = Number(this.#read(this.name)) - Date.now()
    return pause > 0 && pause <= MAX_PAUSE ? pause : 0
  }

  set pause(pause) {
    if (pause) this.#write(this.name, String(Date.now() + Math.min(pause, MAX_PAUSE)))
  }

  /** @returns {[key: string, text: string][]} */
  #stored() {
    try {
      const keys = Object.keys(localStorage).filter((key) => key.startsWith(this.#prefix))
      return keys.flatMap((key) => {
        const text = localStorage.getItem(key)
        return text && isActivity(text) ? [[key, text]] : []
      })
    } catch {
      return []
    }
  }

  /** @param {string} key */
  #read(key) {
    try {
      return localStorage.getItem(key) ?? this.#unstored.get(key)
    } catch {
      return this.#unstored.get(key)
    }
  }

  /**
   * @param {string} key
   * @param {string} text
   */
  #write(key, text) {
    try {
      localStorage.setItem(key, text)
    } catch {
      this.#unstored.set(key, text)
    }
  }
}

/**
 * Returns whether a text is an activity. Any script of the page can write to the storage.
 * @param {string} text
 */
function isActivity(text) {
  try {
    return typeof JSON.parse(text).action === 'string'
  } catch {
    return false
  }
}
