// Signatures of webhooks: HMAC-SHA256, compared in constant time by WebCrypto.

const encoder = new TextEncoder()
const TOLERANCE = 300_000 // ms between the signature and now

/**
 * Returns whether a request was signed in the last five minutes, or by a clock that is at most five minutes ahead. A recorded
 * request cannot be sent again later.
 * @param {number} signed Unix ms, or `NaN`
 * @param {number} now Unix ms
 */
export const isRecent = (signed, now) => Math.abs(now - signed) <= TOLERANCE

/**
 * Returns the instant of a timestamp in Unix seconds, in Unix ms; `NaN` for any other text.
 * @param {string | null} text
 */
export const instantOf = (text) => (/^\d{1,12}$/.test(text ?? '') ? Number(text) * 1000 : Number.NaN)

/**
 * Returns whether a signature is the HMAC-SHA256 of a message.
 * @param {Uint8Array<ArrayBuffer>} secret
 * @param {Uint8Array<ArrayBuffer>} signature
 * @param {Uint8Array<ArrayBuffer>} message
 */
export async function isHmac(secret, signature, message) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['verify'])
  return crypto.subtle.verify('HMAC', key, signature, message)
}

/**
 * Returns whether `sha256=<hex>` is the HMAC-SHA256 of a message.
 * @param {string} secret
 * @param {string | null} header
 * @param {Uint8Array<ArrayBuffer>} message
 */
export async function isHexSignature(secret, header, message) {
  const [, hex] = header?.match(/^sha256=([0-9a-f]{64})$/i) ?? []
  if (!hex) return false
  const signature = bytesOfHex(hex, 32)
  return signature !== undefined && isHmac(encoder.encode(secret), signature, message)
}

/**
 * Returns the bytes of hexadecimal digits, or `undefined` if they are not exactly this many.
 * @param {string} hex
 * @param {number} length bytes
 */
export function bytesOfHex(hex, length) {
  if (hex.length !== length * 2 || !/^[0-9a-f]+$/i.test(hex)) return undefined
  return Uint8Array.from({ length }, (_, index) => Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16))
}

/**
 * Returns two messages as one.
 * @param {Uint8Array<ArrayBuffer>} first
 * @param {Uint8Array<ArrayBuffer>} second
 */
export function concatenate(first, second) {
  const joined = new Uint8Array(first.length + second.length)
  joined.set(first)
  joined.set(second, first.length)
  return joined
}
