// Event streams: boards as they change, with reconnection.

/** @import { CallOptions, Operation } from './types.js' */
/** @import { Transport } from './http.js' */

import { ConnectionError } from './errors.js'
import { isTemporary, retryDelay, sleep } from './retry.js'

const LONGEST_PAUSE = 60_000 // ms; the service sends a comment after 25 seconds without an event

/**
 * Yields the board of an event stream at once and after each change. Connects again after the stream ends or fails;
 * the service then sends the board only if it changed. Throws if the service refuses the stream, or if the attempts are used up before
 * the first board.
 * @param {Transport} transport
 * @param {Operation} operation
 * @param {Record<string, unknown>} args
 * @param {CallOptions} [options]
 * @returns {AsyncGenerator<unknown, void, void>}
 */
export async function* watch(transport, operation, args, options = {}) {
  const { signal, attempts = transport.retry.attempts } = options
  /** @type {string | undefined} */
  let lastId
  for (let failures = 0; ; failures++) {
    signal?.throwIfAborted()
    const controller = new AbortController()
    const abort = () => controller.abort(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    /** @type {number | undefined} */
    let retryAfter
    try {
      const headers = lastId === undefined ? options.headers : { ...options.headers, 'last-event-id': lastId }
      for await (const { id, data } of events(transport, operation, args, { ...options, headers }, controller)) {
        failures = 0
        lastId = id
        yield JSON.parse(data)
      }
    } catch (error) {
      signal?.throwIfAborted()
      const isFirst = lastId === undefined
      if (!isTemporary(error) || (isFirst && failures + 1 >= attempts)) throw error
      retryAfter = /** @type {{ retryAfter?: number }} */ (error).retryAfter
    } finally {
      // Also reached when the caller leaves the loop.
      signal?.removeEventListener('abort', abort)
      controller.abort()
    }
    await sleep(retryDelay(failures, retryAfter, transport.retry), signal)
  }
}

/**
 * Yields the events of one connection.
 * @param {Transport} transport
 * @param {Operation} operation
 * @param {Record<string, unknown>} args
 * @param {CallOptions} options
 * @param {AbortController} controller
 */
async function* events(transport, operation, args, options, controller) {
  /** @template T @param {Promise<T>} promise */
  const withinPause = async (promise) => {
    const expire = () =>
      controller.abort(new DOMException('The event stream sent nothing for a minute.', 'TimeoutError'))
    const timer = setTimeout(expire, LONGEST_PAUSE)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
    }
  }
  const response = await withinPause(transport.open(operation, args, options, controller.signal))
  if (!response.body) return
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await withinPause(reader.read()).catch((error) => {
      throw new ConnectionError(operation, error)
    })
    if (done) return
    const blocks = (text + decoder.decode(value, { stream: true })).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = parseEvent(block)
      if (event) yield event
    }
  }
}

/**
 * Returns the fields of an event, or `undefined` for comments and settings.
 * @param {string} block
 */
function parseEvent(block) {
  /** @param {string} name */
  const field = (name) =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2)
  const data = field('data')
  return data === undefined ? undefined : { id: field('id'), data }
}
