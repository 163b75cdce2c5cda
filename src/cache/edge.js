// Entries of the edge cache (Cache API).

const MADE = 'x-made'
const MAX_AGE = 86_400 // seconds an entry is stored

// A platform without a cache throws, which takes as long as a look-up: after that it is not used
// for a minute. A cache that has ever worked only fails the one call.
const PAUSE = 60_000
let absentUntil = 0
let works = false

/**
 * @template T
 * @param {(cache: Cache) => Promise<T>} call
 */
async function use(call) {
  if (Date.now() < absentUntil) return null
  try {
    const result = await call(caches.default)
    works = true
    return result
  } catch (error) {
    if (!works) absentUntil = Date.now() + PAUSE
    throw error
  }
}

/** Returns the entry of a URL, unless it was made before `oldest` (milliseconds since 1970). */
export async function find(url, oldest) {
  const response = await use((cache) => cache.match(url))
  const made = Number(response?.headers.get(MADE) ?? NaN)
  return response && made >= oldest ? { made, body: await response.text() } : null
}

/** Stores the body of a response made at an instant, in milliseconds since 1970. */
export async function store(url, made, body) {
  const headers = { 'cache-control': `public, max-age=${MAX_AGE}`, [MADE]: String(made) }
  await use((cache) => cache.put(url, new Response(body, { headers })))
}
