// The numbers of targets and the reader's own answers, which all buttons of a page share; and readers without an account.

const MAX_TARGETS = 100 // of a request

/** @typedef {{ user: string, token: string }} Reader */
/**
 * The numbers and own answers on display, and the saved ones.
 * @typedef {{ counts: Record<string, number>, done: Record<string, boolean>, saved?: State, isSaving?: boolean, failure?: any }} State
 */

const boxes = new Map() // by deployment, actions and member
const visitors = new Map() // promises by deployment

/** Joins targets: in a target a comma is `%2C` and a percent sign `%25`. */
const listed = (targets) => targets.map((target) => target.replace(/[%,]/g, encodeURIComponent)).join(',')

/** Sends a request and returns its JSON. Throws the response, with `problem`, if it is not a success. */
export async function send(fetch, url, token = '', body = undefined) {
  const headers = token ? { authorization: `Bearer ${token}` } : {}
  if (body) headers['content-type'] = 'application/json'
  const response = await fetch(url, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
  const json = await response.json().catch(() => null)
  if (!response.ok) throw Object.assign(response, { problem: json })
  return json
}

const STORED = 'activity-rank visitor ' // and the deployment

/** Returns the visitor whom this browser has stored for a deployment. Without storage there is none. */
function storedVisitor(base) {
  try {
    return JSON.parse(localStorage.getItem(STORED + base))
  } catch {
    return null
  }
}

/** Stores a visitor, or none. */
export function storeVisitor(base, visitor) {
  visitors.set(base, visitor && Promise.resolve(visitor))
  try {
    if (visitor) localStorage.setItem(STORED + base, JSON.stringify(visitor))
    else localStorage.removeItem(STORED + base)
  } catch {
    // The visitor is known until the page is left.
  }
}

/**
 * Returns the visitor of a deployment: the known one, else a new one if `isWanted`.
 * @returns {Promise<Reader | null>}
 */
export async function visitorOf(base, fetch, isWanted, turnstile) {
  const known = (await visitors.get(base)?.catch(() => void visitors.delete(base))) ?? storedVisitor(base)
  if (known || !isWanted) return known
  const create = async () => {
    const body = turnstile ? { turnstile: await turnstile() } : {}
    const { visitor: user, token } = await send(fetch, `${base}v1/visitors`, '', body)
    storeVisitor(base, { user, token })
    return { user, token }
  }
  // Two buttons ask once.
  const pending = visitors.get(base) ?? create()
  visitors.set(base, pending)
  return pending
}

/** The states of targets that a reader sees. One request reads all targets that are watched in one task. */
export class Box {
  /** @type {Map<string, State>} */
  #states = new Map()
  #watchers = new Set()
  #wanted = []

  /**
   * @param {string} base URL of the deployment
   * @param {string[]} actions
   * @param {(url: string, options?: RequestInit) => Promise<Response>} fetch
   * @param {() => Promise<Reader | null>} reader
   */
  constructor(base, actions, fetch, reader) {
    Object.assign(this, { base, actions, fetch, reader })
  }

  /** Returns the box of these; each fetch function has boxes of its own. */
  static of(base, actions, fetch, user, reader) {
    const key = `${base} ${actions} ${user}`
    const known = boxes.get(key)
    if (known?.fetch === fetch) return Object.assign(known, { reader })
    const box = new Box(base, actions, fetch, reader)
    boxes.set(key, box)
    return box
  }

  /** Calls back with each change of a target's state, until `unwatch`. */
  watch(target, onState) {
    this.#watchers.add(onState)
    const state = this.#states.get(target)
    if (state) return onState(target, state)
    if (!this.#wanted.includes(target)) this.#wanted.push(target)
    if (this.#wanted.length === 1) queueMicrotask(() => this.#load())
  }

  unwatch(onState) {
    this.#watchers.delete(onState)
  }

  #set(target, state) {
    this.#states.set(target, state)
    for (const watcher of this.#watchers) watcher(target, state)
  }

  /** Shows other own answers of a target. */
  answer(target, done) {
    const state = this.#states.get(target)
    const counts = { ...state.saved.counts }
    for (const action in done) counts[action] += Number(done[action]) - Number(state.saved.done[action])
    this.#set(target, { ...state, done, counts })
  }

  /**
   * Saves the answers that are shown, one change after the other. Returns the failure that prevents it.
   * @param {string} target
   * @param {(changes: [string, boolean][]) => Promise<any[]>} send sends actions, each with whether it is undone
   */
  async save(target, send) {
    const get = () => this.#states.get(target)
    if (get().isSaving) return
    try {
      for (;;) {
        const { saved, done } = get()
        const actions = Object.keys(done).filter((action) => done[action] !== saved.done[action])
        if (!actions.length) return this.#set(target, { ...get(), isSaving: false })
        // An answer is taken back before another one is given.
        actions.sort((action) => (saved.done[action] ? -1 : 1))
        const changes = actions.map((action) => [action, saved.done[action]])
        this.#set(target, { ...get(), isSaving: true })
        const results = await send(/** @type {any} */ (changes))
        const next = { counts: { ...saved.counts }, done: { ...saved.done } }
        // The changes before a failed one stand.
        get().saved = next
        for (const [index, { outcome, error }] of results.entries()) {
          const [action, isUndone] = /** @type {any} */ (changes[index])
          // Another tab or device may have been faster.
          const step = { counted: 1, queued: 1, undone: -1, duplicate: 0, 'nothing-to-undo': 0 }[outcome]
          if (step === undefined) throw { status: outcome === 'capped' ? 429 : (error?.status ?? 0), problem: error }
          next.counts[action] += isUndone && step ? -1 : step
          next.done[action] = !isUndone
        }
        this.answer(target, get().done)
      }
    } catch (failure) {
      const { saved } = get()
      this.#set(target, { ...saved, saved })
      return failure
    }
  }

  async #load() {
    const targets = this.#wanted.splice(0)
    while (targets.length) await this.#read(targets.splice(0, MAX_TARGETS))
  }

  async #read(targets) {
    const { base, actions, fetch } = /** @type {any} */ (this)
    const query = (fields) => new URLSearchParams({ ...fields, targets: listed(targets) })
    try {
      const reader = await /** @type {any} */ (this).reader(false)
      const user = reader && encodeURIComponent(reader.user)
      const doneOf = (action) => send(fetch, `${base}v1/users/${user}/done?${query({ action })}`, reader.token)
      const [counts, ...done] = await Promise.all([
        send(fetch, `${base}v1/content/counts?${query({ actions })}`),
        // The number is there, also if the token is not valid any more.
        ...(reader ? actions.map((action) => doneOf(action).catch(() => null)) : []),
      ])
      for (const [index, target] of targets.entries()) {
        const own = actions.map((action, n) => [action, done[n]?.targets[index].done ?? false])
        const saved = { counts: counts.targets[index].counts, done: Object.fromEntries(own) }
        this.#set(target, { ...saved, saved })
      }
    } catch (failure) {
      for (const target of targets) {
        this.#set(target, { counts: {}, done: {}, failure })
        this.#states.delete(target)
      }
    }
  }
}
