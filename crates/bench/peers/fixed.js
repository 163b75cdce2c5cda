// A constant response without a store request: the cost of workerd and a minimal Worker.

const HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' }

export default {
  fetch(request, { RESPONSES }) {
    return new Response(request.method === 'POST' ? RESPONSES.count : RESPONSES.top, { headers: HEADERS })
  },
}
