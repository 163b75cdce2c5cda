// The hub of a registered board in src/platform/live.js, with mocked time and a mocked store: when it reads the board.

import assert from 'node:assert/strict'
import { beforeEach, it, mock } from 'node:test'

globalThis.IdentityTransformStream = TransformStream
const { Hub } = await import(new URL('../../src/platform/live.js', import.meta.url).href)

const SECOND = 1000
const URL_OF_BOARD = 'https://rank.example/v1/ranking/day/live?limit=30'

/** The requests to the store since the last `take`: `read`, `check`, `register 43200` … */
let sent
/** The board, the response to the check, and whether the store registers boards. */
let store
let hub

beforeEach(() => {
  mock.timers.reset()
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now: Date.parse('2026-11-20T12:00:00Z') })
  sent = []
  store = { score: 1, check: 'a', isFull: false, isDown: false, end: '2026-11-21T00:00:00Z' }
  hub = new Hub(readBoard, sendToStore)
})

async function readBoard(_request, limits) {
  sent.push('read')
  if (store.isDown) return 'failed\n\ndown'
  const json = JSON.stringify({ period: { end: store.end }, score: store.score })
  return `fresh\n\n\ncheck ${store.end}\nregister <lifetime> ${store.end}\n${limits}\nv${store.score}\n${json}`
}

async function sendToStore(body) {
  sent.push(body.split(' ', 2).join(' '))
  if (store.isDown) throw new Error('down')
  if (body.startsWith('check')) return store.check
  return JSON.stringify([{ result: store.isFull ? 0 : 1 }])
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

async function after(seconds) {
  for (let step = 0; step < seconds * 10; step++) {
    mock.timers.tick(SECOND / 10)
    await turn()
  }
}

/** Opens a stream and returns the scores that arrive. */
async function open() {
  const opened = hub.open(new Request(URL_OF_BOARD))
  await turn()
  const { body } = await opened
  const scores = []
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const read = async () => {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      for (const [, score] of decoder.decode(value).matchAll(/"score":(\d+)/g)) scores.push(Number(score))
    }
  }
  read().catch(() => {})
  await turn()
  return { scores, close: () => reader.cancel() }
}

function take() {
  const taken = sent
  sent = []
  return taken
}

/** Opens a stream, and waits until the hub has registered the board and read it again. */
async function openSettled() {
  const stream = await open()
  await after(3)
  const check = `check ${store.end}`
  assert.deepEqual(take(), ['read', 'register 43200', check, 'read'])
  return stream
}

it('unchanged board is checked once a minute', async () => {
  const { scores } = await openSettled()
  await after(600)
  const requests = take()
  assert.deepEqual(new Set(requests), new Set([`check ${store.end}`]))
  assert.ok(requests.length <= 10, `${requests.length} checks in 10 minutes`)
  assert.deepEqual(scores, [1])
})

it('wake-up reads the board at once', async () => {
  const { scores } = await openSettled()
  store.score = 2
  store.check = 'b'
  hub.wake()
  await turn()
  assert.deepEqual(scores, [1, 2])
  assert.deepEqual(take(), ['read'])
  // A second later once more, with a check.
  await after(30)
  assert.deepEqual(take(), [`check ${store.end}`, 'read'])
})

it('constant wake-ups read once a second', async () => {
  const { scores } = await openSettled()
  for (let step = 0; step < 100; step++) {
    store.score += 1
    hub.wake()
    await after(0.1)
  }
  const reads = take().filter((request) => request === 'read').length
  assert.ok(reads >= 9 && reads <= 11, `${reads}`)
  await after(2)
  assert.equal(scores.at(-1), store.score)
})

it('change after the check of a read is found', async () => {
  const { scores } = await openSettled()
  hub.wake()
  await after(0.1)
  // The object is woken for a change that the store shows to the check only.
  store.check = 'b'
  await after(3)
  assert.deepEqual(take(), ['read', `check ${store.end}`, 'read'])
  store.check = 'c'
  store.score = 2
  await after(61)
  assert.deepEqual(scores, [1, 2])
})

it('change made elsewhere is found by the check', async () => {
  const { scores } = await openSettled()
  store.score = 2
  store.check = 'b'
  await after(61)
  assert.deepEqual(scores, [1, 2])
  // The registration may be lost.
  assert.ok(take().includes('register 43200'))
  await after(120)
  assert.deepEqual(new Set(take()), new Set([`check ${store.end}`]))
})

it('board switches when its period ends', async () => {
  store.end = '2026-11-20T12:00:30Z'
  const { scores } = await openSettled()
  await after(26)
  assert.deepEqual(take(), [])
  const check = `check ${(store.end = '2026-11-21T12:00:30Z')}`
  store.score = 2
  await after(2)
  assert.deepEqual(scores, [1, 2])
  await after(3)
  assert.deepEqual(take(), ['read', 'register 0', 'register 43200', check, 'read'])
})

it('unregistered board is read once a second', async () => {
  store.isFull = true
  const { scores } = await open()
  await after(2)
  take()
  store.score = 2
  await after(1.1)
  assert.deepEqual(scores, [1, 2])
  await after(50)
  assert.deepEqual(new Set(take()), new Set(['read']))
  store.isFull = false
  await after(20)
  assert.ok(take().includes('register 43200'))
  await after(50)
  assert.deepEqual(new Set(take()), new Set([`check ${store.end}`]))
})

it('outage is noticed by the check and backed off', async () => {
  const { scores } = await openSettled()
  store.isDown = true
  await after(60)
  const failed = take()
  assert.ok(failed.includes('read'))
  await after(20)
  assert.ok(take().length <= 4)
  store.isDown = false
  store.score = 2
  await after(10)
  assert.deepEqual(scores, [1, 2])
  take()
  await after(50)
  assert.equal(take().includes('read'), false)
})

it('registration is renewed and finally removed', async () => {
  const { close } = await openSettled()
  close()
  await after(60)
  assert.equal(take().at(-1), 'register 0')
  hub.wake()
  await after(60)
  assert.deepEqual(take(), [])
  await openSettled()
})
