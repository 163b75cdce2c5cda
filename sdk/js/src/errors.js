// Errors of the client. None contains a service key, a token or a header of a request.

/** @import { Problem } from './types.js' */

/** The service refused a request: any status but 2xx and 304. */
export class ApiError extends Error {
  name = 'ApiError'

  /**
   * @param {string} operation
   * @param {Problem} problem
   * @param {{ requestId?: string, retryAfter?: number }} [details]
   */
  constructor(operation, problem, { requestId, retryAfter } = {}) {
    super(`${operation}: ${problem.status} ${problem.title}${problem.detail ? `: ${detailOf(problem)}` : ''}`)
    /** The operation, such as `getBoard`. */
    this.operation = operation
    /** The HTTP status code. */
    this.status = problem.status
    /** The problem document (RFC 9457), with `errors` for invalid input. */
    this.problem = problem
    /** `X-Request-Id` of the response, which the log lines of the service have too. */
    this.requestId = requestId
    /** `Retry-After` of the response in milliseconds, if it has one. */
    this.retryAfter = retryAfter
  }
}

/** The service gave no complete response: the connection failed or the timeout passed. `cause` has the reason. */
export class ConnectionError extends Error {
  name = 'ConnectionError'

  /**
   * @param {string} operation
   * @param {unknown} cause
   */
  constructor(operation, cause) {
    super(`${operation}: no response: ${reason(cause)}`, { cause })
    /** The operation, such as `getBoard`. */
    this.operation = operation
  }
}

/** The outbox has reached its limit. The activity is not accepted: report the failure, or track it again later. */
export class OutboxFullError extends Error {
  name = 'OutboxFullError'

  /** @param {number} limit */
  constructor(limit) {
    super(`The outbox is full: ${limit} activities are waiting to be sent.`)
  }
}

/** The client or the outbox was closed before the call. */
export class ClosedError extends Error {
  name = 'ClosedError'

  /** @param {string} what */
  constructor(what) {
    super(`${what} is closed.`)
  }
}

/**
 * Returns what is wrong, field by field if there are several.
 * @param {Problem} problem
 */
export function detailOf({ title, detail = title, errors = [] }) {
  if (errors.length < 2) return detail
  return errors.map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`).join('; ')
}

// `fetch` of Node.js says only "fetch failed"; its cause says why.
/** @param {unknown} error */
function reason(error) {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error && cause.message ? `${error.message}: ${cause.message}` : error.message
}
