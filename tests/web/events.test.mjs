// The parser of event streams in web/elements/events.js.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'

import { readEvents } from '../../web/elements/events.js'
import { check, readChunks, reference } from './event_stream.mjs'
import { randomSource } from './random.mjs'

const encoder = new TextEncoder()

const read = (...texts) => readChunks(texts.map((text) => encoder.encode(text)))

const dataOf = (events) => events.map(({ data }) => data)

/** The examples of the standard. */
for (const [name, text, expected] of /** @type {[string, string, string[]][]} */ ([
  ['lines of data are joined', 'data: YHOO\ndata: +2\ndata: 10\n\n', ['YHOO\n+2\n10']],
  ['event without its end is discarded', 'data\n\ndata\ndata\n\ndata:', ['', '\n']],
  ['one leading space is removed', 'data:test\n\ndata: test\n\ndata:  test\n\n', ['test', 'test', ' test']],
  ['comment is ignored', ': test\n\n:\ndata: a\n: data: b\n\n', ['a']],
  ['event without data is ignored', 'event: a\nid: 1\n\n\n\ndata: b\n\n', ['b']],
  ['unknown field is ignored', 'Data: a\ndata : b\n data: c\ndatas\nfoo: d\ndata: e\n\n', ['e']],
  ['only CR and LF end a line', 'data: a\u2028b\u2029c\u0085d\u000be\n\n', ['a\u2028b\u2029c\u0085d\u000be']],
  ['CR, LF and CRLF end a line', 'data: a\rdata: b\ndata: c\r\ndata: d\r\r', ['a\nb\nc\nd']],
  ['one byte order mark is removed', '\ufeffdata: a\n\n', ['a']],
  ['second byte order mark is text', '\ufeff\ufeffdata: a\n\ndata: b\n\n', ['b']],
  ['colon in a value is text', 'data: {"a":1}\n\n', ['{"a":1}']],
])) {
  it(name, async () => assert.deepEqual(dataOf(await read(text)), expected))
}

it('event has its type, last id and retry', async () => {
  const text =
    'retry: 10\nid: 1\nevent: board\ndata: a\n\ndata: b\n\nid: 2\n\nid: 3\0\nretry: 1s\nretry\ndata: c\n\nid\ndata: d\n\n'
  assert.deepEqual(await read(text), [
    { type: 'board', data: 'a', id: '1', retry: 10 },
    { type: 'message', data: 'b', id: '1', retry: 10 },
    { type: 'message', data: 'c', id: '2', retry: 10 },
    { type: 'message', data: 'd', id: '', retry: 10 },
  ])
})

it('CRLF between two chunks is one line end', async () => {
  assert.deepEqual(dataOf(await read('data: a\r', '\ndata: b\r', '\n\r', '\ndata: c\r', '\r')), ['a\nb', 'c'])
  assert.deepEqual(dataOf(await read('data: a\r', '', '\n', '\n')), ['a'])
})

/** A chunk may end within a character. Invalid UTF-8 is replaced. */
it('bytes are decoded across chunks', async () => {
  const bytes = encoder.encode('data: 中\u2028🌍\n\n')
  assert.deepEqual(dataOf(await readChunks([...bytes].map((byte) => Uint8Array.of(byte)))), ['中\u2028🌍'])
  const [{ data }] = await readChunks([encoder.encode('data: '), Uint8Array.of(0xff, 10, 10)])
  assert.equal(data, '\ufffd')
})

it('event is yielded with its last byte', async () => {
  const { readable, writable } = new TransformStream()
  const writer = writable.getWriter()
  const events = readEvents(readable)
  for (const [text, data] of [
    ['data: a\r\r', 'a'],
    ['\ndata: b\r\n\r', 'b'],
  ]) {
    writer.write(encoder.encode(text))
    assert.deepEqual(await events.next(), { done: false, value: { type: 'message', data, id: '', retry: undefined } })
  }
})

for (const [name, leave] of /** @type {[string, () => void][]} */ ([
  ['break', () => {}],
  ['exception', () => assert.fail()],
])) {
  it(`${name} in the loop cancels the stream`, async () => {
    let isCancelled = false
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(encoder.encode('data: a\n\n')),
      cancel: () => void (isCancelled = true),
    })
    const loop = async () => {
      for await (const _ of readEvents(body)) {
        leave()
        break
      }
    }
    await loop().catch(() => {})
    assert.equal(isCancelled, true)
  })
}

// Random streams consist of lines, and of parts that break them.
const LINES = [
  ...[
    '',
    '',
    'data',
    'data: ',
    'data:',
    'data: {"a":1}',
    'data:\u2028é中🌍',
    'event: board',
    'event',
    'id: 7',
    'id:a\0',
  ],
  ...['retry: 3000', 'retry: x', 'retry', ': comment', ':', 'Data: a', 'data : a', ' data: a', 'dat'],
]
const ENDS = ['\n', '\n', '\r', '\r\n']
const PARTS = [...ENDS, ':', ' ', '\0', '\ufeff', '\u2028', '\u2029', '\u0085', 'data', 'id', 'é']

it('random streams are read as by eventsource-parser', async (t) => {
  const { seed, integer, pick } = randomSource()
  t.diagnostic(`SEED=${seed}`)
  let events = 0
  for (let index = 0; index < 5000; index += 1) {
    const part = () => (integer(4) ? pick(LINES) + pick(ENDS) : pick(PARTS))
    const text = Array.from({ length: integer(40) }, part).join('')
    const bytes = encoder.encode(text)
    const chunks = []
    for (let start = 0; start < bytes.length; ) {
      const end = start + integer(12)
      chunks.push(bytes.subarray(start, end))
      start = end
    }
    const expected = reference(bytes)
    events += expected.length
    assert.deepEqual(await readChunks(chunks), expected, `SEED=${seed} ${JSON.stringify(text)}`)
  }
  assert.ok(events > 2500, `${events} events`)
})

/** The inputs of `make fuzz`: one JSON string a line, whose characters are the bytes. */
it('fuzzing inputs are read as by eventsource-parser', async () => {
  for (const folder of ['seeds', 'corpus']) {
    const lines = readFileSync(new URL(`../../crates/fuzz/${folder}/events.jsonl`, import.meta.url), 'utf8')
    for (const line of lines.trimEnd().split('\n')) await check(Buffer.from(JSON.parse(line), 'latin1'))
  }
})
