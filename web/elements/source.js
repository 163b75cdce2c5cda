// What elements look at, asked for once however many look: by the event stream where there is one,
// else again and again.

const DEADLINE = 10e3 // ms for an answer
const GAP = 10e3 // ms between looks at what follows
const AGAIN = 3e3 // ms, or twice as many, until a stream that ended is tried again
const LONGEST = 300e3 // ms between tries of what fails
const SILENCE = 60e3 // ms after which nobody sends any more
const TRIES = 3 // of a stream that brings nothing

const all = new Map() // fetch function → address → source
const streamless = new Set() // origins without event streams

/** What is known of an address: `data`, `at` (ms), and the `failure` to know more. */
export class Source {
  state = { data: null, at: 0, failure: null }
  #fetch
  #live
  #watchers = new Map()
  #loading
  #timer
  #follows = false
  #failed = 0
  #stream
  #fruitless = 0

  /** The one source of an address; `live` is its event stream, if it may have one. */
  static of(fetch, url, live) {
    if (!all.has(fetch)) all.set(fetch, new Map())
    const sources = all.get(fetch)
    if (!sources.has(url)) sources.set(url, new Source(fetch, url, live))
    return sources.get(url)
  }

  constructor(fetch, url, live) {
    this.#fetch = fetch
    this.url = url
    this.#live = live
  }

  /** Tells a listener each state, and looks every so many seconds; 0 for once. */
  watch(listener, seconds) {
    this.#watchers.set(listener, seconds)
    if (this.state.at || this.state.failure) queueMicrotask(() => this.#watchers.has(listener) && listener(this.state))
    if (this.state.at) this.#plan()
    else this.load()
  }

  unwatch(listener) {
    this.#watchers.delete(listener)
    if (this.#watchers.size) return
    this.#pause()
    const sources = all.get(this.#fetch)
    sources?.delete(this.url)
    if (!sources?.size) all.delete(this.#fetch)
  }

  /** Looks now, unless a stream tells anyway. */
  refresh() {
    if (!this.#stream) this.load('no-cache')
  }

  /** Looks soon. */
  follow() {
    this.#follows = true
    if (!this.#loading && !this.#failed) this.#plan()
  }

  async load(cache = 'default') {
    if (this.#loading || document.hidden) return
    clearTimeout(this.#timer)
    this.#loading = true
    this.#follows = false
    let wait
    try {
      const answer = await this.#fetch(this.url, { cache, signal: AbortSignal.timeout(DEADLINE) })
      const data = await answer.json().catch(() => null)
      if (answer.ok && data) {
        this.#failed = 0
        this.#tell({ data, at: Date.now(), failure: null })
      } else {
        wait = this.#fail(answer.status, answer.headers.get('retry-after'), data)
      }
    } catch {
      wait = this.#fail(0)
    }
    this.#loading = false
    this.#plan(wait)
  }

  wake() {
    if (document.hidden) return this.#pause()
    if (!navigator.onLine) {
      this.#pause()
      return this.#fail(0)
    }
    this.#failed = this.#fruitless = 0
    this.load()
  }

  #pause() {
    clearTimeout(this.#timer)
    this.#stream?.abort()
  }

  #tell(state) {
    const old = this.state.data
    // The same again is the same object.
    if (old && JSON.stringify(old) === JSON.stringify(state.data)) state.data = old
    this.state = state
    for (const listener of [...this.#watchers.keys()]) listener(state)
  }

  // Returns ms to wait.
  #fail(status, retryAfter, problem) {
    this.#failed++
    this.#tell({ ...this.state, failure: { status, problem, offline: !navigator.onLine } })
    const pause = Math.min(LONGEST, 1e3 * 2 ** this.#failed)
    return Math.max(retryAfter * 1e3 || 0, pause * (0.5 + Math.random() / 2))
  }

  #plan(wait) {
    clearTimeout(this.#timer)
    if (document.hidden || this.#loading || !this.#watchers.size) return
    const { data, failure } = this.state
    // Asked again it would be the same.
    if (failure && [400, 401, 403, 404].includes(failure.status)) return
    if (!failure && this.#follows) wait = Math.max(0, this.state.at + GAP - Date.now())
    if (!failure && wait === undefined) {
      const seconds = Math.min(...[...this.#watchers.values()].map((seconds) => seconds || Infinity))
      if (seconds === Infinity || data?.period?.closed) return
      if (this.#mayStream()) return this.#listen()
      wait = seconds * 1e3
    }
    if (!this.#stream) this.#timer = setTimeout(() => this.load(), wait)
  }

  #mayStream() {
    return this.#live && !this.#stream && this.#fruitless < TRIES && !streamless.has(new URL(this.#live).origin)
  }

  async #listen() {
    const stream = (this.#stream = new AbortController())
    this.#fruitless++
    let none
    let silence
    try {
      // EventSource would not tell the status.
      const answer = await this.#fetch(this.#live, { headers: { accept: 'text/event-stream' }, signal: stream.signal })
      none = answer.status === 404
      const reader = answer.ok && answer.body.pipeThrough(new TextDecoderStream()).getReader()
      for (let text = ''; reader; ) {
        silence = setTimeout(() => reader.cancel(), SILENCE)
        const { value, done } = await reader.read()
        clearTimeout(silence)
        if (done) break
        const blocks = (text + value).replaceAll('\r\n', '\n').split('\n\n')
        text = blocks.pop()
        for (const block of blocks) if (/^event: ?board$/m.test(block)) this.#receive(block)
      }
    } catch {
      // Ended, as streams do.
    }
    clearTimeout(silence)
    if (none) streamless.add(new URL(this.#live).origin)
    if (this.#stream === stream) this.#stream = null
    if (!stream.signal.aborted) this.#plan(none ? undefined : AGAIN * (1 + Math.random()))
  }

  #receive(event) {
    const [, data] = /^data: ?(.*)$/m.exec(event)
    this.#fruitless = 0
    this.#tell({ data: JSON.parse(data), at: Date.now(), failure: null })
  }
}

const wake = () => {
  for (const sources of all.values()) for (const source of sources.values()) source.wake()
}
document.addEventListener('visibilitychange', wake)
addEventListener('online', wake)
addEventListener('offline', wake)
