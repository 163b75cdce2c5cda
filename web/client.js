// The browser client: queues a user's activity, sends it when the service is reachable, and reports each result.
//
//   const rank = new Client({ user: '42', token: () => readToken() })
//   rank.visits()
//   const { outcome, points } = await rank.track('like', 'post-7')

/** @import { Activity, Options, Problem, Result } from './client.js' */
/** @import { Item } from './client/queue.js' */

import { someToken, userId } from './client/identity.js'
import { Queue } from './client/queue.js'
import { retryAfterOf } from './client/retry.js'
import { normalPath, onVisit } from './client/visits.js'

const TIMEOUT = 20e3 // ms for a response
const MAX_ITEMS = 50 // in a request, the service's limit for members
const MAX_CHARACTERS = 50_000 // in a request: at most 150 KB in UTF-8, of the 256 KB the service accepts
const MAX_KEEPALIVE = 10_000 // characters; browsers limit all keepalive requests of a page to 64 KB
const MAX_BACKOFF = 300e3 // ms between retries

export class Client extends EventTarget {
  /**
   * Sends every request; may be overridden.
   * @param {string} url
   * @param {RequestInit} options
   */
  static fetch = (url, options) => fetch(url, options)

  #user
  #token
  /** @type {string | undefined} */
  #lastToken
  #url
  #queue
  #channel // to other tabs
  /** @type {Map<string, ReturnType<typeof withResolver>>} By queue key. */
  #pending = new Map()
  #isSending = false
  #inFlight = new Set() // queue keys
  #failures = 0
  #retryAt = 0 // ms; the pause that the service asks for is in the queue
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  #isClosed = false
  #isLeaving = false
  #standings
  /** @type {(() => void)[]} */
  #cleanups = []

  /** @param {Options} options */
  constructor({ user, token, src = new URL('.', import.meta.url), standings = true }) {
    super()
    this.#standings = standings
    this.#user = userId(user)
    this.#token = token
    this.#lastToken = typeof token === 'string' ? token : undefined
    const base = new URL(String(src).replace(/\/*$/, '/'), document.baseURI)
    this.#url = new URL('v1/activity', base).href
    const name = `activity-rank ${base.href} ${this.#user}`
    this.#queue = new Queue(name)
    this.#channel = new BroadcastChannel(name)
    this.#channel.onmessage = ({ data: [key, activity, result] }) => this.#publish(key, activity, result)
    this.#listen('online', () => {
      this.#failures = this.#retryAt = 0
      this.#send()
    })
    this.#listen('pagehide', () => {
      this.#isLeaving = true
      this.#flush()
    })
    this.#listen('pageshow', () => {
      this.#isLeaving = false
      this.#send()
    })
    this.#send()
  }

  /**
   * Queues an activity and resolves with its result. `on` is the target that receives points, if it is another one.
   * @param {string} action
   * @param {string} target
   * @param {{ on?: string }} [options]
   */
  track(action, target, { on } = {}) {
    return this.#add({ user: this.#user, action: `${action}`, target, ...(on !== undefined && { on }) })
  }

  /**
   * Queues the undo of an activity and resolves with its result.
   * @param {string} action
   * @param {string} target
   */
  undo(action, target) {
    return this.#add({ user: this.#user, action, target, undo: true })
  }

  /**
   * Returns for each target whether an activity counts, as activity that is still queued leaves it.
   * @param {string} action
   * @param {string[]} targets
   */
  async done(action, targets) {
    const token = await someToken(this.#token)
    const list = targets.map((target) => target.replace(/[%,]/g, encodeURIComponent))
    const path = `users/${this.#user}/done?${new URLSearchParams({ action, targets: list.join() })}`
    const type = /** @type {typeof Client} */ (this.constructor)
    const response = await type.fetch(new URL(path, this.#url).href, { headers: { authorization: `Bearer ${token}` } })
    const body = await response.json()
    if (!response.ok) throw new Error(body.detail)
    const items = this.#queue.items()
    return targets.map((target, index) => {
      const last = items.findLast(({ activity }) => activity.action === action && activity.target === target)
      return last ? !last.activity.undo : body.targets[index].done
    })
  }

  /** Tracks a visit of this page, and of each page that `history` navigates to. */
  visits() {
    this.#cleanups.push(onVisit((path) => this.track('visit', path)))
    return this
  }

  /** Stops sending. The user's next client sends the rest of the queue. */
  close() {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const cleanup of this.#cleanups) cleanup()
    this.#channel.close()
  }

  /**
   * @param {string} name
   * @param {() => void} listener
   */
  #listen(name, listener) {
    addEventListener(name, listener)
    this.#cleanups.push(() => removeEventListener(name, listener))
  }

  /** @param {Activity} activity */
  #add(activity) {
    if (activity.action === 'visit') activity.target = normalPath(String(activity.target))
    const { key, dropped } = this.#queue.add(activity)
    for (const item of dropped) this.#settle(item, { error: DROPPED })
    const pending = this.#pending.get(key) ?? withResolver()
    this.#pending.set(key, pending)
    if (this.#isLeaving) this.#flush()
    else this.#send()
    return pending.promise
  }

  async #send() {
    if (this.#isSending || this.#isClosed) return
    this.#isSending = true
    clearTimeout(this.#timer)
    // Collects the calls of this task in one request.
    await null
    /** @type {Promise<void> | undefined} */
    let drained
    const drain = () => (drained ??= this.#drain())
    try {
      // One tab at a time: otherwise a like could overtake the undo that another tab sends.
      await navigator.locks.request(this.#queue.name, drain)
    } catch {
      // Locks are unavailable, as in a sandboxed frame.
    }
    await drain().finally(() => (this.#isSending = false))
    if (this.#isClosed || !this.#queue.items().length) return
    this.#timer = setTimeout(() => this.#send(), this.#delay)
  }

  // ms until the next request is allowed.
  get #delay() {
    return Math.max(0, this.#retryAt - Date.now(), this.#queue.pause)
  }

  async #drain() {
    while (!this.#isClosed && !this.#delay) {
      const batch = this.#nextBatch(MAX_CHARACTERS)
      if (!batch.length) return
      this.#inFlight = new Set(batch.map(({ key }) => key))
      await this.#sendBatch(batch)
      this.#inFlight.clear()
    }
  }

  /**
   * Returns the oldest items within the limits, at least one.
   * @param {number} maxCharacters
   */
  #nextBatch(maxCharacters) {
    let length = 0
    const items = this.#queue.items().filter(({ key }) => !this.#inFlight.has(key))
    const end = items.findIndex(({ text }, index) => {
      length += text.length + 1
      return index === MAX_ITEMS || (length > maxCharacters && index > 0)
    })
    return end < 0 ? items : items.slice(0, end)
  }

  /** @param {Item[]} batch */
  async #sendBatch(batch) {
    let response
    let body
    try {
      const token = await someToken(this.#token)
      this.#lastToken = token
      response = await this.#post(batch, token, AbortSignal.timeout(TIMEOUT))
      body = await response.json()
    } catch (error) {
      this.#fail(String(error))
      return
    }
    const { status } = response
    if (isTemporary(status)) {
      this.#fail(body.detail ?? `status ${status}`, retryAfterOf(response))
      return
    }
    const results = response.ok ? (body.results ?? [body]) : batch.map(() => ({ error: body }))
    let hasRetry = false
    batch.forEach((item, index) => {
      const result = results[index]
      if (!result || isTemporary(result.error?.status)) hasRetry = true
      else this.#settle(item, result)
    })
    if (hasRetry) this.#fail('Some activities could not be counted yet.')
    else this.#failures = 0
  }

  /**
   * @param {Item[]} batch
   * @param {string} token
   * @param {AbortSignal} [signal]
   */
  #post(batch, token, signal) {
    const text = batch.map(({ text }) => text).join()
    const isMinimal = !batch[1] && (!this.#standings || batch[0].activity.action === 'visit')
    const type = /** @type {typeof Client} */ (this.constructor)
    return type.fetch(this.#url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        prefer: isMinimal ? 'return=minimal' : 'return=representation',
      },
      // The response to a single object includes standings.
      body: batch.length === 1 ? text : `[${text}]`,
      keepalive: text.length <= MAX_KEEPALIVE,
      signal,
    })
  }

  // Sends what is not in flight while the page is unloaded. The response is lost, so the items stay in the queue and
  // the next page sends them again; duplicates do not count.
  #flush() {
    const batch = this.#nextBatch(MAX_KEEPALIVE)
    if (!batch.length || this.#delay || this.#lastToken === undefined) return
    this.#post(batch, this.#lastToken).catch(() => {})
  }

  /**
   * @param {string} message
   * @param {number} [retryAfter] ms
   */
  #fail(message, retryAfter = 0) {
    this.#failures++
    const backoff = Math.min(MAX_BACKOFF, 1e3 * 2 ** this.#failures)
    this.#retryAt = Date.now() + backoff * (0.5 + Math.random() / 2)
    this.#queue.pause = retryAfter
    this.dispatchEvent(new ErrorEvent('error', { message }))
  }

  /**
   * @param {Item} item
   * @param {Result} result
   */
  #settle({ key, activity }, result) {
    this.#queue.remove(key)
    this.#publish(key, activity, result)
    if (!this.#isClosed) this.#channel.postMessage([key, activity, result])
  }

  /**
   * @param {string} key
   * @param {Activity} activity
   * @param {Result} result
   */
  #publish(key, activity, result) {
    this.#pending.get(key)?.resolve(result)
    this.#pending.delete(key)
    this.dispatchEvent(new CustomEvent('result', { detail: { activity, result } }))
  }
}

/**
 * Returns whether a retry can succeed, with a new token or later.
 * @param {number} status
 */
const isTemporary = (status) => status === 401 || status === 408 || status === 429 || status >= 500

/** @type {Problem} */
const DROPPED = {
  type: 'about:blank',
  title: 'Queue full',
  status: 0,
  detail: 'The oldest activity was dropped because 1,000 others were waiting to be sent.',
}

function withResolver() {
  /** @type {(result: Result) => void} */
  let resolve = () => {}
  /** @type {Promise<Result>} */
  const promise = new Promise((settle) => (resolve = settle))
  return { promise, resolve }
}
