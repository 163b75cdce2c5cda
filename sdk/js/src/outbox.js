// The outbox in memory. The interface of outboxes is `Outbox` in types.d.ts.

/** @import { Outbox, SentActivity } from './types.js' */

import { OutboxFullError } from './errors.js'

const LIMIT = 100_000 // activities, about 20 MB

/**
 * An outbox that ends with the process. `Client.close()` sends what it contains.
 * @implements {Outbox}
 */
export class MemoryOutbox {
  durable = false
  /** @type {Map<number, SentActivity>} */
  #entries = new Map()
  #lastId = 0
  #limit

  /** @param {{ limit?: number }} [options] `limit`: activities that may wait, 100,000 by default */
  constructor({ limit = LIMIT } = {}) {
    this.#limit = limit
  }

  /**
   * Adds an activity. Rejects with an `OutboxFullError` at the limit.
   * @param {SentActivity} activity
   */
  async append(activity) {
    if (this.#entries.size >= this.#limit) throw new OutboxFullError(this.#limit)
    this.#entries.set(++this.#lastId, activity)
  }

  /**
   * Returns the oldest entries, which stay.
   * @param {number} limit
   */
  async peek(limit) {
    const entries = []
    for (const [id, activity] of this.#entries) {
      if (entries.length >= limit) break
      entries.push({ id, activity })
    }
    return entries
  }

  /**
   * Removes entries.
   * @param {number[]} ids
   */
  async remove(ids) {
    for (const id of ids) this.#entries.delete(id)
  }

  async close() {}
}
