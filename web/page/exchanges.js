// The requests of the playground with their responses.

import { $, make } from './dom.js'
import { number, words } from './words.js'

const MAX = 30
const HEADERS = ['content-type', 'cache-control', 'etag', 'retry-after', 'preference-applied', 'x-request-id']

/**
 * Sends a request, and lists it with its response.
 * @param {string} url
 * @param {RequestInit} options
 */
export async function recordedFetch(url, options) {
  const { method = 'GET', body } = options
  const { pathname, search } = new URL(url, document.baseURI)
  const request = {
    line: `${method} ${pathname}${search}`,
    headers: headersOf(options.headers),
    body: formatted(String(body ?? '')),
  }
  const start = performance.now()
  const response = await fetch(url, options).catch((error) => {
    show(request, { line: String(error), headers: '', body: '' }, performance.now() - start, 0)
    throw error
  })
  const text = await response.clone().text()
  const headers = HEADERS.filter((name) => response.headers.has(name)).map(
    (name) => `${name}: ${response.headers.get(name)}`,
  )
  const line = `${response.status} ${response.statusText}`.trim()
  show(
    request,
    { line, headers: headers.join('\n'), body: formatted(text) },
    performance.now() - start,
    response.status,
  )
  return response
}

/** @param {HeadersInit | undefined} headers */
function headersOf(headers) {
  const lines = [...new Headers(headers)].map(([name, value]) => `${name}: ${value}`)
  return lines.join('\n').replace(/^(authorization: Bearer ).*$/m, '$1…')
}

/** @param {string} text */
function formatted(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** @typedef {{ line: string, headers: string, body: string }} Message */

/**
 * @param {Message} request
 * @param {Message} response
 * @param {number} duration ms
 * @param {number} status
 */
function show(request, response, duration, status) {
  const time = number(Math.round(duration), { style: 'unit', unit: 'millisecond' })
  const result = make(
    'span',
    { className: `badge ${status >= 200 && status < 400 ? 'running' : 'failed'}` },
    response.line,
  )
  const summary = make(
    'summary',
    {},
    make('code', {}, request.line),
    ' ',
    result,
    ' ',
    make('span', { className: 'muted' }, time),
  )
  const details = make('details', { open: true }, summary, part('request', request), part('response', response))
  const list = $('exchanges')
  for (const { firstElementChild } of list.children) /** @type {HTMLDetailsElement} */ (firstElementChild).open = false
  list.prepend(make('li', {}, details))
  while (list.children.length > MAX) list.lastElementChild?.remove()
  $('no-requests').hidden = true
}

/**
 * @param {'request' | 'response'} word
 * @param {Message} message
 */
function part(word, { headers, body }) {
  const title = make('p', { className: 'muted' }, words()[word])
  title.dataset.word = word
  return make('div', {}, title, make('pre', { tabIndex: 0 }, [headers, body].filter(Boolean).join('\n\n')))
}
