// Errors of the receiver: problem documents (RFC 9457), as the API of a deployment has them.

import { ApiError } from '@activity-rank/server'

const TITLES = /** @type {const} */ ({
  'invalid-request': [400, 'The request is invalid'],
  unauthenticated: [401, 'The signature is missing or invalid'],
  'method-not-allowed': [405, 'The method is not allowed'],
  'chat-refused': [410, 'The chat refused the change for good'],
  'too-large': [413, 'The request is too large'],
  'unsupported-media-type': [415, 'The media type is not supported'],
  misconfigured: [500, 'The receiver is misconfigured'],
  'chat-unavailable': [503, 'The chat did not accept the change'],
  'store-unavailable': [503, 'The activity cannot be counted now'],
})

/** An error that ends a delivery with a response. */
export class Problem extends Error {
  /**
   * @param {keyof typeof TITLES} slug
   * @param {string} detail
   * @param {Record<string, string>} [headers]
   */
  constructor(slug, detail, headers = {}) {
    super(detail)
    const [status, title] = TITLES[slug]
    this.document = { type: `/problems/${slug}`, title, status, detail }
    this.headers = headers
  }
}

/** A refusal that no repetition changes, such as that of a deleted role. Status 410 ends the attempts of a deployment. */
export class Refused extends Problem {
  /**
   * @param {string} detail
   * @param {string} [reason] as the chat names it
   */
  constructor(detail, reason) {
    super('chat-refused', detail)
    this.reason = reason
  }
}

/** The refusal of a chat whose rate limit is reached. */
export class RateLimited extends Problem {
  /**
   * @param {string} detail
   * @param {string} seconds until the chat accepts requests again
   */
  constructor(detail, seconds) {
    super('chat-unavailable', detail, { 'retry-after': seconds })
    this.milliseconds = Math.max(1, Number(seconds)) * 1000
  }
}

/**
 * Returns whether a status refuses a request for good.
 * @param {number} status
 */
export const isFinal = (status) => status >= 400 && status < 500 && status !== 408 && status !== 429

/**
 * Returns the error for a request that a chat does not accept now.
 * @param {Response} response
 * @param {string} detail
 */
export function refusal({ status, headers }, detail) {
  const value = headers.get('retry-after') ?? ''
  const seconds = /^\d+$/.test(value) ? value : '60'
  if (status === 429) return new RateLimited(detail, seconds)
  return new Problem('chat-unavailable', detail, { 'retry-after': seconds })
}

/**
 * Returns the response to an error. Logs an error that the operator has to know. Throws other errors than problems.
 * @param {unknown} error
 */
export function errorResponse(error) {
  if (error instanceof ApiError) return problemResponse(error.problem)
  if (!(error instanceof Problem)) throw error
  const { document, headers } = error
  if (document.status === 410 || document.status >= 500) console.error(document.detail)
  return problemResponse(document, headers)
}

/**
 * Returns a problem document as a response.
 * @param {{ status: number }} document
 * @param {Record<string, string>} [headers]
 */
export const problemResponse = (document, headers) =>
  new Response(JSON.stringify(document), {
    status: document.status,
    headers: { ...headers, 'content-type': 'application/problem+json' },
  })
