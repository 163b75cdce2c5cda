// Visitors: random ids, their signatures, and the check of new ones by Turnstile.

import { base64url, hmac } from './crypto.js'
import { networkOf } from './rate_limit.js'

const TIMEOUT = 3000 // milliseconds

/**
 * Returns a new id, its signature, and a keyed hash of the network of an address, between spaces; '' if Turnstile does
 * not accept the token of the widget. Without a URL there is no check. Throws if Turnstile does not answer.
 */
export async function newVisitor(key, address, url, secret, token) {
  if (url && !(await isHuman(url, { secret, response: token, remoteip: address }))) return ''
  const id = `visitor:${base64url(crypto.getRandomValues(new Uint8Array(16)))}`
  return [id, await hmac(key, id), await hmac(key, `address ${networkOf(address)}`)].join(' ')
}

async function isHuman(url, fields) {
  if (!fields.remoteip) delete fields.remoteip
  const signal = AbortSignal.timeout(TIMEOUT)
  const body = new URLSearchParams(fields)
  const answer = await fetch(url, { method: 'POST', body, redirect: 'manual', signal })
  if (!answer.ok) throw new Error(`status ${answer.status}`)
  return (await answer.json()).success === true
}
