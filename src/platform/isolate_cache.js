// Responses in this isolate's memory, answered before the wasm is called.
//
// The edge cache alone takes as long as a whole request to a Worker that has to look something up, and
// under workers.dev it stores nothing. An entry is what the wasm responded with for this URL, from the edge cache or from
// the store, and stays no longer than it is fresh. Pages of all origins share it: it has no header that depends on the
// origin, see cors.js.

import { headersFor, withoutOrigin } from './cors.js'
import { respond } from './not_modified.js'
import { allowReader } from './rate_limit.js'
import { idOf } from './request.js'

/** @typedef {{ made: number, until: number, headers: Record<string, string>, body: string | null, route: string }} Entry */

/** @type {Map<string, Entry & { size: number }>} oldest first */
const entries = new Map()
const MAX_ENTRIES = 100
// An isolate has 128 MB. V8 takes two bytes for a character of a text with any character outside of Latin-1.
const MAX_BYTES = 8 * 1024 * 1024
const BYTES_PER_CHARACTER = 2

let bytes = 0

function remove(key) {
  bytes -= entries.get(key)?.size ?? 0
  entries.delete(key)
}

/**
 * Stores a response; the oldest entries make room for it. One that would take a quarter of the room is not stored.
 *
 * @param {Request} request
 * @param {Entry} entry
 */
export function store({ url }, entry) {
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
  const entry = entries.get(request.url)
  // The wasm decides who is a service, which has no rate limit.
  if (!entry || Date.now() >= entry.until || headers.has('authorization')) return null
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
