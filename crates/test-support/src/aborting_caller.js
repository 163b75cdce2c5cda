// Forwards requests to the Worker under test. A request with `X-Abort-After` is aborted after these milliseconds: the
// platform then does what it does when a client goes away.

export default {
  async fetch(request, { MAIN }) {
    const delay = request.headers.get('x-abort-after')
    if (delay === null) return MAIN.fetch(request)
    const caller = new AbortController()
    setTimeout(() => caller.abort(), Number(delay))
    try {
      const response = await MAIN.fetch(request, { signal: caller.signal })
      await response.arrayBuffer()
      return new Response('answered')
    } catch {
      return new Response('aborted')
    }
  },
}
