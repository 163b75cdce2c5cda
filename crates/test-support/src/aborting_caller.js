// Forwards requests to the Worker under test. A request with `X-Abort-After` is aborted after these milliseconds: the
// platform then does what it does when a client goes away.

export default {
  fetch: (request, { MAIN }) => forward(request, MAIN),
}

/** Returns the response of a service, or 499 if the request was aborted before the service had responded. */
export async function forward(request, service) {
  const delay = request.headers.get('x-abort-after')
  if (delay === null) return service.fetch(request)
  const caller = new AbortController()
  const timer = setTimeout(() => caller.abort(), Number(delay))
  const headers = new Headers(request.headers)
  headers.delete('x-abort-after')
  try {
    const response = await service.fetch(new Request(request, { headers }), { signal: caller.signal })
    return new Response(await response.arrayBuffer(), response)
  } catch (error) {
    if (!caller.signal.aborted) throw error
    return new Response(null, { status: 499 })
  } finally {
    clearTimeout(timer)
  }
}
