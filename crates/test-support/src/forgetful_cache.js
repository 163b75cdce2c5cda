// A Cache API that stores nothing and does not fail, as under workers.dev.

export default {
  fetch: ({ method }) =>
    method === 'PUT'
      ? new Response(null, { status: 204 })
      : new Response(null, { status: 504, headers: { 'cf-cache-status': 'MISS' } }),
}
