// Polling, shared by elements of the same URL.

import { retryAfterOf } from '../client/retry.js'

const TIMEOUT = 10e3 // ms for a response
const MIN_GAP = 10e3 // ms between requests of refreshSoon()
export const MAX_BACKOFF = 300e3 // ms between retries

const sources = new Map() // by fetch function, then by URL

/** The data of one URL, kept up to date while it is watched. */
export class Poll {
  state = { data: null, at: 0, failure: null }
  #listeners = new Map() // to their interval in seconds
  #isLoading = false
  #timer
  #isDueSoon = false
  #failures = 0

  /** Returns the shared source of a URL. */
  static of(fetch, url, streamUrl = undefined) {
    const byUrl = sources.get(fetch) ?? new Map()
    sources.set(fetch, byUrl)
    if (!byUrl.has(url)) byUrl.set(url, new this(fetch, url, streamUrl))
    return byUrl.get(url)
  }

  constructor(fetch, url, _streamUrl = undefined) {
    this.fetch = fetch
    this.url = url
  }

  /** Calls a listener with each new state, polling every so many seconds; 0 loads once. */
  watch(listener, seconds) {
    this.#listeners.set(listener, seconds)
    if (this.state.at || this.state.failure) {
      queueMicrotask(() => this.#listeners.has(listener) && listener(this.state))
    }
    if (this.state.at) this.schedule()
    else this.load()
  }

  unwatch(listener) {
    this.#listeners.delete(listener)
    if (this.#listeners.size) return
    this.pause()
    const byUrl = sources.get(this.fetch)
    byUrl?.delete(this.url)
    if (!byUrl?.size) sources.delete(this.fetch)
  }

  /** Loads now. */
  refresh() {
    if (!this.isStreaming) this.load('no-cache')
  }

  /** Loads as soon as the last response is old enough. */
  refreshSoon() {
    this.#isDueSoon = true
    if (!this.#isLoading && !this.#failures) this.schedule()
  }

  async load(cache = 'default') {
    if (this.#isLoading || document.hidden) return
    clearTimeout(this.#timer)
    this.#isLoading = true
    this.#isDueSoon = false
    let delay
    try {
      const response = await this.fetch(this.url, { cache, signal: AbortSignal.timeout(TIMEOUT) })
      const data = await response.json().catch(() => null)
      if (response.ok && data) {
        this.#failures = 0
        this.publish({ data, at: Date.now(), failure: null })
      } else {
        delay = this.#fail(response.status, data, retryAfterOf(response))
      }
    } catch {
      delay = this.#fail(0)
    }
    this.#isLoading = false
    this.schedule(delay)
  }

  /** Pauses or resumes after a change of visibility or connectivity. */
  wake() {
    if (document.hidden) {
      this.pause()
    } else if (!navigator.onLine) {
      this.pause()
      this.#fail(0)
    } else {
      this.#failures = 0
      this.load()
    }
  }

  // A subclass may receive data from a stream in place of polling.

  get isStreaming() {
    return false
  }

  /** ms until the stream may be opened; Infinity if there is none. */
  get streamDelay() {
    return Infinity
  }

  readStream() {}

  pause() {
    clearTimeout(this.#timer)
  }

  publish(state) {
    const { data } = this.state
    // Equal data stays the same object, so listeners can compare by identity.
    if (data && JSON.stringify(data) === JSON.stringify(state.data)) state.data = data
    this.state = state
    for (const listener of [...this.#listeners.keys()]) {
      // An element that fails neither fails the request nor the elements after it.
      try {
        listener(state)
      } catch (error) {
        reportError(error)
      }
    }
  }

  /** Publishes a failure and returns the delay until the retry, in ms. */
  #fail(status, problem, retryAfter = 0) {
    this.#failures++
    this.publish({ ...this.state, failure: { status, problem, offline: !navigator.onLine } })
    const backoff = Math.min(MAX_BACKOFF, 1e3 * 2 ** this.#failures)
    return Math.max(retryAfter, backoff * (0.5 + Math.random() / 2))
  }

  schedule(delay) {
    clearTimeout(this.#timer)
    if (document.hidden || this.#isLoading || this.isStreaming || !this.#listeners.size) return
    const { data, failure } = this.state
    // The same request would fail again.
    if (failure && [400, 401, 403, 404].includes(failure.status)) return
    if (!failure && this.#isDueSoon) delay = Math.max(0, this.state.at + MIN_GAP - Date.now())
    if (!failure && delay === undefined) {
      const seconds = Math.min(...[...this.#listeners.values()].map((seconds) => seconds || Infinity))
      if (seconds === Infinity || data?.period?.closed) return
      delay = Math.min(seconds * 1e3, this.streamDelay)
      if (delay <= 0) return void this.readStream()
    }
    this.#timer = setTimeout(() => this.load(), delay)
  }
}

function wakeAll() {
  for (const byUrl of sources.values()) for (const source of byUrl.values()) source.wake()
}
document.addEventListener('visibilitychange', wakeAll)
addEventListener('online', wakeAll)
addEventListener('offline', wakeAll)
