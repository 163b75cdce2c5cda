// The records of a file outbox, as bytes are read back.

/** @import { SentActivity } from './types.js' */
/** @typedef {{ format?: string, version?: number, id?: number, activity?: SentActivity, removed?: number[] }} FileRecord */

const FORMAT = 'activity-rank-outbox'
const VERSION = 1
const NEWLINE = 10

/** The first line of a file. */
export const HEADER = `${JSON.stringify({ format: FORMAT, version: VERSION })}\n`

/**
 * Returns the entries that are not removed, and the length of the file without an incomplete end. Throws if the file is
 * damaged before its end, has another version, or is no outbox.
 * @param {Buffer} data
 * @param {string} path for messages
 */
export function parseRecords(data, path) {
  /** @type {Map<number, SentActivity>} */
  const entries = new Map()
  let lastId = 0
  let length = 0
  let damaged = 0
  let number = 0
  for (let start = 0, end; (end = data.indexOf(NEWLINE, start)) >= 0; start = end + 1) {
    number++
    const record = parseRecord(data.toString('utf8', start, end))
    if (number === 1 && record?.format !== FORMAT) throw new Error(`${path} is not an outbox: use another path.`)
    if (number === 1 && record?.version !== VERSION) {
      throw new Error(`${path} is an outbox of version ${record?.version}: use the release that wrote it.`)
    }
    if (!record) {
      damaged ||= number
      continue
    }
    // A power failure leaves damage only after the last synced record. Damage elsewhere may have been accepted.
    if (damaged) throw new Error(`${path} is damaged in line ${damaged}: correct or remove that line.`)
    length = end + 1
    if (record.id !== undefined && record.activity) {
      entries.set(record.id, record.activity)
      lastId = Math.max(lastId, record.id)
    }
    for (const id of record.removed ?? []) entries.delete(id)
  }
  // Without a whole line, only an interrupted write of the header is an outbox.
  if (!number && !HEADER.startsWith(data.toString('utf8')))
    throw new Error(`${path} is not an outbox: use another path.`)
  return { entries, lastId, length, size: data.length }
}

/**
 * @param {string} text
 * @returns {FileRecord | undefined}
 */
function parseRecord(text) {
  try {
    const record = JSON.parse(text)
    return typeof record === 'object' && record !== null ? record : undefined
  } catch {
    return undefined
  }
}
