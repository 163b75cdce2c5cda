// Responses in this isolate's memory, answered before the wasm is called.
//
// The edge cache alone takes as long as a whole request to a Worker that has to look something up, and
// under workers.dev it stores nothing. An entry is what the wasm responded with for this origin and
// URL, from the edge cache or from the store, and stays no longer than it is fresh.

import { respond } from './not_modified.js'
import { allowReader } from './rate_limit.js'
import { idOf, keyOf } from './request.js'

const entries = new Map()
const MAX_ENTRIES = 100

/** Stores a response; the oldest entry makes room for it. */
export function store(request, entry) {
  if (entry.until <= Date.now()) return
  const key = keyOf(request)
  entries.delete(key)
  if (entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value)
  entries.set(key, entry)
}

/**
 * Returns a response, or null if only the wasm can make one.
 *
 * @param {Request} request
 * @param {Env} env
 * @param {import('./analytics.js').Facts} [facts]
 */
export function isolateCached(request, env, facts) {
  const { headers, method } = request
  if (entries.size === 0 || (method !== 'GET' && method !== 'HEAD')) return null
  const entry = entries.get(keyOf(request))
  // The wasm decides who is a service, which has no rate limit.
  if (!entry || Date.now() >= entry.until || headers.has('authorization')) return null
  const isAllowed = allowReader(request, env)
  if (isAllowed === true) return respondFrom(request, entry, facts)
  // The wasm responds to a reader over the limit.
  return Promise.resolve(isAllowed).then((isAllowed) => (isAllowed ? respondFrom(request, entry, facts) : null))
}

function respondFrom(request, { made, headers, body, route }, facts) {
  if (facts) Object.assign(facts, { route, source: 'isolate' })
  const age = Math.max(0, Math.floor((Date.now() - made) / 1000))
  const own = { ...headers, age: String(age), 'x-request-id': idOf(request) }
  return respond(request, body, { status: 200, headers: own })
}
