// The browser's client: sends what a member does, once they can be reached, and tells what came of it.
//
//   const rank = new Client({ user: '42', token: async () => (await fetch('/my-token')).text() })
//   rank.visits()
//   const { outcome, points } = await rank.track('like', 'post-7')

import { Queue } from './client/queue.js'
import { onVisit } from './client/visits.js'

const DEADLINE = 20e3 // ms for an answer
const ITEMS = 500 // of one request, as many as the service takes
const CHARACTERS = 50_000 // of one request: at most 150 KB of the 256 that the service takes
const LEAVING = 10_000 // characters that a browser sends for a page that is left: 64 KB of all its requests
const LONGEST = 300e3 // ms between tries

export class Client extends EventTarget {
  /** All is sent by this; another may take its place. */
  static fetch = (url, options) => fetch(url, options)

  #user
  #token
  #lastToken
  #url
  #queue
  #news // to the other tabs
  #waiting = new Map() // key → promise of the result, and its resolve
  #sending = false
  #flying = new Set() // keys that are being sent
  #failed = 0
  #notBefore = 0 // ms; the queue has that of the service, this is our own
  #timer
  #closed = false
  #isLeft = false
  #ends = []

  constructor({ user, token, src = new URL('.', import.meta.url) }) {
    super()
    this.#user = String(user)
    this.#token = token
    this.#lastToken = typeof token === 'string' ? token : undefined
    const base = new URL(String(src).replace(/\/*$/, '/'), document.baseURI)
    this.#url = new URL('v1/activity', base).href
    const name = `activity-rank ${base.href} ${this.#user}`
    this.#queue = new Queue(name)
    this.#news = new BroadcastChannel(name)
    this.#news.onmessage = ({ data }) => this.#tell(...data)
    this.#on(globalThis, 'online', () => {
      this.#failed = this.#notBefore = 0
      this.#send()
    })
    this.#on(globalThis, 'pagehide', () => {
      this.#isLeft = true
      this.#leave()
    })
    this.#on(globalThis, 'pageshow', () => {
      this.#isLeft = false
      this.#send()
    })
    this.#send()
  }

  /** The member did this to that. */
  track(action, target) {
    return this.#add({ user: this.#user, action, target })
  }

  /** The member takes it back. */
  undo(action, target) {
    return this.#add({ user: this.#user, action, target, undo: true })
  }

  /** Counts this page as a visit, and each one that the history leads to. */
  visits() {
    this.#ends.push(onVisit((path) => this.track('visit', path)))
    return this
  }

  /** Sends no more; what waits is sent by the next client of this member. */
  close() {
    this.#closed = true
    clearTimeout(this.#timer)
    for (const end of this.#ends) end()
    this.#news.close()
  }

  #on(target, name, listener) {
    target.addEventListener(name, listener)
    this.#ends.push(() => target.removeEventListener(name, listener))
  }

  #add(activity) {
    const { key, dropped } = this.#queue.add(activity)
    for (const item of dropped) this.#settle(item, { error: DROPPED })
    if (!this.#waiting.has(key)) this.#waiting.set(key, unsettled())
    if (this.#isLeft) this.#leave()
    else this.#send()
    return this.#waiting.get(key).promise
  }

  async #send() {
    if (this.#sending || this.#closed) return
    this.#sending = true
    clearTimeout(this.#timer)
    // What is tracked in one go is one array.
    await null
    let drained
    const drain = () => (drained ??= this.#drain())
    try {
      // One tab at a time, or a like could overtake the undo that another tab sends.
      await navigator.locks.request(this.#queue.name, drain)
    } catch {
      // There are no locks, as in a sandboxed frame: it sends by itself.
    }
    await drain().finally(() => (this.#sending = false))
    if (this.#closed || !this.#queue.items().length) return
    this.#timer = setTimeout(() => this.#send(), this.#pause)
  }

  // ms until it may be tried.
  get #pause() {
    return Math.max(0, this.#notBefore - Date.now(), this.#queue.pause)
  }

  async #drain() {
    while (!this.#closed && !this.#pause) {
      const batch = this.#batch(CHARACTERS)
      if (!batch.length) return
      this.#flying = new Set(batch.map(({ key }) => key))
      await this.#try(batch)
      this.#flying.clear()
    }
  }

  /** The first that wait, together so long; one at least. */
  #batch(most) {
    let length = 0
    const items = this.#queue.items().filter(({ key }) => !this.#flying.has(key))
    const fits = ({ text }, at) => (length += text.length + 1) <= most || at === 0
    const end = items.findIndex((item, at) => at === ITEMS || !fits(item, at))
    return end < 0 ? items : items.slice(0, end)
  }

  async #try(batch) {
    let answer
    let body
    try {
      const token = typeof this.#token === 'function' ? await this.#token() : this.#token
      this.#lastToken = token
      answer = await this.#post(batch, token, AbortSignal.timeout(DEADLINE))
      body = await answer.json()
    } catch (error) {
      return this.#fail(String(error))
    }
    const { status } = answer
    if (isPassing(status)) return this.#fail(body.detail ?? `status ${status}`, answer.headers.get('retry-after'))
    const results = answer.ok ? (body.results ?? [body]) : batch.map(() => ({ error: body }))
    const again = batch.filter((item, at) => {
      const result = results[at]
      const isAgain = !result || isPassing(result.error?.status)
      if (!isAgain) this.#settle(item, result)
      return isAgain
    })
    if (again.length) this.#fail('Some could not be counted now.')
    else this.#failed = 0
  }

  #post(batch, token, signal) {
    const text = batch.map(({ text }) => text).join()
    return this.constructor.fetch(this.#url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      // One by itself is answered with standings.
      body: batch.length === 1 ? text : `[${text}]`,
      keepalive: text.length <= LEAVING,
      signal,
    })
  }

  // What the page has not begun to send: whether it arrives nobody will know here, so it stays in the
  // queue, and the next page sends it once more. It counts once.
  #leave() {
    const batch = this.#batch(LEAVING)
    if (!batch.length || this.#pause || this.#lastToken === undefined) return
    this.#post(batch, this.#lastToken).catch(() => {})
  }

  #fail(message, retryAfter) {
    this.#failed++
    const pause = Math.min(LONGEST, 1e3 * 2 ** this.#failed)
    this.#notBefore = Date.now() + pause * (0.5 + Math.random() / 2)
    this.#queue.pause = Number(retryAfter) * 1e3 || 0
    this.dispatchEvent(new ErrorEvent('error', { message }))
  }

  #settle({ key, activity }, result) {
    this.#queue.remove(key)
    this.#tell(key, activity, result)
    if (!this.#closed) this.#news.postMessage([key, activity, result])
  }

  #tell(key, activity, result) {
    this.#waiting.get(key)?.resolve(result)
    this.#waiting.delete(key)
    this.dispatchEvent(new CustomEvent('result', { detail: { activity, result } }))
  }
}

// Whether the same may be taken another time: with a newer token, by a service that is back.
const isPassing = (status) => status === 401 || status === 408 || status === 429 || status >= 500

const DROPPED = {
  type: 'about:blank',
  title: 'Too much waits to be sent',
  status: 0,
  detail: 'The oldest activity was dropped.',
}

function unsettled() {
  let resolve
  const promise = new Promise((settle) => (resolve = settle))
  return { promise, resolve }
}
