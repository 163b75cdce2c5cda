// The hub of live boards in src/platform/live.js, with mocked time: which reader receives which board, and when. The
// store registers no board, so the hub reads once a second; watched.test.mjs tests the others.

import assert from 'node:assert/strict'
import { afterEach, beforeEach, it, mock } from 'node:test'

import { createParser } from 'eventsource-parser'

const SECOND = 1000

// As on the platform, a write completes when it has been read.
Object.assign(globalThis, {
  IdentityTransformStream: class extends TransformStream {
    constructor() {
      super({}, { highWaterMark: 1 }, { highWaterMark: 0 })
    }
  },
})

// Imported by URL, which tsc does not follow: the Worker's modules have the types of another platform.
const { Hub } = await import(new URL('../../src/platform/live.js', import.meta.url).href)

beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'] }))
afterEach(() => mock.timers.reset())

/** Runs everything that waits for promises only. */
async function settle() {
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve()
}

async function advance(seconds) {
  for (let second = 0; second < seconds; second += 1) {
    mock.timers.tick(SECOND)
    await settle()
  }
}

/** Creates a hub over a board. `board.requests` has the limits of each request, and `board.fail` replaces its result. */
function start() {
  const board = { content: 'a', requests: [], fail: null }
  const hub = new Hub(async (_request, limits) => {
    board.requests.push(limits)
    if (board.fail) return board.fail(limits)
    return `fresh\n\n\ncheck\nregister\n${rows(limits, board.content)}`
  }, refuse)
  return { hub, board }
}

const refuse = async () => '[{"result":0}]'

const rows = (limits, content) =>
  limits
    .split(',')
    .map((limit) => `${limit}\n${content}\n{"content":"${content}"}`)
    .join('\n')

const RETRY = 'retry: 3000\n'
const COMMENT = ':\n\n'
const event = (content) => `event: board\nid: ${content}\ndata: {"content":"${content}"}\n\n`

async function open(hub, { limit = 30, lastEventId = '', method = 'GET' } = {}) {
  const url = `https://rank.example/v1/ranking/day/live?limit=${limit}`
  const opening = hub.open(new Request(url, { method, headers: { 'last-event-id': lastEventId } }))
  await settle()
  return opening
}

/** Reads a response to its end. `texts` are the chunks; `end` is "closed" or "aborted". */
function read(response) {
  const reading = { texts: [], end: null, reader: response.body.getReader() }
  const decoder = new TextDecoder()
  ;(async () => {
    for (;;) {
      const { done, value } = await reading.reader.read()
      if (done) return 'closed'
      reading.texts.push(decoder.decode(value))
    }
  })().then(
    (end) => (reading.end = end),
    () => (reading.end = 'aborted'),
  )
  return reading
}

/** The request covers each limit that a reader needs. A reader with a new limit waits for the next request. */
it('one request per second serves all readers', async () => {
  const { hub, board } = start()
  const openings = [30, 7, 30, 30].map((limit) => open(hub, { limit }))
  const first = await Promise.all(openings.filter((_, index) => index !== 1))
  assert.deepEqual(board.requests, ['30'])
  await advance(1)
  assert.deepEqual(board.requests, ['30', '7,30'])
  const readers = [...first, await openings[1]].map(read)
  await settle()
  board.content = 'b'
  await advance(3)
  assert.deepEqual(board.requests.slice(2), Array(3).fill('30,7'))
  for (const { texts } of readers) assert.deepEqual(texts, [RETRY + event('a'), event('b')])
})

it('slow reader skips to the newest board', async () => {
  const { hub, board } = start()
  const [fast, slow] = [read(await open(hub)), await open(hub)]
  for (const content of ['b', 'c', 'd', 'e']) {
    board.content = content
    await advance(1)
  }
  assert.deepEqual(fast.texts, [RETRY + event('a'), ...['b', 'c', 'd', 'e'].map(event)])
  const late = read(slow)
  await settle()
  assert.deepEqual(late.texts, [RETRY + event('a'), event('e')])
})

it('reader stalled for 30 seconds is aborted', async () => {
  const { hub, board } = start()
  const [fast, slow] = [read(await open(hub)), await open(hub)]
  await advance(29)
  board.content = 'b'
  await advance(2)
  const late = read(slow)
  await settle()
  assert.equal(late.end, 'aborted')
  assert.deepEqual(late.texts, [])
  assert.equal(fast.end, null)
  assert.equal(fast.texts.at(-1), event('b'))
})

/** Two comments, because the first write to a closed connection is lost without an error. */
it('idle stream gets two comments every 25 seconds', async () => {
  const { hub, board } = start()
  const { texts } = read(await open(hub, { lastEventId: 'a' }))
  await settle()
  assert.deepEqual(texts, [`${RETRY}\n`])
  await advance(24)
  assert.equal(texts.length, 1)
  await advance(3)
  assert.deepEqual(texts.slice(1), [COMMENT, COMMENT])
  await advance(10)
  board.content = 'b'
  await advance(25)
  assert.deepEqual(texts.slice(3), [event('b')])
  await advance(3)
  assert.deepEqual(texts.slice(4), [COMMENT, COMMENT])
})

it('hub without readers sends no requests', async () => {
  const { hub, board } = start()
  const { reader } = read(await open(hub))
  await advance(3)
  await reader.cancel()
  board.content = 'b' // The next write reveals the cancellation.
  await advance(2)
  const count = board.requests.length
  await advance(60)
  assert.equal(board.requests.length, count)
  const again = read(await open(hub, { lastEventId: 'b' }))
  assert.equal(board.requests.length, count + 1)
  await settle()
  assert.deepEqual(again.texts, [`${RETRY}\n`])
})

it('HEAD sends one request and opens no stream', async () => {
  const { hub, board } = start()
  const response = await open(hub, { method: 'HEAD' })
  assert.deepEqual([response.status, response.body], [200, null])
  await advance(5)
  assert.equal(board.requests.length, 1)
})

/** A new reader does not wait for the back-off. */
it('store outage backs off and repeats no event', async () => {
  const { hub, board } = start()
  const { texts } = read(await open(hub))
  board.fail = (limits) => `stale\n\nNo answer.\n\n\n${rows(limits, 'old')}`
  await advance(1)
  assert.equal(texts.at(-1), event('old'))
  const [count, seconds] = [board.requests.length, []]
  for (let second = 1; second <= 40; second += 1) {
    const before = board.requests.length
    await advance(1)
    if (board.requests.length > before) seconds.push(second)
  }
  assert.deepEqual(seconds, [2, 6, 14, 22, 30, 38])
  assert.deepEqual(
    texts.filter((text) => text.includes('old')),
    [event('old')],
  )
  const opening = open(hub)
  await advance(1)
  assert.equal(board.requests.length, count + seconds.length + 1)
  const late = read(await opening)
  await settle()
  assert.deepEqual(late.texts, [RETRY + event('old')])
  board.fail = null
  await advance(8)
  assert.equal(texts.at(-1), event('a'))
  const recovered = board.requests.length
  await advance(5)
  assert.equal(board.requests.length, recovered + 5)
})

/** Readers that are already connected receive nothing. */
it('misconfiguration is reported to new readers', async () => {
  const { hub, board } = start()
  const { texts } = read(await open(hub))
  board.fail = () => 'failed\nPREFIX\nchoose another'
  await advance(1)
  const opening = open(hub)
  await advance(1)
  const response = await opening
  assert.deepEqual([response.status, await response.text()], [503, 'PREFIX\nchoose another'])
  assert.equal(texts.length, 1)
})

for (const [cause, fail] of /** @type {[string, (limits: string) => unknown][]} */ ([
  ['subrequest limit', (limits) => `stale\n\nToo many subrequests by one invocation.\n\n\n${rows(limits, 'old')}`],
  ['exception', () => Promise.reject(new Error('broken'))],
])) {
  it(`${cause} ends streams and serves reconnects`, async () => {
    const { hub, board } = start()
    const reading = read(await open(hub))
    board.fail = fail
    await advance(1)
    assert.equal(reading.end, 'closed')
    board.fail = null
    await advance(1)
    const opening = open(hub, { lastEventId: 'a' })
    await advance(1)
    assert.deepEqual(read(await opening).end, null)
  })
}

it('stream ends after 15 minutes', async () => {
  const { hub } = start()
  const reading = read(await open(hub))
  await advance(899)
  assert.equal(reading.end, null)
  await advance(2)
  assert.equal(reading.end, 'closed')
})

/** JSON escapes carriage returns and line feeds, which end a line of the stream, but not these separators. */
it('separators in a name stay in one event', async () => {
  const { hub, board } = start()
  const { texts } = read(await open(hub))
  const name = '\r\n\u0085\u2028\u2029'
  board.fail = (limits) => `fresh\n\n\ncheck\nregister\n${limits}\nb\n${JSON.stringify({ name })}`
  await advance(1)
  const events = []
  const parser = createParser({ onEvent: (event) => events.push(event) })
  for (const text of texts) parser.feed(text)
  assert.deepEqual(
    events.map(({ id, data }) => [id, JSON.parse(data)]),
    [
      ['a', { content: 'a' }],
      ['b', { name }],
    ],
  )
})
