// Serializes a request to one string, so that one call passes it to the wasm. request.rs parses it.

import { maxBodyBytes } from 'wasm'
import { hasRoom } from './bridge.js'

// The headers that the Worker reads. A header with a binding or variable is read only if that is
// set, because each read takes time.
const ADDRESS = 'cf-connecting-ip'
const HEADERS = [['authorization'], [ADDRESS, 'READ_LIMIT'], ['origin', 'ALLOWED_ORIGINS']]
const HEADERS_OF = {
  __proto__: null,
  GET: HEADERS,
  HEAD: HEADERS,
  OPTIONS: [['origin'], ['access-control-request-method']],
}
const EVENT = 'last-event-id'
const HEADERS_WITH_BODY = [...HEADERS, ['content-type'], ['prefer']]

// Matches URLs that `URL.parse` would not change. Parsing a URL takes as long as sending a request.
// Excludes `.` and escapes in the path.
const PLAIN = /^(https?:\/\/[a-z0-9.:-]+)(\/[\w/:@|-]*)(?:\?([\w=&:@|,.%+-]*))?$/

const RAY = /^[0-9a-f]{16}(-[A-Z]{3})?$/

// The parts of an invalid URL; they match no route.
const INVALID = { origin: '', pathname: '', search: '' }

const MAX_BYTES = maxBodyBytes()

/** Returns the request id for the response and the log: the `cf-ray` header, or a new UUID. */
export function idOf({ headers }) {
  const ray = headers.get('cf-ray')
  return ray && RAY.test(ray) ? ray : crypto.randomUUID()
}

/**
 * Returns lines with the id, Unix ms, method, origin, path, query, the error of the body (`large`,
 * `broken`, `busy` or nothing), and name and value of each header; an empty line; the body. Neither a URL
 * nor a header can contain a line end.
 *
 * @returns {string | Promise<string>} a promise for methods with a body
 */
export function read(request, env) {
  const { headers, method, url } = request
  const [, origin, path, query = ''] = PLAIN.exec(url) ?? parseUrl(url)
  const start = `${idOf(request)}\n${Date.now()}\n${method}\n${origin}\n${path}\n${query}`
  const names = HEADERS_OF[method]
  let lines = ''
  for (const [name, binding] of names ?? HEADERS_WITH_BODY) {
    const value = binding && !env[binding] ? null : headers.get(name)
    if (value !== null) lines += `${name}\n${value}\n`
  }
  // Only readers of pages get an error as a page.
  if (!path.startsWith('/v1/') && headers.has('accept')) lines += `accept\n${headers.get('accept')}\n`
  // Only clients of live boards send it.
  if (path.endsWith('/live') && headers.has(EVENT)) lines += `${EVENT}\n${headers.get(EVENT)}\n`
  // The address of a new visitor, unless it is there for the limit of reads.
  const address = path === '/v1/visitors' && !env.READ_LIMIT && headers.get(ADDRESS)
  if (address) lines += `${ADDRESS}\n${address}\n`
  if (names) return `${start}\n\n${lines}\n`
  return readBody(request).then(({ error, text }) => `${start}\n${error ?? ''}\n${lines}\n${text ?? ''}`)
}

function parseUrl(url) {
  const { origin, pathname, search } = URL.parse(url) ?? INVALID
  return [url, origin, pathname, search.slice(1)]
}

async function readBody(request) {
  const declared = Number(request.headers.get('content-length') ?? NaN)
  if (declared > MAX_BYTES) return { error: 'large' }
  try {
    const text = declared >= 0 ? decoder.decode(await request.arrayBuffer()) : await readStream(request.body)
    if (text === null) return { error: 'large' }
    // JSON must not begin with a byte order mark.
    if (text.startsWith('\uFEFF')) return { error: 'broken' }
    return (await hasRoom(text.length)) ? { text } : { error: 'busy' }
  } catch {
    return { error: 'broken' }
  }
}

// Fails on invalid UTF-8. `request.text()` takes a third of the time, but replaces invalid bytes.
const newDecoder = () => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const decoder = newDecoder()

// Reads a body of unknown length; null if it exceeds the limit.
async function readStream(body) {
  const decoder = newDecoder()
  let text = ''
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    if (length > MAX_BYTES) return null
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
