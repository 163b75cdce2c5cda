// The upper limit for any Worker that sends the same store requests. It sends exactly the Worker's
// requests and returns the store's response unparsed. It validates nothing.

const PATTERN = /<(now|user|target)>/

let pieces, store, headers

function prepare(env) {
  // Every second piece is the name of a placeholder.
  pieces = Object.fromEntries(Object.entries(env.TEMPLATES).map(([name, text]) => [name, text.split(PATTERN)]))
  store = `${env.UPSTASH_REDIS_REST_URL}/pipeline`
  headers = { authorization: `Bearer ${env.UPSTASH_REDIS_REST_TOKEN}`, 'content-type': 'application/json' }
}

function send(name, values) {
  const body = pieces[name].map((piece, at) => (at % 2 ? values[piece] : piece)).join('')
  return fetch(store, { method: 'POST', headers, body })
}

async function cachedBoard(request, context) {
  const cached = await caches.default.match(request.url)
  if (cached) return cached
  const body = await (await send('top', {})).text()
  const board = new Response(body, { headers: { 'content-type': 'application/json', 'cache-control': 'public, max-age=5' } })
  context.waitUntil(caches.default.put(request.url, board.clone()))
  return board
}

export default {
  async fetch(request, env, context) {
    if (!pieces) prepare(env)
    if (request.method === 'POST') {
      const { user, target } = await request.json()
      return send('count', { user, target, now: Date.now() })
    }
    const { url } = request
    const at = url.indexOf('/users/')
    if (at < 0) return env.CACHED ? cachedBoard(request, context) : send('top', {})
    return send('standing', { user: url.slice(at + 7, url.indexOf('?', at)) })
  },
}
