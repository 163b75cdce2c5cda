// Requests to this deployment with the moderator's service key.

/** @import { Health, Problem } from './types.js' */

/** A response that is not 2xx. Without a response `status` is 0. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {Problem} problem
   */
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? '')
    this.status = status
    this.problem = problem
  }
}

export class Api {
  #key

  /** @param {string} key */
  constructor(key) {
    this.#key = key
    /** Called when the service no longer accepts the key. */
    this.onRejected = () => {}
  }

  /**
   * Returns the body of a response, `null` if it has none. Throws an `ApiError`, or an `AbortError`.
   * @param {string} method
   * @param {string} path
   * @param {{ body?: object, signal?: AbortSignal, accept?: number[], isText?: boolean }} [options] `accept`: further
   *   statuses with a body; `isText`: the body is not JSON
   * @returns {Promise<any>}
   */
  async request(method, path, { body, signal, accept = [], isText = false } = {}) {
    /** @type {Record<string, string>} */
    const headers = { authorization: `Bearer ${this.#key}` }
    if (body) headers['content-type'] = 'application/json'
    /** @type {Response} */
    let response
    try {
      response = await fetch(path, { method, headers, body: body && JSON.stringify(body), signal, cache: 'no-store' })
    } catch (error) {
      if (signal?.aborted) throw error
      throw new ApiError(0, {})
    }
    const text = await response.text()
    if (response.ok && isText) return text
    const value = parsed(text)
    if (response.ok || accept.includes(response.status)) return value
    if (response.status === 401) this.onRejected()
    throw new ApiError(response.status, value ?? { title: `${response.status} ${response.statusText}` })
  }

  /**
   * @param {string} path
   * @param {AbortSignal} [signal]
   */
  get(path, signal) {
    return this.request('GET', path, { signal })
  }

  /**
   * Returns the health of the deployment, which is 503 while it is not well.
   * @param {AbortSignal} [signal]
   * @returns {Promise<Health>}
   */
  health(signal) {
    return this.request('GET', '/healthz', { signal, accept: [503] })
  }
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/**
 * Builds a path. Each value is one segment.
 * @param {TemplateStringsArray} strings
 * @param {...string} values
 */
export const path = (strings, ...values) => String.raw({ raw: strings }, ...values.map(encodeURIComponent))
