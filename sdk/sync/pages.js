// Answers of the source, in KV for the next run of the schedule. An invocation has 1,000 operations of KV, so a
// value has the answers of a minute, or some MiB of them.

/** @import { Env } from './types.js' */
/** @import { Request } from './platform.js' */

/** @typedef {{ status: number, headers: [string, string][], body: string }} Answer */

/** Operations of KV in an invocation, on each plan of Workers. */
const OPERATIONS = 1000
/** Operations that remain for the last answers and the state of the run. */
const RESERVED = 3
/** Characters of a value, of up to three bytes in UTF-8: KV takes 25 MiB, and a Worker has 128 MB of memory. */
const CHARACTERS = 4_000_000
/** Milliseconds after which answers are stored: a Worker that the platform ends loses no more. */
const INTERVAL = 60_000
/** The lifetime of stored answers in seconds: a longer run reads them again. */
const KEPT = 86_400

/** The answers of the source in a run, in the order of their requests. */
export class Pages {
  #kv
  #started
  /** Operations of KV that are left to this invocation. @type {number} */
  #operations
  /** Stored answers that are not read yet, by request. @type {Map<string, Answer[]>} */
  #read = new Map()
  /** The number of the next value. */
  #next = 0
  #isRead = false
  /** Answers to store, as JSON. @type {string[]} */
  #answers = []
  #characters = 0
  #stored = Date.now()

  /**
   * @param {Env['PAGES']} kv
   * @param {number} started
   * @param {number} operations Operations that the invocation has had.
   */
  constructor(kv, started, operations = 0) {
    this.#kv = kv
    this.#started = started
    this.#operations = OPERATIONS - RESERVED - operations
  }

  /** Returns whether another answer can be stored. */
  get hasRoom() {
    return this.#operations > 0
  }

  /**
   * Returns the answer to a request of a former invocation, if it is stored. Each is returned once, so only the answers of a
   * few values are in memory.
   * @param {string} key
   */
  async take(key) {
    while (!this.#read.has(key) && !this.#isRead) await this.#readNext()
    const answers = this.#read.get(key)
    const answer = answers?.shift()
    if (answers?.length === 0) this.#read.delete(key)
    return answer
  }

  async #readNext() {
    if (!this.hasRoom) throw new Error(`what was read of the source needs more than ${OPERATIONS} operations of KV: use the command line`)
    this.#operations -= 1
    const value = await this.#kv.get(`${this.#started}/${this.#next}`, 'json')
    if (!value) {
      this.#isRead = true
      return
    }
    this.#next += 1
    for (const [key, answer] of /** @type {[string, Answer][]} */ (value)) {
      this.#read.set(key, [...(this.#read.get(key) ?? []), answer])
    }
  }

  /**
   * Adds an answer, and stores those before it when they fill a value.
   * @param {string} key
   * @param {Answer} answer
   */
  async add(key, answer) {
    const text = JSON.stringify([key, answer])
    const isFull = this.#characters + text.length > CHARACTERS || Date.now() - this.#stored > INTERVAL
    if (isFull) await this.store()
    this.#answers.push(text)
    this.#characters += text.length
  }

  /** Stores the answers that are not stored yet. */
  async store() {
    this.#stored = Date.now()
    if (this.#answers.length === 0) return
    const value = `[${this.#answers.join()}]`
    this.#answers = []
    this.#characters = 0
    this.#operations -= 1
    await this.#kv.put(`${this.#started}/${this.#next}`, value, { expirationTtl: KEPT })
    this.#next += 1
  }
}

/**
 * Returns the key of a request. It names no secret: the headers of a request are not part of it.
 * @param {Request} request
 */
export async function keyOf({ method, url, body }) {
  const text = new TextEncoder().encode(JSON.stringify([method, url, body]))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', text))
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
