// D1 databases.

import { env } from './bridge.js'

// Milliseconds for which a database that did not respond in time is not used: the other jobs of a run, and the
// other requests of the isolate, do not wait for it too.
const PAUSE = 10_000

/** @type {Map<string, number>} the end of the pause of each binding */
const pauses = new Map()

/**
 * Runs statements in one transaction, and returns the rows of each: a JSON array of arrays of columns, one in a line.
 *
 * @param {string} binding
 * @param {string} statements JSON
 * @param {number} timeout in milliseconds; the database may carry out the statements after it
 */
export async function run(binding, statements, timeout) {
  if (Date.now() < (pauses.get(binding) ?? 0)) throw new Error('did not respond in time a moment ago')
  const database = env()[binding]
  const prepared = JSON.parse(statements).map(({ sql, values }) => database.prepare(sql).bind(...values))
  /** @type {number | null} */
  let timer = null
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => {
      pauses.set(binding, Date.now() + PAUSE)
      reject(new Error(`did not respond within ${timeout} ms`))
    }, timeout)
  })
  try {
    const results = await Promise.race([database.batch(prepared), late])
    return results.map(({ results }) => JSON.stringify(results.map(Object.values))).join('\n')
  } finally {
    clearTimeout(timer)
  }
}
