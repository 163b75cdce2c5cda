// Event streams of boards, with polling where there are none.

import { readEvents } from './events.js'
import { MAX_BACKOFF, Poll } from './poll.js'

const RECONNECT = 3e3 // ms until an ended stream is opened again
const STREAM_TIMEOUT = 60e3 // ms without data after which a stream is given up

const streamless = new Set() // origins

/** The board of one URL, kept up to date while it is watched. */
export class Source extends Poll {
  #streamUrl
  #stream = null
  #retry = RECONNECT
  #streamFailures = 0 // since the last board
  #streamAt = 0 // the next may be opened

  constructor(fetch, url, streamUrl) {
    super(fetch, url)
    this.#streamUrl = streamUrl
  }

  get isStreaming() {
    return this.#stream !== null
  }

  pause() {
    super.pause()
    this.#stream?.abort()
    this.#stream = null
  }

  get streamDelay() {
    const url = this.#streamUrl
    return !url || streamless.has(new URL(url).origin) ? Infinity : this.#streamAt - Date.now()
  }

  async readStream() {
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
      const response = await this.fetch(url, { headers: { accept: 'text/event-stream' }, signal: stream.signal })
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
    this.schedule()
  }

  #receive(data) {
    if (!data?.entries) throw new TypeError('not a board')
    this.publish({ data, at: Date.now(), failure: null })
    this.#streamFailures = 0
  }
}
