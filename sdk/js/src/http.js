// Requests: one function for all operations of the API.

/** @import { CallOptions, ClientOptions, Operation, Problem, Response as Decoded, RetryOptions } from './types.js' */

import { integersAsText } from './activity.js'
import { ApiError, ConnectionError } from './errors.js'
import { OPERATIONS, WITH_BODY } from './operations.js'
import { isTemporary, parseRetryAfter, RETRY_DEFAULTS, retryDelay, sleep, withTimeout } from './retry.js'

const TIMEOUT = 20_000 // ms for one attempt

export class Transport {
  /** @type {Required<RetryOptions>} */
  retry
  #base
  #key
  #fetch
  #timeout

  /** @param {Pick<ClientOptions, 'url' | 'key' | 'fetch' | 'timeout' | 'retry'>} options */
  constructor({ url, key, fetch = globalThis.fetch, timeout = TIMEOUT, retry = {} }) {
    const text = String(url)
    if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
      throw new TypeError('`url` must be a URL that begins with https:// or http://.')
    }
    const { origin, pathname } = new URL(text)
    this.#base = origin + pathname.replace(/\/+$/, '')
    if (typeof key === 'string') checkCredentials(key)
    this.#key = key
    // Called without `this`: `fetch` of Workers refuses to be a method of another object.
    this.#fetch = (/** @type {string} */ url, /** @type {RequestInit} */ init) => fetch(url, init)
    this.#timeout = timeout
    this.retry = { ...RETRY_DEFAULTS, ...retry }
  }

  /**
   * Sends a request until it succeeds, fails for good, or the attempts are used up. Returns the decoded response.
   * @param {Operation} operation
   * @param {Record<string, unknown>} [args] parameters of path and query by name, and `body`
   * @param {CallOptions} [options]
   * @returns {Promise<Decoded<unknown>>}
   */
  async request(operation, args, options = {}) {
    const attempts = options.attempts ?? this.retry.attempts
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(operation, args, options)
      } catch (error) {
        options.signal?.throwIfAborted()
        const retryAfter = error instanceof ApiError ? error.retryAfter : undefined
        const isPatient = (retryAfter ?? 0) <= this.retry.maxRetryAfter
        if (!isTemporary(error) || attempt + 1 >= attempts || !isPatient) throw error
        await sleep(retryDelay(attempt, retryAfter, this.retry), options.signal)
      }
    }
  }

  /**
   * Sends a request once. Throws unless the status is 2xx or 304.
   * @param {Operation} operation
   * @param {Record<string, unknown>} args
   * @param {CallOptions} options
   * @param {AbortSignal} signal
   */
  async open(operation, args = {}, { token, headers: extra }, signal) {
    const { url, body } = resolve(this.#base, operation, args)
    const headers = new Headers(extra)
    const credentials = token ?? (typeof this.#key === 'function' ? await this.#key() : this.#key)
    if (credentials !== undefined) headers.set('authorization', `Bearer ${checkCredentials(credentials)}`)
    if (body !== undefined) headers.set('content-type', 'application/json')
    const [method] = OPERATIONS[operation]
    /** @type {Response} */
    let response
    try {
      // A redirect would turn a POST into a GET; the API has none.
      response = await this.#fetch(url, { method, headers, body, signal, redirect: 'manual' })
    } catch (error) {
      // Node.js rejects with an AbortError of its own, without the reason.
      throw new ConnectionError(operation, signal.aborted ? signal.reason : error)
    }
    if (response.ok || response.status === 304) return response
    throw new ApiError(operation, await problemOf(response), {
      requestId: response.headers.get('x-request-id') ?? undefined,
      retryAfter: parseRetryAfter(response.headers),
    })
  }

  /**
   * @param {Operation} operation
   * @param {Record<string, unknown> | undefined} args
   * @param {CallOptions} options
   */
  #attempt(operation, args, options) {
    return withTimeout(options.timeout ?? this.#timeout, options.signal, async (signal) => {
      const response = await this.open(operation, args, options, signal)
      const { status, headers } = response
      try {
        return { status, headers, body: await bodyOf(response) }
      } catch (error) {
        throw new ConnectionError(operation, signal.aborted ? signal.reason : error)
      }
    })
  }
}

/**
 * Returns the text of a parameter. Lists are separated by commas, and an item with a comma has it encoded.
 * @param {string} name
 * @param {unknown} value
 */
function textOf(name, value) {
  if (!Array.isArray(value)) return String(integersAsText(name, value))
  return value.map((item) => String(integersAsText(name, item)).replace(/[%,]/g, encodeURIComponent)).join()
}

/**
 * Returns the URL of an operation with its arguments, and the body as JSON.
 * @param {string} base
 * @param {Operation} operation
 * @param {Record<string, unknown>} args
 */
function resolve(base, operation, { body, ...args }) {
  if (body === undefined && WITH_BODY.includes(operation)) throw new TypeError(`${operation}: \`body\` is missing.`)
  const [, template] = OPERATIONS[operation]
  const path = template.replace(/\{(\w+)\}/g, (_, name) => {
    const value = String(integersAsText(name, args[name]) ?? '')
    delete args[name]
    // Such segments would name another route: a URL without them is the same as one that was normalized.
    if (['', '.', '..'].includes(value)) throw new TypeError(`${operation}: \`${name}\` must not be "${value}".`)
    return encodeURIComponent(value)
  })
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(args)) if (value !== undefined) query.set(name, textOf(name, value))
  const url = base + path + (query.size ? `?${query}` : '')
  return { url, body: body === undefined ? undefined : JSON.stringify(body, integersAsText) }
}

/**
 * Returns a key or token if a header can contain it. `Headers` would quote it in its error.
 * @param {string} text
 */
function checkCredentials(text) {
  if (typeof text === 'string' && /^[\x21-\x7e]+$/.test(text)) return text
  throw new TypeError('A service key or user token must be a string of visible ASCII characters, without white space.')
}

/** @param {Response} response */
async function bodyOf(response) {
  const text = await response.text()
  if (response.status === 204 || response.status === 304) return undefined
  return /^application\/([\w.-]+\+)?json\b/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text
}

/**
 * Returns the problem document of a response, or one made of its status if a proxy answered.
 * @param {Response} response
 * @returns {Promise<Problem>}
 */
async function problemOf(response) {
  const { status, statusText } = response
  /** @type {Problem} */
  const unknown = { type: 'about:blank', title: statusText || 'No problem document', status }
  try {
    const body = await bodyOf(response)
    return typeof body?.title === 'string' ? { ...body, status } : unknown
  } catch {
    return unknown
  }
}
