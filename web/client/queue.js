// What waits to be sent, in the storage of the browser: the next page finds it, and so does another
// tab. Each activity is a key of its own, so tabs that write at the same moment lose nothing.

const MOST = 1000 // activities of one member that wait
const LONGEST = 3600e3 // ms; a longer pause is one of another clock

export class Queue {
  #prefix
  #unstored = new Map() // what the storage has no room for, or where there is none

  constructor(name) {
    this.name = name
    this.#prefix = `${name} #`
  }

  /** Puts one last; its key, and what had to make room for it. */
  add(activity) {
    const items = this.items()
    const { action, target, undo } = activity
    const last = items.findLast(({ activity }) => activity.action === action && activity.target === target)
    // The same twice in a row is the same once.
    if (last && last.activity.undo === undo) return { key: last.key, dropped: [] }
    const time = Math.max(Date.now(), Number(items.at(-1)?.order.slice(0, 15) ?? 0) + 1)
    const order = `${String(time).padStart(15, '0')}-${Math.random().toString(36).slice(2)}`
    const key = this.#prefix + order
    this.#write(key, JSON.stringify(activity))
    return { key, dropped: items.slice(0, Math.max(0, items.length + 1 - MOST)) }
  }

  /** All that wait, the first first: `key`, `text` (JSON) and `activity`. */
  items() {
    const unstored = [...this.#unstored].filter(([key]) => key !== this.name)
    const all = [...this.#stored(), ...unstored].map(([key, text]) => {
      return { key, order: key.slice(this.#prefix.length), text, activity: JSON.parse(text) }
    })
    return all.sort((a, b) => (a.order < b.order ? -1 : 1))
  }

  remove(key) {
    this.#unstored.delete(key)
    try {
      localStorage.removeItem(key)
    } catch {
      // No storage, nothing stored.
    }
  }

  /** ms in which no tab sends, as the service has said. */
  get pause() {
    const pause = Number(this.#read(this.name)) - Date.now()
    return pause > 0 && pause <= LONGEST ? pause : 0
  }

  set pause(pause) {
    if (pause) this.#write(this.name, String(Date.now() + Math.min(pause, LONGEST)))
  }

  #stored() {
    try {
      const keys = Object.keys(localStorage).filter((key) => key.startsWith(this.#prefix))
      return keys.map((key) => [key, localStorage.getItem(key)]).filter(([, text]) => isActivity(text))
    } catch {
      return []
    }
  }

  #read(key) {
    try {
      return localStorage.getItem(key) ?? this.#unstored.get(key)
    } catch {
      return this.#unstored.get(key)
    }
  }

  #write(key, text) {
    try {
      localStorage.setItem(key, text)
    } catch {
      this.#unstored.set(key, text)
    }
  }
}

// A storage can be written by anything of the page.
function isActivity(text) {
  try {
    return typeof JSON.parse(text).action === 'string'
  } catch {
    return false
  }
}
