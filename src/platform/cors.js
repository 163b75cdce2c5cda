// The CORS headers of a response that pages of several origins share. cors.rs adds them to all others.

import { allowsOrigin } from 'wasm'

const ORIGIN = 'access-control-allow-origin'
const EXPOSED = 'access-control-expose-headers'

// Those that cors.rs exposes if a response has them.
const NAMES = ['age', 'etag', 'preference-applied', 'retry-after', 'x-request-id']

/**
 * Returns headers without those that depend on the origin.
 *
 * @param {Record<string, string>} headers
 * @returns {Record<string, string>}
 */
export function withoutOrigin({ [ORIGIN]: _origin, [EXPOSED]: _exposed, ...rest }) {
  return rest
}

/**
 * Returns the headers of a response for the origin of a request. They have none that depend on an origin.
 *
 * @param {Request} request
 * @param {Record<string, string>} headers
 */
export function headersFor(request, headers) {
  // Without it, responses do not depend on the origin.
  const origin = headers.vary && request.headers.get('origin')
  if (!origin || !allowsOrigin(origin)) return headers
  const exposed = NAMES.filter((name) => Object.hasOwn(headers, name)).join(', ')
  return { ...headers, [ORIGIN]: origin, [EXPOSED]: exposed }
}
