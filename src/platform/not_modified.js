// Conditional requests.

/**
 * Returns the response, or 304 if `If-None-Match` contains its `ETag`.
 *
 * @param {Request} request
 * @param {string | null} body
 * @param {{ status: number, headers: Record<string, string> }} init
 */
export function respond(request, body, { status, headers }) {
  const known = headers.etag && request.headers.get('if-none-match')
  if (!known || !matches(known, headers.etag)) return new Response(body, { status, headers })
  const { 'content-type': _, ...rest } = headers
  return new Response(null, { status: 304, headers: rest })
}

function matches(known, tag) {
  const same = (value) => value === '*' || value.replace(/^(W\/)+/, '') === tag
  return known.split(',').some((value) => same(value.trim()))
}
