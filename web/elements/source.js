// Polling and event streams, shared by elements of the same URL.

import { readEvents } from './events.js'

const TIMEOUT = 10e3 // ms for a response
const MIN_GAP = 10e3 // ms between requests of refreshSoon()
const RECONNECT = 3e3 // ms until an ended stream is opened again
const MAX_BACKOFF = 300e3 // ms between retries
const STREAM_TIMEOUT = 60e3 // ms without data after which a stream is given up

const sources = new Map() // by fetch function, then by URL
const streamless = new Set() // origins

/** The data of one URL, kept up to date while it is watched. */
export class Source {
  state = { data: null, at: 0, failure: null }
  #fetch
  #streamUrl
  #listeners = new Map() // to their interval in seconds
  #isLoading = false
  #timer
  #isDueSoon = false
  #failures = 0
  #stream = null
  #retry = RECONNECT
  #streamFailures = 0 // since the last board
  #streamAt = 0 // the next may be opened

  /** Returns the shared source of a URL. */
  static of(fetch, url, streamUrl) {
    const byUrl = sources.get(fetch) ?? new Map()
    sources.set(fetch, byUrl)
    if (!byUrl.has(url)) byUrl.set(url, new Source(fetch, url, streamUrl))
    return byUrl.get(url)
  }

  constructor(fetch, url, streamUrl) {
    this.#fetch = fetch
    this.url = url
    this.#streamUrl = streamUrl
  }

  /** Calls a listener with each new state, polling every so many seconds; 0 loads once. */
  watch(listener, seconds) {
    this.#listeners.set(listener, seconds)
    if (this.state.at || this.state.failure) {
      queueMicrotask(() => this.#listeners.has(listener) && listener(this.state))
    }
    if (this.state.at) this.#schedule()
    else this.load()
  }

  unwatch(listener) {
    this.#listeners.delete(listener)
    if (this.#listeners.size) return
    this.#pause()
    const byUrl = sources.get(this.#fetch)
    byUrl?.delete(this.url)
    if (!byUrl?.size) sources.delete(this.#fetch)
  }

  /** Loads now, unless a stream is open. */
  refresh() {
    if (!this.#stream) this.load('no-cache')
  }

  /** Loads as soon as the last response is old enough. */
  refreshSoon() {
    this.#isDueSoon = true
    if (!this.#isLoading && !this.#failures) this.#schedule()
  }

  async load(cache = 'default') {
    if (this.#isLoading || document.hidden) return
    clearTimeout(this.#timer)
    this.#isLoading = true
    this.#isDueSoon = false
    let delay
    try {
      const response = await this.#fetch(this.url, { cache, signal: AbortSignal.timeout(TIMEOUT) })
      const data = await response.json().catch(() => null)
      if (response.ok && data) {
        this.#failures = 0
        this.#publish({ data, at: Date.now(), failure: null })
      } else {
        delay = this.#fail(response.status, data, response.headers.get('retry-after'))
      }
    } catch {
      delay = this.#fail(0)
    }
    this.#isLoading = false
    this.#schedule(delay)
  }

  /** Pauses or resumes after a change of visibility or connectivity. */
  wake() {
    if (document.hidden) {
      this.#pause()
    } else if (!navigator.onLine) {
      this.#pause()
      this.#fail(0)
    } else {
      this.#failures = 0
      this.load()
    }
  }

  #pause() {
    clearTimeout(this.#timer)
    this.#stream?.abort()
    this.#stream = null
  }

  #publish(state) {
    const { data } = this.state
    // Equal data stays the same object, so listeners can compare by identity.
    if (data && JSON.stringify(data) === JSON.stringify(state.data)) state.data = data
    this.state = state
    for (const listener of [...this.#listeners.keys()]) listener(state)
  }

  /** Publishes a failure and returns the delay until the retry, in ms. */
  #fail(status, problem, retryAfter) {
    this.#failures++
    this.#publish({ ...this.state, failure: { status, problem, offline: !navigator.onLine } })
    const backoff = Math.min(MAX_BACKOFF, 1e3 * 2 ** this.#failures)
    return Math.max(Number(retryAfter) * 1e3 || 0, backoff * (0.5 + Math.random() / 2))
  }

  #schedule(delay) {
    clearTimeout(this.#timer)
    if (document.hidden || this.#isLoading || this.#stream || !this.#listeners.size) return
    const { data, failure } = this.state
    // The same request would fail again.
    if (failure && [400, 401, 403, 404].includes(failure.status)) return
    if (!failure && this.#isDueSoon) delay = Math.max(0, this.state.at + MIN_GAP - Date.now())
    if (!failure && delay === undefined) {
      const seconds = Math.min(...[...this.#listeners.values()].map((seconds) => seconds || Infinity))
      if (seconds === Infinity || data?.period?.closed) return
      delay = Math.min(seconds * 1e3, this.#streamDelay)
      if (delay <= 0) return void this.#readStream()
    }
    this.#timer = setTimeout(() => this.load(), delay)
  }

  /** ms until the stream may be opened; Infinity if there is none. */
  get #streamDelay() {
    const url = this.#streamUrl
    return !url || streamless.has(new URL(url).origin) ? Infinity : this.#streamAt - Date.now()
  }

  async #readStream() {
    const url = this.#streamUrl
    const stream = new AbortController()
    this.#stream = stream
    let timer
    const restartTimer = () => {
      clearTimeout(timer)
      timer = setTimeout(() => stream.abort(), STREAM_TIMEOUT)
    }
    restartTimer()
    try {
      const response = await this.#fetch(url, { headers: { accept: 'text/event-stream' }, signal: stream.signal })
      if (response.status === 404) streamless.add(new URL(url).origin)
      for await (const { type, data, retry } of response.ok ? readEvents(response.body, restartTimer) : []) {
        if (retry) this.#retry = Math.max(1e3, retry)
        if (type === 'board') this.#receive(JSON.parse(data))
      }
    } catch {
      // The connection is lost or aborted, or a board is malformed.
    }
    clearTimeout(timer)
    // Closes the connection of an unread response too.
    stream.abort()
    if (this.#stream !== stream) return
    this.#stream = null
    const backoff = Math.min(MAX_BACKOFF, this.#retry * 2 ** this.#streamFailures++)
    this.#streamAt = Date.now() + backoff * (1 + Math.random())
    this.#schedule()
  }

  #receive(data) {
    if (!data?.entries) throw new TypeError('not a board')
    this.#publish({ data, at: Date.now(), failure: null })
    this.#streamFailures = 0
  }
}

function wakeAll() {
  for (const byUrl of sources.values()) for (const source of byUrl.values()) source.wake()
}
document.addEventListener('visibilitychange', wakeAll)
addEventListener('online', wakeAll)
addEventListener('offline', wakeAll)
