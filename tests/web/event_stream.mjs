// The properties of the parser of event streams in web/elements/events.js, for tests and the fuzz target `events`.

import assert from 'node:assert/strict'

import { createParser } from 'eventsource-parser'

import { readEvents } from '../../web/elements/events.js'

/** The file whose coverage guides the fuzzer. */
export const SOURCE = new URL('../../web/elements/events.js', import.meta.url).href

/** Bytes that random mutations rarely produce. */
export const WORDS = [
  ...['data', 'event', 'id', 'retry', 'data:', 'data: ', 'event: board', 'id: 7', 'retry: 3000', ': comment'],
  ...['\n', '\r', '\r\n', '\n\n', '\r\r', '\r\n\r\n', '\0', ':', ' ', '\ufeff', '\u2028', '\u0085', 'é', '中', '🌍'],
]

/** Returns a stream of chunks of bytes. */
const streamOf = (chunks) =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })

/** Returns the events of chunks of bytes. */
export const readChunks = (chunks) => Array.fromAsync(readEvents(streamOf(chunks)))

/** Returns the events of bytes as `eventsource-parser` reads them. It removes the byte order mark itself. */
export function reference(bytes) {
  const events = []
  let [id, retry] = ['', undefined]
  const parser = createParser({
    onId: (next) => (id = next),
    onRetry: (next) => (retry = next),
    onEvent: ({ event, data }) => events.push({ type: event ?? 'message', data, id, retry }),
  })
  parser.feed(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  return events
}

/** Asserts that bytes are read as by `eventsource-parser`, in one chunk and in many. */
export async function check(bytes) {
  const expected = reference(bytes)
  const divisions = {
    'one chunk': [bytes],
    'a chunk for each byte': chunksOf(bytes, () => 1),
    'chunks of 0 to 4 bytes': chunksOf(bytes, (byte) => byte % 5),
  }
  for (const [name, chunks] of Object.entries(divisions)) {
    assert.deepEqual(await readChunks(chunks), expected, name)
  }
}

/** Divides bytes into chunks whose first byte determines their size. One byte follows an empty chunk. */
function chunksOf(bytes, sizeOf) {
  const chunks = []
  for (let start = 0; start < bytes.length; ) {
    const size = sizeOf(bytes[start])
    if (size === 0) chunks.push(new Uint8Array())
    const end = start + Math.max(1, size)
    chunks.push(bytes.subarray(start, end))
    start = end
  }
  return chunks
}
