// User tokens: JWTs with which members call the API themselves.

/** @import { UserTokenOptions } from './types.js' */

import { userId } from './activity.js'

const LIFETIME = 3600 // seconds
const SHORTEST_SECRET = 32 // bytes, as the service requires
const USER = /^(?!\.{1,2}$)[A-Za-z0-9_.:@|-]{1,64}$/

/**
 * Returns a user token signed with HS256. Throws a `TypeError` or `RangeError` if the service would refuse it.
 * @param {UserTokenOptions} options
 * @returns {Promise<string>}
 */
export async function userToken({ secret, user, expiresIn = LIFETIME, issuer, audience, name, picture, claims }) {
  const key = encoder.encode(secret)
  if (key.length < SHORTEST_SECRET) throw new RangeError(`\`secret\` must have at least ${SHORTEST_SECRET} bytes.`)
  const sub = userId(user)
  if (!USER.test(sub)) {
    throw new TypeError('`user` must have 1 to 64 characters of A-Z a-z 0-9 _ . : @ | - and must not be "." or "..".')
  }
  if (!(expiresIn > 0)) throw new RangeError('`expiresIn` must be a positive number of seconds.')
  const exp = Math.floor(Date.now() / 1000 + expiresIn)
  // `undefined` leaves a claim out.
  const payload = { ...claims, name, picture, iss: issuer, aud: audience, sub, exp }
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(payload)}`
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const cryptoKey = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', cryptoKey, encoder.encode(signed))
  return `${signed}.${base64url(new Uint8Array(signature))}`
}

const encoder = new TextEncoder()

/** @param {object} value */
const encode = (value) => base64url(encoder.encode(JSON.stringify(value)))

/** @param {Uint8Array} bytes */
const base64url = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '')
