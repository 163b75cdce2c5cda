// Live boards as server-sent events. A hub polls one board on behalf of all its watchers: at most
// once a second, and only while it has watchers. Each watcher has at most one write in progress and
// one pending version; a slow watcher skips the versions in between.

const SECOND = 1000 // Every duration is in milliseconds unless its name says otherwise.
const MAX_BACKOFF_SECONDS = 7 // between polls while the store does not respond
const KEEPALIVE_INTERVAL = 25 * SECOND // keeps idle streams open and detects closed ones
const WRITE_TIMEOUT = 30 * SECOND
// Clients reconnect after this time, which starts a new invocation: each invocation has a limited
// number of subrequests.
const MAX_STREAM_AGE = 900 * SECOND

const RETRY = 'retry: 3000\n'
const encoder = new TextEncoder()
const COMMENT = encoder.encode(':\n\n')

/** The stream of one client. */
class Watcher {
  #writer
  #version // the last version sent or pending
  #pending = null // bytes to write after the write in progress
  /** @type {number | null} */
  #writingSince = null // start of the write in progress, null if there is none
  #lastRead // when the client last read a write
  #repeatComment = false
  #opened

  constructor(limit, version) {
    const { readable, writable } = new IdentityTransformStream()
    this.limit = limit
    this.readable = readable
    this.closed = false
    this.#writer = writable.getWriter()
    this.#version = version
    this.#opened = this.#lastRead = Date.now()
  }

  /** Sends the retry interval, and the board unless the client already has this version. */
  start(board) {
    const first = this.#version === board.version ? '\n' : board.text
    this.#version = board.version
    this.#write(encoder.encode(RETRY + first))
  }

  /** Sends the board if its version is new. */
  update(board) {
    if (!board || board.version === this.#version) return
    this.#version = board.version
    this.#write((board.bytes ??= encoder.encode(board.text)))
  }

  /** Sends a comment to an idle stream; closes a stream that timed out or is too old. */
  maintain(now) {
    if (now - this.#opened >= MAX_STREAM_AGE) return this.end()
    if (this.#writingSince === null) {
      // Two comments: the first write after a client has disconnected is lost without an error, the
      // second fails.
      const idle = now - this.#lastRead >= KEEPALIVE_INTERVAL
      if (idle || this.#repeatComment) this.#write(COMMENT)
      this.#repeatComment = idle
    } else if (now - this.#writingSince >= WRITE_TIMEOUT) {
      this.#close()
      this.#writer.abort('not read in time').catch(() => {})
    }
  }

  end() {
    this.#close()
    this.#writer.close().catch(() => {})
  }

  #close() {
    this.closed = true
    this.#pending = null
  }

  async #write(bytes) {
    if (this.#writingSince !== null) {
      this.#pending = bytes
      return
    }
    try {
      while (bytes && !this.closed) {
        this.#writingSince = Date.now()
        await this.#writer.write(bytes)
        bytes = this.#pending
        this.#pending = null
      }
      this.#writingSince = null
      this.#lastRead = Date.now()
    } catch {
      // The client has disconnected.
      this.#close()
    }
  }
}

/** Polls one board and sends its changes to all watchers. */
export class Hub {
  #readBoard
  #url
  #watchers = new Set()
  #requests = [] // new requests that wait for their board
  #boards = new Map() // number of rows -> version and event
  #polling = false
  #backoff = 0 // seconds without a poll after the last one, 0 if it succeeded
  #remaining = 0 // seconds of them that are left

  /**
   * @param {(request: Request, limits: string) => Promise<string>} readBoard reads the board at
   *   the URL of a request, once for each number of rows in the comma-separated list. Returns
   *   lines: `fresh`, `stale` or `failed`; the misconfigured variable, or nothing; the cause; then
   *   number of rows, version and JSON of each board
   */
  constructor(readBoard) {
    this.#readBoard = readBoard
  }

  /**
   * Opens a stream that begins with the current board, unless `last-event-id` is its version.
   *
   * @returns {Promise<Response>} the stream; or a 503 response with the misconfigured variable, or
   *   nothing, and the cause in a line each
   */
  async open(request) {
    this.#url = request.url
    const limit = new URL(request.url).searchParams.get('limit')
    const board = await this.#currentBoard(limit)
    if (board.failure !== undefined) return new Response(board.failure, { status: 503 })
    if (request.method === 'HEAD') return new Response()
    const watcher = new Watcher(limit, request.headers.get('last-event-id'))
    this.#watchers.add(watcher)
    watcher.start(board)
    return new Response(watcher.readable)
  }

  // Returns the polled board if the last poll succeeded. Otherwise waits for the next poll.
  #currentBoard(limit) {
    const board = this.#boards.get(limit)
    if (board && this.#backoff === 0) return board
    const polled = new Promise((resolve) => this.#requests.push({ limit, resolve }))
    if (!this.#polling) this.#run()
    return polled
  }

  async #run() {
    this.#polling = true
    while (this.#requests.length || this.#watchers.size) {
      const started = Date.now()
      if (this.#requests.length || this.#remaining-- <= 0) await this.#poll()
      const now = Date.now()
      for (const watcher of this.#watchers) {
        watcher.maintain(now)
        if (watcher.closed) this.#watchers.delete(watcher)
      }
      await new Promise((resolve) => setTimeout(resolve, Math.max(started + SECOND - now, 0)))
    }
    this.#polling = false
    this.#boards.clear()
    this.#remaining = this.#backoff = 0
  }

  async #poll() {
    const limits = new Set([...this.#requests, ...this.#watchers].map(({ limit }) => limit))
    let exhausted = false
    const lines = await this.#readBoard(new Request(this.#url), [...limits].join()).catch((error) => {
      exhausted = true
      return `failed\n\n${error?.message}`
    })
    const [status, variable = '', cause = '', ...rows] = lines.split('\n')
    this.#boards.clear()
    for (let index = 0; index + 2 < rows.length; index += 3) {
      const [limit, version, json] = rows.slice(index, index + 3)
      const text = `event: board\nid: ${version}\ndata: ${json}\n\n`
      this.#boards.set(limit, { version, text })
    }
    this.#backoff = status === 'fresh' ? 0 : Math.min(this.#backoff * 2 + 1, MAX_BACKOFF_SECONDS)
    this.#remaining = this.#backoff
    // This includes requests that arrived during the poll. A request for another number of rows
    // waits for the next poll.
    const failure = status === 'failed' ? { failure: `${variable}\n${cause}` } : undefined
    for (const request of this.#requests.splice(0)) {
      const board = this.#boards.get(request.limit) ?? failure
      if (board) request.resolve(board)
      else this.#requests.push(request)
    }
    // The invocation has no subrequests left. Clients reconnect, which starts a new one.
    exhausted ||= cause.includes('subrequests')
    for (const watcher of this.#watchers) {
      if (exhausted) watcher.end()
      else watcher.update(this.#boards.get(watcher.limit))
    }
  }
}

// Open streams that `response.js` has not attached to their response yet; null for HEAD.
const streams = new Map()
let latest = 0

/**
 * Opens a stream of the object with a name.
 *
 * @returns {Promise<{ stream?: number, failure?: string }>} the number of the stream, or why the
 *   object cannot read its board
 */
export async function watch(env, name, method, url, known) {
  const object = env.LIVE.get(env.LIVE.idFromName(name))
  const response = await object.fetch(url, { method, headers: { 'last-event-id': known } })
  if (!response.ok) return { failure: await response.text() }
  latest += 1
  streams.set(latest, response.body)
  return { stream: latest }
}

/** Returns a stream opened by `watch`, once. */
export function streamOf(number) {
  const stream = streams.get(number)
  streams.delete(number)
  return stream
}
