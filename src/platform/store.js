// One request to the store.

// Upstash may serve a read from a replica. With the token of a response, the replica waits until it has the writes
// before it.
const TOKEN = 'upstash-sync-token'
let token = ''

/**
 * Sends a pipeline and reads the complete response.
 *
 * @param {string} url
 * @param {string} authorization
 * @param {number} timeout in milliseconds, for the complete response
 * @param {string} body
 * @returns {Promise<{ status: number, body: string }>}
 * @throws {string} the cause, without secrets
 */
export async function send(url, authorization, timeout, body) {
  try {
    const headers = { authorization, 'content-type': 'application/json' }
    if (token) headers[TOKEN] = token
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      // Only the configured store may receive the token.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeout),
    })
    token = response.headers.get(TOKEN) ?? token
    return { status: response.status, body: await response.text() }
  } catch (error) {
    // The text after a colon can contain the URL, and that a password.
    const { message } = /** @type {Error} */ (error)
    throw String(message).split(':', 1)[0]
  }
}
