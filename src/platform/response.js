// Makes the platform's response from the text that response.rs writes.

import { store as storeAtEdge } from '../cache/edge.js'
import { keep } from '../cache/shared.js'
import { headersFor, withoutOrigin } from './cors.js'
import { streamOf } from './live.js'
import { respond } from './not_modified.js'
import { idOf } from './request.js'

/** @import { Facts } from './analytics.js' */

/**
 * @param {Request} request
 * @param {ExecutionContext} context
 * @param {string} text a line with status, route, outcome, source and delivery, name and value of each
 *   header in a line each, an empty line, and the body
 * @param {boolean} isShared whether it was made for another request, which stores it
 * @param {Facts} [facts] receives what the line says
 */
export function response(request, context, text, isShared, facts) {
  const end = text.indexOf('\n\n')
  const [first, ...lines] = text.slice(0, end).split('\n')
  /** @type {Record<string, string>} */
  let headers = {}
  for (let index = 0; index < lines.length; index += 2) headers[lines[index]] = lines[index + 1]
  const [code, route, outcome, source, delivery, ...details] = first.split(' ')
  const status = Number(code)
  if (facts) Object.assign(facts, { route, outcome, source: isShared ? 'shared' : source })
  if (delivery === 'stream') {
    return new Response(streamOf(Number(details[0])), { status, headers })
  }
  const body = text.slice(end + 2) || null
  if (isShared) {
    headers = headersFor(request, { ...withoutOrigin(headers), 'x-request-id': idOf(request) })
  } else if (delivery === 'cache') {
    const [made, until, edgeUrl] = details
    keep(request, { made: Number(made), until: Number(until), headers, body, route })
    if (edgeUrl) context.waitUntil(cacheAtEdge(edgeUrl, Number(made), body))
  }
  return respond(request, body, { status, headers })
}

async function cacheAtEdge(url, made, body) {
  try {
    await storeAtEdge(url, made, body)
  } catch (error) {
    // Plain workerd has no cache; anywhere else this is worth knowing.
    const { message } = /** @type {Error} */ (error)
    console.debug(JSON.stringify({ level: 'debug', cause: message }))
  }
}
