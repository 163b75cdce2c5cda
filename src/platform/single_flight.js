// Concurrent requests of an isolate for the same URL share one response.
//
// The wasm responds to the first request for a URL, the leader. Requests that arrive before its response, the
// followers, get the same text; pages of all origins share it, see cors.js. Only plain values may pass between the
// contexts of requests, and a promise that another request resolves must come from `Promise.withResolvers`: see
// coalesce.js.

import { sharedPatterns } from 'wasm'
import { allowReader } from './rate_limit.js'

const MAX_AGE = 2000 // milliseconds after the start of a leader, from which another request leads
const MAX_WAIT = 4000 // milliseconds; then the context of the leader must be gone

/** @typedef {(text: string | null) => void} Follower */

/** @type {Map<string, { due: number, followers: Follower[] }>} oldest first */
const cacheable = new Map()
// Responses that no cache may store: they contain every write that this isolate has responded to.
/** @type {typeof cacheable} */
const current = new Map()

const isRead = ({ method }) => method === 'GET' || method === 'HEAD'

// The paths of the routes whose responses are shared: table.rs says which.
const pathsOf = (cached) =>
  sharedPatterns(cached).replaceAll('.', '\\.').replace(/{\w+}/g, '[^/?]+').replaceAll(' ', '|')
const PATH = new RegExp(`^[a-z]+://[^/]+(?:(${pathsOf(true)})|${pathsOf(false)})(?:\\?|$)`)

// Members and services may see hidden users.
function flightsOf({ headers, url }, env) {
  const match = PATH.exec(url)
  if (!match || headers.has('authorization')) return null
  return match[1] && Number(env.BOARD_MAX_AGE) !== 0 ? cacheable : current
}

/**
 * Joins a leader. Returns null if there is none; the promise returns null if the wasm must respond.
 *
 * @param {Request} request
 * @param {Env} env
 * @returns {Promise<string | null> | null}
 */
export function join(request, env) {
  if (cacheable.size + current.size === 0) return null
  const flight = isRead(request) ? flightsOf(request, env)?.get(request.url) : null
  return flight && Date.now() < flight.due ? follow(flight, request, env) : null
}

async function follow({ followers }, request, env) {
  const { promise, resolve } = Promise.withResolvers()
  followers.push(resolve)
  // The platform aborts a request with nothing pending.
  const timer = setTimeout(() => resolve(null), MAX_WAIT)
  const [text, isAllowed] = await Promise.all([promise, allowReader(request, env)])
  clearTimeout(timer)
  return isAllowed ? text : null
}

/**
 * Lets later requests for the same URL follow this one. After a write, none follows a request that may have read the
 * store before it.
 *
 * @param {Request} request
 * @param {Env} env
 * @param {Promise<string>} responding
 */
export function lead(request, env, responding) {
  if (!isRead(request)) {
    const wrote = () => current.clear()
    responding.then(wrote, wrote)
    return
  }
  const flights = flightsOf(request, env)
  if (!flights) return
  const [key, now] = [request.url, Date.now()]
  for (const [other, { due }] of flights) {
    if (due > now) break
    flights.delete(other)
  }
  const flight = { due: now + MAX_AGE, followers: /** @type {Follower[]} */ ([]) }
  flights.delete(key)
  flights.set(key, flight)
  const end = (text) => {
    if (flights.get(key) === flight) flights.delete(key)
    for (const resolve of flight.followers) resolve(text)
  }
  responding.then(end, () => end(null))
}
