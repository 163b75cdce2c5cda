// Activities as JSON, and the ids of users in them.

/** @import { Activity, SentActivity } from './types.js' */

/** The most bytes of JSON in a request, of the 256 KiB that the service accepts. */
export const MAX_BYTES = 250_000

/**
 * Returns a user id as the API reads it: a string as it is, an integer as its decimal text. Throws a `TypeError` for other
 * values, and for numbers from 2^53 on, which stand for several integers.
 * @param {unknown} id
 * @param {string} name of the field, for the message
 */
export function userId(id, name = 'user') {
  if (typeof id === 'string') return id
  if (Number.isSafeInteger(id) || (typeof id === 'bigint' && BigInt.asIntN(65, id) === id)) return String(id)
  throw new TypeError(`\`${name}\` must be a string or an integer below 2^53.`)
}

/**
 * Replaces numbers in fields of user ids by their decimal text. A replacer for `JSON.stringify`. Throws a `TypeError` for an integer
 * from 2^53 on in any field: other fields, such as `of`, have ids too.
 * @param {string} name
 * @param {unknown} value
 */
export function integersAsText(name, value) {
  const isId = name === 'user' || name === 'author'
  const isInexact = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
  return isInexact || (isId && (typeof value === 'number' || typeof value === 'bigint')) ? userId(value, name) : value
}

/**
 * Returns a copy of an activity that JSON can represent. Throws what `JSON.stringify` throws, a `TypeError` for a value
 * that is not an object with a user, and a `RangeError` for an activity larger than a request.
 * @param {Activity} activity
 * @param {() => string} now returns the instant of an activity without `at`
 * @returns {SentActivity}
 */
export function jsonActivity(activity, now) {
  const text = JSON.stringify(activity, integersAsText) ?? 'null'
  if (new TextEncoder().encode(text).length > MAX_BYTES) {
    throw new RangeError(`An activity must have at most ${MAX_BYTES} bytes.`)
  }
  const copy = JSON.parse(text)
  if (typeof copy !== 'object' || copy === null || Array.isArray(copy)) {
    throw new TypeError('An activity must be an object.')
  }
  userId(copy.user)
  if (copy.author !== undefined && copy.author !== null) userId(copy.author, 'author')
  return { ...copy, at: copy.at ?? now() }
}
