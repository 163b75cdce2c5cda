// Data points for Workers Analytics Engine: one for each request, batch of the queue and run of cron, where the dataset
// ANALYTICS is bound. docs/metrics.md lists the columns. No column contains a user, a target, an address, a token or a
// key: routes are patterns, and everything else is a number or one of a few words.

import { env } from './bridge.js'

/**
 * What is known about a request.
 *
 * @typedef {object} Facts
 * @property {number} began Unix ms
 * @property {string} route the pattern
 * @property {string} outcome of an activity, the slug of a problem, or `ok`
 * @property {string} source of the body
 * @property {number} requests to the store
 * @property {number} commands in them; a script is one
 * @property {number} milliseconds that they took, one after the other
 */

/** @returns {Facts} */
export const newFacts = () => ({
  began: Date.now(),
  route: 'unknown',
  outcome: 'ok',
  source: 'none',
  requests: 0,
  commands: 0,
  milliseconds: 0,
})

// A client may send any method.
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']

/**
 * Writes the data point of a request.
 *
 * @param {Env} env
 * @param {Request} request
 * @param {number} status
 * @param {Facts} facts
 */
export function writeRequest(env, { method, cf }, status, facts) {
  write(env.ANALYTICS, {
    route: facts.route,
    words: [
      METHODS.includes(method) ? method : 'other',
      `${Math.floor(status / 100)}xx`,
      facts.outcome,
      facts.source,
      String(cf?.colo ?? ''),
    ],
    numbers: [Date.now() - facts.began, facts.milliseconds, facts.requests, facts.commands, status],
  })
}

/**
 * Writes the data point of a job; called by the wasm.
 *
 * @param {string} job `queue` or `scheduled`
 * @param {string} trigger the schedule of cron
 * @param {string} outcome
 * @param {Float64Array} numbers milliseconds, requests, messages or entries, retried and dead messages, and
 *   milliseconds since the oldest was queued
 */
export function writeJob(job, trigger, outcome, [milliseconds, requests, ...others]) {
  const { ANALYTICS } = env()
  if (!ANALYTICS) return
  write(ANALYTICS, {
    route: job,
    words: [trigger, '', outcome, '', ''],
    numbers: [milliseconds, 0, requests, 0, 0, ...others],
  })
}

function write(dataset, { route, words, numbers }) {
  try {
    // The index decides what the platform samples: rare routes are kept beside frequent ones.
    dataset.writeDataPoint({ indexes: [route], blobs: words, doubles: [1, ...numbers] })
  } catch (error) {
    // More data points than an invocation may write. The request has its response all the same.
    const { message } = /** @type {Error} */ (error)
    console.debug(JSON.stringify({ level: 'debug', cause: `ANALYTICS: ${message}` }))
  }
}
