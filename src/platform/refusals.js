// Adds up the activities that did not count, and writes them to the database of the journal at most once a second. The
// memory of an isolate is bounded, and so are a row and a write: beyond the bounds refusals are dropped.

import { writeRefusals } from 'wasm'
import { env, run } from './bridge.js'
import { wake } from './wake.js'

const MAX_ROWS = 500
const MAX_TARGETS = 10 // of a row, as in the table
const MAX_CHARACTERS = 300_000 // of all targets

/** @type {Map<string, { count: number, first: number, last: number, targets: string[] }>} */
let rows = new Map()
let characters = 0

/**
 * Adds an activity.
 *
 * @param {string} user
 * @param {string} date
 * @param {string} action
 * @param {string} reason
 * @param {string} target
 * @param {number} at Unix ms
 */
export function addRefusal(user, date, action, reason, target, at) {
  // No part but the target has a space.
  const key = `${user} ${date} ${action} ${reason}`
  const row = rows.get(key) ?? { count: 0, first: at, last: at, targets: [] }
  if (row.count === 0 && rows.size >= MAX_ROWS) return
  rows.set(key, row)
  row.count += 1
  row.first = Math.min(row.first, at)
  row.last = Math.max(row.last, at)
  if (row.targets[0] !== target && characters + target.length <= MAX_CHARACTERS) {
    const targets = [target, ...row.targets.filter((other) => other !== target)].slice(0, MAX_TARGETS)
    characters += targets.join('').length - row.targets.join('').length
    row.targets = targets
  }
  wake('refusals', write)
}

async function write() {
  const taken = rows
  rows = new Map()
  characters = 0
  const values = [...taken].map(async ([key, { count, first, last, targets }]) => {
    const parts = key.split(' ')
    return [...parts, count, last, targets, first, await hash(parts[0])]
  })
  const text = JSON.stringify(await Promise.all(values))
  await run(env(), (event) => writeRefusals(event, text))
}

// The entry of an erasure in the journal has this hash of the user.
async function hash(/** @type {string} */ user) {
  const bytes = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(user))
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
