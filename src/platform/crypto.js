// Verifies and makes signatures with the platform's WebCrypto.

const ALGORITHMS = {
  HS256: { name: 'HMAC', hash: 'SHA-256' },
  ES256: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  ES384: { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
  ES512: { name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' },
  EdDSA: { name: 'Ed25519' },
  Ed25519: { name: 'Ed25519' },
}
for (const bits of [256, 384, 512]) {
  const hash = `SHA-${bits}`
  ALGORITHMS[`RS${bits}`] = { name: 'RSASSA-PKCS1-v1_5', hash }
  ALGORITHMS[`PS${bits}`] = { name: 'RSA-PSS', hash, saltLength: bits / 8 }
}

// Imported keys by algorithm and text. There are few, unless a key server invents new ones.
const imported = new Map()
const MAX_IMPORTED = 64

const encoder = new TextEncoder()

async function keyOf(algorithm, text, usage) {
  const id = algorithm + usage + text
  let key = imported.get(id)
  if (!key) {
    const secret = algorithm === 'HS256'
    const data = secret ? encoder.encode(text) : JSON.parse(text)
    const format = secret ? 'raw' : 'jwk'
    key = await crypto.subtle.importKey(format, data, ALGORITHMS[algorithm], false, [usage])
    if (imported.size >= MAX_IMPORTED) imported.clear()
    imported.set(id, key)
  }
  return key
}

/** Returns whether a base64url signature of a text is valid. */
export async function verify(algorithm, text, signature, signed) {
  const key = await keyOf(algorithm, text, 'verify')
  const binary = atob(signature.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
  return crypto.subtle.verify(ALGORITHMS[algorithm], key, bytes, encoder.encode(signed))
}

/** Returns a JWT of a header and claims, which are JSON, signed by a private key. */
export async function sign(algorithm, text, header, claims) {
  const key = await keyOf(algorithm, text, 'sign')
  const signed = [header, claims].map((part) => base64url(encoder.encode(part))).join('.')
  const signature = await crypto.subtle.sign(ALGORITHMS[algorithm], key, encoder.encode(signed))
  return `${signed}.${base64url(new Uint8Array(signature))}`
}

/** Returns the HMAC of a text with SHA-256. */
const digest = async (secret, text) =>
  new Uint8Array(await crypto.subtle.sign('HMAC', await keyOf('HS256', secret, 'sign'), encoder.encode(text)))

/** Returns the HMAC of a text with SHA-256, in hexadecimal digits. */
export const hash = async (secret, text) =>
  Array.from(await digest(secret, text), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Returns the HMAC of a text with SHA-256, in base64url. */
export const hmac = async (secret, text) => base64url(await digest(secret, text))

export const base64url = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
