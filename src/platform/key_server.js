// Fetches key sets.

const TIMEOUT = 3000 // milliseconds
const MAX_BYTES = 64 * 1024

/** Returns the body of a response of at most 64 KiB. */
export async function fetchKeys(url) {
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    // Only the configured server is trusted.
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT),
  })
  if (!response.ok || !response.body) throw new Error(`status ${response.status}`)
  const decoder = new TextDecoder()
  let text = ''
  let length = 0
  for await (const chunk of response.body) {
    length += chunk.length
    if (length > MAX_BYTES) throw new Error(`more than ${MAX_BYTES} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
