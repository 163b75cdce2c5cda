// The batch sender: moves activities from the outbox to the service, oldest first, one request at a time.
//
// An activity is accepted once the outbox has stored it, and removed once the service has answered it. If the process or
// the connection ends between the service's commit and the removal, the activity is sent again. That counts nothing
// twice, because each one has its instant (`at`) from the beginning: a repeated activity is `duplicate`, a repeated
// visit belongs to its own day also after midnight, and a like that is sent again after its undo is `stale`.

/** @import { Activity, ActivityResult, Outbox, OutboxEntry, Outcome, Problem, SenderOptions, SentActivity } from './types.js' */
/** @import { Transport } from './http.js' */

import { jsonActivity, MAX_BYTES } from './activity.js'
import { ApiError, ClosedError, detailOf } from './errors.js'
import { MemoryOutbox } from './outbox.js'
import { isTemporaryStatus, retryDelay, sleep } from './retry.js'

const MAX_ITEMS = 500 // in a request, the limit of the service
const BATCH_DELAY = 500 // ms
const LONGEST_PAUSE = 3_600_000 // ms; a longer `Retry-After` is a mistake
const LARGEST_STEP = 30_000 // ms that the clock may be set back by; the service accepts instants of the next 60 s

export class Sender {
  #transport
  #outbox
  #size
  #delay
  #onResult
  #onRefused
  #onError

  /** @type {Set<Promise<void>>} Appends that the outbox has not answered yet. */
  #appends = new Set()
  #lastAt = 0
  /** Activities stored since the outbox was last read. */
  #unread = 0
  /** At most so many activities in the next request: fewer after the service refused a whole request. */
  #limit
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  /** @type {Promise<void> | undefined} */
  #running
  #isWaiting = false
  /** @type {Promise<boolean> | undefined} */
  #closed
  #stop = new AbortController()

  /**
   * @param {Transport} transport
   * @param {SenderOptions} options
   */
  constructor(transport, options) {
    const { outbox = new MemoryOutbox(), batchSize = MAX_ITEMS, batchDelay = BATCH_DELAY } = options
    if (!Number.isInteger(batchSize) || batchSize < 1 || batchSize > MAX_ITEMS) {
      throw new RangeError(`\`batchSize\` must be an integer from 1 to ${MAX_ITEMS}.`)
    }
    if (!(batchDelay >= 0)) throw new RangeError('`batchDelay` must be a number of milliseconds.')
    this.#transport = transport
    this.#outbox = /** @type {Outbox} */ (outbox)
    this.#size = this.#limit = batchSize
    this.#delay = batchDelay
    this.#onResult = options.onResult ?? (() => {})
    this.#onRefused = options.onRefused ?? warnOfRefusal
    this.#onError = options.onError ?? warnOfError
  }

  /**
   * Stores an activity in the outbox. Rejects if JSON cannot represent it, or if it is larger than a request: it would hold
   * up those behind it.
   * @param {Activity} activity
   * @param {{ signal?: AbortSignal }} [options]
   */
  async track(activity, { signal } = {}) {
    signal?.throwIfAborted()
    if (this.#closed) throw new ClosedError('The client')
    const append = this.#outbox.append(jsonActivity(activity, () => this.#now()))
    this.#appends.add(append)
    try {
      await append
    } finally {
      this.#appends.delete(append)
    }
    this.#unread++
    this.#wake()
  }

  /** Sends what an earlier process left in the outbox. */
  start() {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#running ??= this.#drain().finally(() => {
      this.#running = undefined
      // Stored after the outbox was last read.
      if (this.#unread && !this.#stop.signal.aborted) this.#wake()
    })
    return this.#running
  }

  /**
   * Sends at once, and resolves when nothing is waiting.
   * @param {{ signal?: AbortSignal }} [options]
   */
  async flush({ signal } = {}) {
    signal?.throwIfAborted()
    do await unlessAborted(this.start(), signal)
    while (this.#unread && !this.#stop.signal.aborted)
  }

  /**
   * Accepts no more activities, sends the rest and closes the outbox.
   * @param {{ signal?: AbortSignal }} [options]
   */
  close({ signal } = {}) {
    const stop = () => this.#stop.abort()
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    this.#closed ??= this.#close()
    return this.#closed.finally(() => signal?.removeEventListener('abort', stop))
  }

  async #close() {
    // Activities in a durable outbox are safe, so closing does not wait for a service that has just failed.
    if (this.#outbox.durable && this.#isWaiting) this.#stop.abort()
    await Promise.allSettled(this.#appends)
    clearTimeout(this.#timer)
    while (!this.#stop.signal.aborted) {
      await this.start()
      if (!this.#unread) break
    }
    await this.#running
    const [rest] = await this.#outbox.peek(1)
    await this.#outbox.close()
    return rest === undefined
  }

  // The instant of acceptance. It does not go back with the clock: an undo that appears older than the activity before
  // it would be `stale`.
  #now() {
    const now = Date.now()
    this.#lastAt = this.#lastAt - now > LARGEST_STEP ? now : Math.max(now, this.#lastAt)
    return new Date(this.#lastAt).toISOString()
  }

  #wake() {
    if (this.#running) return
    if (this.#unread >= this.#size) this.start()
    else this.#timer ??= setTimeout(() => this.start(), this.#delay)
  }

  async #drain() {
    const { signal } = this.#stop
    let failures = 0
    while (!signal.aborted) {
      /** @type {{ isProgress: boolean, retryAfter?: number } | undefined} */
      let failure
      try {
        this.#unread = 0
        const entries = await this.#outbox.peek(this.#limit)
        if (!entries.length) return
        failure = await this.#send(withinBytes(entries))
      } catch (error) {
        if (signal.aborted) return
        this.#onError(/** @type {Error} */ (error))
        failure = { isProgress: false, retryAfter: error instanceof ApiError ? error.retryAfter : undefined }
      }
      if (!failure) {
        failures = 0
        continue
      }
      if (failure.isProgress) failures = 0
      if (this.#closed && this.#outbox.durable) {
        this.#stop.abort()
        return
      }
      await this.#wait(retryDelay(failures++, Math.min(failure.retryAfter ?? 0, LONGEST_PAUSE), this.#transport.retry))
    }
  }

  /** @param {number} ms */
  async #wait(ms) {
    this.#isWaiting = true
    await sleep(ms, this.#stop.signal).catch(() => {})
    this.#isWaiting = false
  }

  /**
   * Sends one batch. Returns why the rest of it must wait, if it must.
   * @param {OutboxEntry[]} entries
   */
  async #send(entries) {
    const body = entries.map(({ activity }) => activity)
    /** @type {ActivityResult[]} */
    let results
    try {
      const response = await this.#transport.request(
        'countActivity',
        { body },
        { attempts: 1, signal: this.#stop.signal },
      )
      results = /** @type {{ results: ActivityResult[] }} */ (response.body).results
    } catch (error) {
      if (!(error instanceof ApiError) || !isAboutContent(error.status)) throw error
      // The service refuses the request as a whole. Halves of it lead to the activity.
      if (entries.length > 1) {
        this.#limit = Math.ceil(entries.length / 2)
        return
      }
      results = [{ error: error.problem }]
    }
    const settled = entries.filter((_, index) => results[index] && !isTemporaryStatus(results[index].error?.status))
    for (const entry of settled) {
      await this.#report(entry.activity, /** @type {ActivityResult} */ (results[entries.indexOf(entry)]))
    }
    await this.#outbox.remove(settled.map(({ id }) => id))
    this.#limit = Math.min(this.#size, this.#limit * 2)
    return settled.length < entries.length ? { isProgress: settled.length > 0 } : undefined
  }

  // Before the removal, so that a refusal is reported also if the process is killed in between.
  /**
   * @param {SentActivity} activity
   * @param {ActivityResult} result
   */
  async #report(activity, result) {
    try {
      if (result.error) await this.#onRefused(activity, result.error)
      else await this.#onResult(activity, /** @type {Outcome} */ (result))
    } catch (error) {
      this.#onError(/** @type {Error} */ (error))
    }
  }
}

/**
 * Returns whether the status of a whole request is due to its activities. After others, such as 401, activities wait until
 * the configuration is corrected.
 * @param {number} status
 */
const isAboutContent = (status) => status === 400 || status === 413 || status === 422

/**
 * Returns the first entries whose JSON fits in a request, at least one.
 * @param {OutboxEntry[]} entries
 */
function withinBytes(entries) {
  const encoder = new TextEncoder()
  let bytes = 0
  const end = entries.findIndex(({ activity }, index) => {
    bytes += encoder.encode(JSON.stringify(activity)).length + 1
    return bytes > MAX_BYTES && index > 0
  })
  return end < 0 ? entries : entries.slice(0, end)
}

/**
 * Settles as the promise does, or rejects with the reason of the signal once that is aborted.
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<T>}
 */
function unlessAborted(promise, signal) {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/**
 * @param {SentActivity} activity
 * @param {Problem} problem
 */
function warnOfRefusal(activity, problem) {
  console.warn(`activity-rank refused ${JSON.stringify(activity)}: ${detailOf(problem)}`)
}

/** @param {Error} error */
function warnOfError(error) {
  console.warn(`activity-rank: ${error.message.replace(/\.?$/, '.')} Activities are waiting and will be sent again.`)
}
