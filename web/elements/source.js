// Polling and event streams, shared by elements of the same URL.

const TIMEOUT = 10e3 // ms for a response
const MIN_GAP = 10e3 // ms between requests of refreshSoon()
const RECONNECT = 3e3 // ms, up to twice as many, until an ended stream is opened again
const MAX_BACKOFF = 300e3 // ms between retries
const STREAM_TIMEOUT = 60e3 // ms without data after which a stream is given up
const MAX_STREAMS = 3 // in a row without an event, before polling

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
  #emptyStreams = 0

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
      this.#failures = this.#emptyStreams = 0
      this.load()
    }
  }

  #pause() {
    clearTimeout(this.#timer)
    this.#stream?.abort()
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
    if (document.hidden || this.#isLoading || !this.#listeners.size) return
    const { data, failure } = this.state
    // The same request would fail again.
    if (failure && [400, 401, 403, 404].includes(failure.status)) return
    if (!failure && this.#isDueSoon) delay = Math.max(0, this.state.at + MIN_GAP - Date.now())
    if (!failure && delay === undefined) {
      const seconds = Math.min(...[...this.#listeners.values()].map((seconds) => seconds || Infinity))
      if (seconds === Infinity || data?.period?.closed) return
      if (this.#openStream()) return
      delay = seconds * 1e3
    }
    if (!this.#stream) this.#timer = setTimeout(() => this.load(), delay)
  }

  /** Opens the event stream, and returns whether there is one to open. */
  #openStream() {
    const url = this.#streamUrl
    if (!url || this.#stream || this.#emptyStreams >= MAX_STREAMS || streamless.has(new URL(url).origin)) return false
    this.#read(url)
    return true
  }

  async #read(url) {
    const stream = new AbortController()
    this.#stream = stream
    this.#emptyStreams++
    let isMissing = false
    let timer
    try {
      // Not by EventSource, which does not expose the status.
      const response = await this.#fetch(url, { headers: { accept: 'text/event-stream' }, signal: stream.signal })
      isMissing = response.status === 404
      const reader = response.ok && response.body?.pipeThrough(new TextDecoderStream()).getReader()
      for (let text = ''; reader; ) {
        timer = setTimeout(() => reader.cancel(), STREAM_TIMEOUT)
        const { value, done } = await reader.read()
        clearTimeout(timer)
        if (done) break
        const blocks = (text + value).replaceAll('\r\n', '\n').split('\n\n')
        text = blocks.pop() ?? ''
        for (const block of blocks) if (/^event: ?board$/m.test(block)) this.#receive(block)
      }
    } catch {
      // The connection is lost or aborted.
    }
    clearTimeout(timer)
    if (isMissing) streamless.add(new URL(url).origin)
    if (this.#stream === stream) this.#stream = null
    if (!stream.signal.aborted) this.#schedule(isMissing ? undefined : RECONNECT * (1 + Math.random()))
  }

  #receive(event) {
    const data = JSON.parse(/^data: ?(.*)$/m.exec(event)?.[1] ?? '')
    this.#emptyStreams = 0
    this.#publish({ data, at: Date.now(), failure: null })
  }
}

function wakeAll() {
  for (const byUrl of sources.values()) for (const source of byUrl.values()) source.wake()
}
document.addEventListener('visibilitychange', wakeAll)
addEventListener('online', wakeAll)
addEventListener('offline', wakeAll)
