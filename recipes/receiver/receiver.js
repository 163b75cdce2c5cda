// A Worker that receives the signed webhooks of one source, and sends activity to a deployment. Checks run in the order of
// the API: method, size, media type, signature, content.

/** @import { Env, Mapping, Payload, Source } from './types.js' */

import { connect, failureOf, send } from './deployment.js'
import { changesOf, checkMapping } from './mapping.js'
import { errorResponse, Problem, problemResponse } from './problem.js'

const MAX_BODY = 5 * 1024 * 1024 // bytes
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi

/**
 * Returns the Worker of a source with its mapping file. Throws an `Error` if the mapping is invalid.
 * @param {Source} source
 * @param {Mapping} mapping
 */
export function receiver(source, mapping) {
  checkMapping(mapping)
  return {
    /**
     * @param {Request} request
     * @param {Env} env
     */
    async fetch(request, env) {
      try {
        return await receive(request, env, source, mapping)
      } catch (error) {
        return errorResponse(failureOf(error))
      }
    },
  }
}

/**
 * @param {Request} request
 * @param {Env} env
 * @param {Source} source
 * @param {Mapping} mapping
 */
async function receive(request, env, source, mapping) {
  const { headers, method } = request
  if (method !== 'POST') throw new Problem('method-not-allowed', 'Send deliveries with POST.', { allow: 'POST' })
  const body = await readBody(request)
  if (!/^application\/json\b/i.test(headers.get('content-type') ?? '')) {
    throw new Problem('unsupported-media-type', 'Set the content type of the webhook to application/json.')
  }
  const secret = env[source.secret]
  if (typeof secret !== 'string' || secret === '') {
    throw new Problem('misconfigured', `The secret ${source.secret} is not set.`)
  }
  if (!(await source.verify({ headers, body, secret, now: Date.now() }))) {
    throw new Problem(
      'unauthenticated',
      `The signature is not that of ${source.secret} over the body, or it is too old.`,
    )
  }
  const payload = parse(body)
  const { event, facts, ...options } = source.read(headers, payload, mapping)
  const changes = changesOf(mapping, event, { ...payload, ...facts }, options)
  if (changes.activities.length + changes.undos.length + changes.members.length === 0) {
    if (options.isPrivate && !mapping.private)
      console.log(`${event} counts nothing: the content is private by \`private\` and \`categories\` of mapping.json.`)
    return new Response(null, { status: 204 })
  }
  const results = await send(connect(env), changes, source.timeout)
  for (const result of results) if (result.error) return problemResponse(result.error)
  return Response.json({ results })
}

/**
 * Returns the body. Throws a `Problem` as soon as it is larger than `MAX_BODY`.
 * @param {Request} request
 */
export async function readBody(request) {
  /** @type {Uint8Array[]} */
  const chunks = []
  let size = 0
  for await (const chunk of /** @type {AsyncIterable<Uint8Array>} */ (/** @type {unknown} */ (request.body ?? []))) {
    size += chunk.length
    if (size > MAX_BODY) throw new Problem('too-large', `A delivery has at most ${MAX_BODY} bytes.`)
    chunks.push(chunk)
  }
  return new Uint8Array(await new Blob(/** @type {BlobPart[]} */ (chunks)).arrayBuffer())
}

/**
 * Returns whether a token of JSON is an integer from 2^53 on, such as an id that was made of the time. A number of JavaScript
 * would stand for several of them.
 * @param {string} token
 */
const isInexact = (token) => /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token))

/**
 * Returns the object of a JSON body, with text in the place of integers from 2^53 on. Throws a `Problem` for any other body.
 * @param {Uint8Array} body
 * @returns {Payload}
 */
export function parse(body) {
  let payload
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    payload = JSON.parse(text.replace(STRING_OR_NUMBER, (token) => (isInexact(token) ? `"${token}"` : token)))
  } catch {
    throw new Problem('invalid-request', 'The body is not JSON in UTF-8.')
  }
  if (typeof payload === 'object' && payload !== null && !Array.isArray(payload)) return payload
  throw new Problem('invalid-request', 'The body must be a JSON object.')
}
