// D1 databases.

import { env } from './bridge.js'

/**
 * Runs statements in one transaction, and returns the rows of each: a JSON array of arrays of columns, one in a line.
 *
 * @param {string} binding
 * @param {string} statements JSON
 */
export async function run(binding, statements) {
  const database = env()[binding]
  const prepared = JSON.parse(statements).map(({ sql, values }) => database.prepare(sql).bind(...values))
  const results = await database.batch(prepared)
  return results.map(({ results }) => JSON.stringify(results.map(Object.values))).join('\n')
}
