// When to send a request again: back-off, `Retry-After`, and which errors are temporary.

/** @import { RetryOptions } from './types.js' */

import { ApiError, ConnectionError } from './errors.js'

const LONGEST_TIMER = 2 ** 31 - 1 // ms; a longer one fires at once

/** @type {Required<RetryOptions>} */
export const RETRY_DEFAULTS = {
  attempts: 4,
  baseDelay: 250,
  maxDelay: 30_000,
  maxRetryAfter: 60_000,
  random: Math.random,
}

/**
 * Returns the milliseconds before the next attempt: exponential with full jitter. `Retry-After` is a lower bound; the
 * jitter comes on top, so that clients that were given the same instant do not return at the same instant.
 * @param {number} attempt number of failed attempts before this one, from 0
 * @param {number | undefined} retryAfter ms
 * @param {Required<RetryOptions>} options
 */
export function retryDelay(attempt, retryAfter, { baseDelay, maxDelay, random }) {
  return (retryAfter ?? 0) + random() * Math.min(maxDelay, baseDelay * 2 ** attempt)
}

/**
 * Returns `Retry-After` in milliseconds, or `undefined` without whole seconds or a date. A date is compared with the
 * `Date` of the response, if it has one, so that the clock of this machine does not matter.
 * @param {Headers} headers
 */
export function parseRetryAfter(headers) {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (/^\d+$/.test(value)) return Number(value) * 1000
  // `Date.parse` reads a number as a year, so a date begins with its weekday.
  const date = /^[a-z]{3}/i.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(date)) return undefined
  return Math.max(0, date - (Date.parse(headers.get('date') ?? '') || Date.now()))
}

/**
 * Returns whether a later attempt can have another result.
 * @param {number | undefined} status
 */
export const isTemporaryStatus = (status) => status !== undefined && (status === 408 || status === 429 || status >= 500)

/** @param {unknown} error */
export const isTemporary = (error) =>
  error instanceof ConnectionError || (error instanceof ApiError && isTemporaryStatus(error.status))

/**
 * Waits. Rejects with the reason of the signal once that is aborted.
 * @param {number} ms
 * @param {AbortSignal} [signal]
 * @returns {Promise<void>}
 */
export function sleep(ms, signal) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      },
      Math.min(ms, LONGEST_TIMER),
    )
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/**
 * Runs a function with a signal that is aborted after `ms`, and with `signal`.
 * @template T
 * @param {number} ms
 * @param {AbortSignal | undefined} signal
 * @param {(signal: AbortSignal) => Promise<T>} run
 */
export async function withTimeout(ms, signal, run) {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  const expire = () => controller.abort(new DOMException(`No response within ${ms} ms.`, 'TimeoutError'))
  const timer = setTimeout(expire, Math.min(ms, LONGEST_TIMER))
  signal?.addEventListener('abort', abort, { once: true })
  try {
    return await run(controller.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
