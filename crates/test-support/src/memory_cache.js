// The Cache API of a plain workerd, in memory: serves the requests that match(), put() and delete() send.

const entries = new Map()
const MISS = { status: 504, headers: { 'cf-cache-status': 'MISS' } }

// Parses the serialised HTTP/1.1 response that workerd sends as the body of a PUT.
function parseResponse(bytes) {
  const text = new TextDecoder('latin1').decode(bytes)
  const end = text.indexOf('\r\n\r\n')
  const [status, ...lines] = text.slice(0, end).split('\r\n')
  const headers = new Headers(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
  const seconds = /max-age=(\d+)/.exec(headers.get('cache-control'))?.[1] ?? 0
  headers.set('cf-cache-status', 'HIT')
  return {
    status: Number(status.split(' ')[1]),
    headers,
    body: bytes.slice(end + 4),
    expires: Date.now() + seconds * 1000,
  }
}

export default {
  async fetch(request) {
    const key = `${request.headers.get('cf-cache-namespace') ?? ''} ${request.url}`
    if (request.method === 'PUT') {
      entries.set(key, parseResponse(new Uint8Array(await request.arrayBuffer())))
      return new Response(null, { status: 204 })
    }
    if (request.method === 'PURGE') return new Response(null, { status: entries.delete(key) ? 200 : 404 })
    const entry = entries.get(key)
    if (!entry || entry.expires < Date.now()) return new Response(null, MISS)
    return new Response(entry.body, { status: entry.status, headers: entry.headers })
  },
}
