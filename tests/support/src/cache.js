// The Cache API of a plain workerd, in memory: what its match(), put() and delete() ask for.

const kept = new Map()
const MISS = { status: 504, headers: { 'cf-cache-status': 'MISS' } }

// Of what workerd puts: a response as HTTP/1.1 writes it.
function take_apart(bytes) {
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
    until: Date.now() + seconds * 1000,
  }
}

export default {
  async fetch(request) {
    const name = `${request.headers.get('cf-cache-namespace') ?? ''} ${request.url}`
    if (request.method === 'PUT') {
      kept.set(name, take_apart(new Uint8Array(await request.arrayBuffer())))
      return new Response(null, { status: 204 })
    }
    if (request.method === 'PURGE') return new Response(null, { status: kept.delete(name) ? 200 : 404 })
    const found = kept.get(name)
    if (!found || found.until < Date.now()) return new Response(null, MISS)
    return new Response(found.body, { status: found.status, headers: found.headers })
  },
}
