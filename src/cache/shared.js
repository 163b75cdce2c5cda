// Responses that the requests of an isolate share: what the wasm has responded with, and what it is responding with.
//
// The edge cache alone takes as long as a whole request to a Worker that has to look something up, and under workers.dev
// it stores nothing. So an isolate keeps responses while they are fresh, and answers from them before the wasm is called.
// While the wasm responds to the first request for a URL, the leader, other requests for it, the followers, wait for the
// same text. Pages of all origins share both: no header depends on the origin, see cors.js.
//
// Only plain values may pass between the contexts of requests, and a promise that another request resolves must come from
// `Promise.withResolvers`: see coalesce.js.

import { sharedPatterns } from 'wasm'
import { headersFor, withoutOrigin } from '../platform/cors.js'
import { respond } from '../platform/not_modified.js'
import { allowReader } from '../platform/rate_limit.js'
import { idOf } from '../platform/request.js'

/** @typedef {{ made: number, until: number, headers: Record<string, string>, body: string | null, route: string }} Entry */
/** @typedef {(text: string | null) => void} Follower */

const MAX_ENTRIES = 100
// An isolate has 128 MB. V8 takes two bytes for a character of a text with any character outside of Latin-1.
const MAX_BYTES = 8 * 1024 * 1024
const BYTES_PER_CHARACTER = 2

const MAX_AGE = 2000 // milliseconds after the start of a leader, from which another request leads
const MAX_WAIT = 4000 // milliseconds; then the context of the leader must be gone

/** @type {Map<string, Entry & { size: number }>} oldest first */
const entries = new Map()
let bytes = 0

/** @type {Map<string, { due: number, followers: Follower[] }>} oldest first */
const cacheable = new Map()
// Responses that no cache may store: they contain every write that this isolate has responded to.
/** @type {typeof cacheable} */
const current = new Map()

// The paths of the routes whose responses are shared: table.rs says which.
const pathsOf = (cached) =>
  sharedPatterns(cached).replaceAll('.', '\\.').replace(/{\w+}/g, '[^/?]+').replaceAll(' ', '|')
const PATH = new RegExp(`^[a-z]+://[^/]+(?:(${pathsOf(true)})|${pathsOf(false)})(?:\\?|$)`)

const isRead = ({ method }) => method === 'GET' || method === 'HEAD'
// Members and services may see hidden users, and services have no rate limit. The wasm decides who is one.
const isPublic = ({ headers }) => !headers.has('authorization')

/**
 * Keeps a response; the oldest ones make room for it. One that would take a quarter of the room is not kept.
 *
 * @param {Request} request
 * @param {Entry} entry
 */
export function keep({ url }, entry) {
  if (entry.until <= Date.now()) return
  remove(url)
  const size = BYTES_PER_CHARACTER * (url.length + (entry.body?.length ?? 0)) + 2048
  if (size > MAX_BYTES / 4) return
  for (const key of entries.keys()) {
    if (entries.size < MAX_ENTRIES && bytes + size <= MAX_BYTES) break
    remove(key)
  }
  bytes += size
  entries.set(url, { ...entry, headers: withoutOrigin(entry.headers), size })
}

function remove(key) {
  bytes -= entries.get(key)?.size ?? 0
  entries.delete(key)
}

/**
 * Returns a kept response, or null if there is none.
 *
 * @param {Request} request
 * @param {Env} env
 * @param {import('../platform/analytics.js').Facts} [facts]
 */
export function kept(request, env, facts) {
  if (entries.size === 0 || !isRead(request)) return null
  const entry = entries.get(request.url)
  if (!entry || Date.now() >= entry.until || !isPublic(request)) return null
  const isAllowed = allowReader(request, env)
  if (isAllowed === true) return respondFrom(request, entry, facts)
  // The wasm responds to a reader over the limit.
  return Promise.resolve(isAllowed).then((isAllowed) => (isAllowed ? respondFrom(request, entry, facts) : null))
}

function respondFrom(request, { made, body, headers, route }, facts) {
  if (facts) Object.assign(facts, { route, source: 'isolate' })
  const age = Math.max(0, Math.floor((Date.now() - made) / 1000))
  const own = headersFor(request, { ...headers, age: String(age), 'x-request-id': idOf(request) })
  return respond(request, body, { status: 200, headers: own })
}

/**
 * Follows a leader. Returns null if there is none; the promise returns null if the wasm must respond.
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

function flightsOf(request, env) {
  const match = PATH.exec(request.url)
  if (!match || !isPublic(request)) return null
  return match[1] && Number(env.BOARD_MAX_AGE) !== 0 ? cacheable : current
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
