// Signed as the Standard Webhooks specification says: https://www.standardwebhooks.com. `type` of the body
// names the event. Svix gives the headers names of its own.

/** @import { Source } from './types.js' */

import { Problem } from './problem.js'
import { concatenate, instantOf, isHmac, isRecent } from './signature.js'

const SHORTEST_SECRET = 24 // bytes, of the specification

/** @type {Source} */
export const generic = {
  secret: 'WEBHOOK_SECRET',
  timeout: 8000,
  async verify({ headers, body, secret, now }) {
    const header = (/** @type {string} */ name) => headers.get(`webhook-${name}`) ?? headers.get(`svix-${name}`)
    const key = decode(secret.replace(/^(v1,)?whsec_/, '')) // Supabase shows secrets with `v1,`
    if (!key || key.length < SHORTEST_SECRET) {
      const form = `\`whsec_\` and the base64 of at least ${SHORTEST_SECRET} random bytes`
      throw new Problem('misconfigured', `WEBHOOK_SECRET must be ${form}: echo "whsec_$(openssl rand -base64 32)"`)
    }
    const id = header('id')
    const timestamp = header('timestamp')
    if (!id || !isRecent(instantOf(timestamp), now)) return false
    const message = concatenate(new TextEncoder().encode(`${id}.${timestamp}.`), body)
    // While a secret is replaced, a message has a signature of each.
    for (const part of (header('signature') ?? '').split(' ')) {
      const signature = part.startsWith('v1,') && decode(part.slice(3))
      if (signature && (await isHmac(key, signature, message))) return true
    }
    return false
  },
  read: (_, { type }) => ({ event: typeof type === 'string' ? type : undefined }),
}

/**
 * Returns the bytes of a base64 text, or `undefined` if it is none or empty.
 * @param {string} text
 */
function decode(text) {
  try {
    return text ? Uint8Array.from(atob(text), (character) => character.charCodeAt(0)) : undefined
  } catch {
    return undefined
  }
}
