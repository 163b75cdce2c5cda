// Live boards as server-sent events. A hub reads one board on behalf of all its watchers: at most
// once a second, and only while it has watchers. Each watcher has at most one write in progress and
// one pending version; a slow watcher skips the versions in between.

const SECOND = 1000 // Every duration is in milliseconds unless its name says otherwise.
const CHECK_INTERVAL = 60 * SECOND
// A registration is removed when the last watcher leaves. The lifetime matters if the object ends without doing so.
const LIFETIME_SECONDS = 12 * 3600
const RENEWAL_INTERVAL = (LIFETIME_SECONDS / 2) * SECOND
const MAX_BACKOFF_SECONDS = 7 // between reads while the store does not respond
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

  constructor(form, version) {
    const { readable, writable } = new IdentityTransformStream()
    this.form = form
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

/**
 * Reads one board and sends its changes to all watchers.
 *
 * The Workers that change the board wake the hub, which then reads it, at most once a second. Once a minute it compares
 * the board with a short request, the check, for changes made elsewhere. Where the store refuses to register the board,
 * the hub reads it once a second.
 */
export class Hub {
  #readBoard
  #sendToStore
  #url
  #watchers = new Set()
  #requests = [] // new requests that wait for their board
  #boards = new Map() // form -> version and event
  #running = false
  /** @type {(value?: any) => void} */
  #resume = () => {} // ends the pause between two steps
  #lastRead = -Infinity
  #isChanged = false // woken since the last read began
  #backoff = 0 // seconds without a read after the last one, 0 if it succeeded
  #remaining = 0 // seconds of them that are left
  #periodEnd = Infinity
  // The requests to the store that the last read returned.
  #check = ''
  #register = ''
  #registered = '' // the `#register` of the last registration, empty if there is none
  #registering = -Infinity // when the board was last registered, or the store refused to
  /** @type {string | null} the response to the check before the last read, null while the board may still change */
  #baseline = null
  #lastCheck = -Infinity

  /**
   * @param {(request: Request, forms: string) => Promise<string>} readBoard reads the board at
   *   the URL of a request, once for each form in the comma-separated list: a number of rows, with
   *   `m` after it for movement. Returns lines: `fresh`, `stale` or `failed`; the misconfigured
   *   variable, `not-found`, or nothing; the cause; the bodies of the requests that check the board and register
   *   it; then form, version and JSON of each board
   * @param {(body: string) => Promise<string>} sendToStore
   */
  constructor(readBoard, sendToStore) {
    this.#readBoard = readBoard
    this.#sendToStore = sendToStore
  }

  /**
   * Opens a stream that begins with the current board, unless `last-event-id` is its version.
   *
   * @returns {Promise<Response>} the stream; or a 503 response with the misconfigured variable, or
   *   nothing, and the cause in a line each
   */
  async open(request) {
    this.#url = request.url
    const { searchParams } = new URL(request.url)
    const form = searchParams.get('limit') + (searchParams.get('movement') === 'true' ? 'm' : '')
    const board = await this.#currentBoard(form)
    if (board.failure !== undefined) return new Response(board.failure, { status: 503 })
    if (request.method === 'HEAD') return new Response()
    const watcher = new Watcher(form, request.headers.get('last-event-id'))
    this.#watchers.add(watcher)
    watcher.start(board)
    return new Response(watcher.readable)
  }

  /** Reads the board soon: it has changed. */
  wake() {
    this.#isChanged = true
    this.#hurry()
  }

  // Returns the board of the last read if it succeeded. Otherwise waits for the next one.
  #currentBoard(form) {
    const board = this.#boards.get(form)
    if (board && this.#backoff === 0 && Date.now() < this.#periodEnd) return board
    const read = new Promise((resolve) => this.#requests.push({ form, resolve }))
    if (this.#running) this.#hurry()
    else this.#run()
    return read
  }

  // Ends the pause, unless the last read was less than a second ago or the store does not respond.
  #hurry() {
    if (this.#backoff === 0 && Date.now() - this.#lastRead >= SECOND) this.#resume()
  }

  async #run() {
    this.#running = true
    while (this.#requests.length || this.#watchers.size) {
      const started = Date.now()
      await this.#update(started)
      const now = Date.now()
      for (const watcher of this.#watchers) {
        watcher.maintain(now)
        if (watcher.closed) this.#watchers.delete(watcher)
      }
      if (!this.#requests.length && !this.#watchers.size) await this.#removeRegistration()
      const { promise, resolve } = Promise.withResolvers()
      const timer = setTimeout(resolve, Math.max(started + SECOND - Date.now(), 0))
      this.#resume = resolve
      await promise
      clearTimeout(timer)
    }
    this.#running = false
    this.#boards.clear()
    this.#remaining = this.#backoff = 0
    this.#baseline = null
  }

  // Reads the board if it may have changed.
  async #update(now) {
    if (this.#requests.length || this.#isChanged || now >= this.#periodEnd || this.#backoff) {
      if (this.#requests.length || this.#remaining-- <= 0) await this.#read(null)
      return
    }
    if (now - this.#registering >= (this.#registered ? RENEWAL_INTERVAL : CHECK_INTERVAL)) await this.#addRegistration()
    if (!this.#registered) return this.#read(null)
    if (this.#baseline !== null && now - this.#lastCheck < CHECK_INTERVAL) return
    // The check precedes the read, so that a change between the two shows in the next check.
    const check = this.#check
    const response = await this.#sendToStore(check).catch(() => null)
    this.#lastCheck = now
    if (this.#baseline !== null && response === this.#baseline) return
    if (this.#baseline !== null) {
      // The change was made elsewhere: perhaps the registration is gone too.
      this.#registered = ''
      this.#registering = -Infinity
    }
    await this.#read({ check, response })
  }

  /** @param {{ check: string, response: string | null } | null} checked the check before the read */
  async #read(checked) {
    const forms = new Set([...this.#requests, ...this.#watchers].map(({ form }) => form))
    let exhausted = false
    const canSettle = checked !== null && !this.#isChanged
    this.#isChanged = false
    this.#lastRead = Date.now()
    const text = await this.#readBoard(new Request(this.#url), [...forms].join()).catch((error) => {
      exhausted = true
      return `failed\n\n${error?.message}`
    })
    const [status, variable = '', cause = '', check = '', register = '', ...rows] = text.split('\n')
    this.#boards.clear()
    for (let index = 0; index + 2 < rows.length; index += 3) {
      const [form, version, json] = rows.slice(index, index + 3)
      const text = `event: board\nid: ${version}\ndata: ${json}\n\n`
      this.#boards.set(form, { version, text })
    }
    this.#backoff = status === 'fresh' ? 0 : Math.min(this.#backoff * 2 + 1, MAX_BACKOFF_SECONDS)
    this.#remaining = this.#backoff
    // A second later the board is read again: the store may have served this read from a replica, and the rows of
    // the check may be others.
    this.#baseline = null
    if (status === 'fresh') {
      if (canSettle && checked.check === check && !this.#isChanged) this.#baseline = checked.response
      this.#periodEnd = Date.parse(JSON.parse(rows[2]).period?.end) || Infinity
      this.#check = check
      // The board of the next period needs a registration of its own.
      if (this.#register !== register) this.#registering = -Infinity
      this.#register = register
    }
    // This includes requests that arrived during the read. A request for another form waits for the
    // next one.
    const failure = status === 'failed' ? { failure: `${variable}\n${cause}` } : undefined
    for (const request of this.#requests.splice(0)) {
      const board = this.#boards.get(request.form) ?? failure
      if (board) request.resolve(board)
      else this.#requests.push(request)
    }
    // The invocation has no subrequests left. Clients reconnect, which starts a new one.
    exhausted ||= cause.includes('subrequests')
    for (const watcher of this.#watchers) {
      if (exhausted) watcher.end()
      else watcher.update(this.#boards.get(watcher.form))
    }
  }

  async #addRegistration() {
    if (this.#registered !== this.#register) await this.#removeRegistration()
    // Changes before the registration did not wake the hub.
    if (!this.#registered) this.#baseline = null
    let isRegistered = false
    try {
      const text = await this.#setLifetime(this.#register, LIFETIME_SECONDS)
      isRegistered = JSON.parse(text).every(({ result }) => result === 1)
    } catch {
      // The next attempt follows.
    }
    this.#registered = isRegistered ? this.#register : ''
    this.#registering = Date.now()
  }

  async #removeRegistration() {
    if (!this.#registered) return
    const request = this.#registered
    this.#registered = ''
    this.#registering = -Infinity
    await this.#setLifetime(request, 0).catch(() => {})
  }

  #setLifetime(register, seconds) {
    return this.#sendToStore(register.replaceAll('<lifetime>', seconds))
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
