// Waking the objects of live boards: src/platform/wake.js.

import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { beforeEach, it, mock } from 'node:test'

const modules = {
  wasm: 'export const __wbg_reset_state = 0, dropEvent = 0, fail = 0, settle = 0, receive = (...call) => receives(...call)',
  'cloudflare:workers': 'export const waitUntil = (promise) => waiting.push(promise)',
}
registerHooks({
  resolve: (name, context, next) =>
    name in modules ? { url: `data:text/javascript,${modules[name]}`, shortCircuit: true } : next(name, context),
})
const load = (name) => import(new URL(`../../src/platform/${name}.js`, import.meta.url).href)
const { finish, run } = await load('bridge')
const { post } = await load('coalesce')
const { wakeAll, wakeBoards, wakeReceivers } = await load('wake')

const SECOND = 1000
const DAY = 'd:2026-11-20'
/** The names of the objects that were woken. */
let woken
let object
let elapsed = 0

run({ LIVE: { idFromName: (name) => name, get: (name) => ({ fetch: () => object(name) }) } }, () => {})

beforeEach(() => {
  mock.reset()
  mock.timers.reset()
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now: (elapsed += 100 * SECOND) })
  globalThis.waiting = []
  woken = []
  object = async (name) => woken.push(name)
})

async function after(milliseconds) {
  mock.timers.tick(milliseconds)
  await new Promise((resolve) => setImmediate(resolve))
}

it('burst of changes wakes at once and once more', async () => {
  wakeBoards(DAY)
  await after(0)
  for (let change = 0; change < 10; change++) wakeBoards(DAY)
  await after(0)
  assert.deepEqual(woken, ['d/'])
  await after(SECOND)
  assert.deepEqual(woken, ['d/', 'd/'])
  await after(10 * SECOND)
  assert.equal(woken.length, 2)
})

it('each board is woken by its own name', async () => {
  wakeBoards(`${DAY} w:2026-W47:eu a:all:eu:1 a:all`)
  await after(0)
  assert.deepEqual(woken, ['d/', 'w/eu', 'a/eu:1', 'a/'])
})

it('constant changes wake once a second', async () => {
  for (let step = 0; step < 50; step++) {
    wakeBoards(DAY)
    await after(SECOND / 10)
  }
  assert.ok(woken.length >= 5 && woken.length <= 6, `${woken.length}`)
})

it('burst of changes of a shard is received twice', async () => {
  const started = []
  globalThis.receives = (event, shard) => {
    started.push(shard)
    finish(event, '')
  }
  const change = () => [0, 3].map((shard) => wakeReceivers(shard))
  change()
  await after(0)
  for (let count = 0; count < 10; count++) change()
  await after(0)
  assert.deepEqual(started, [0, 3])
  await after(10 * SECOND)
  assert.deepEqual(started, [0, 3, 0, 3])
})

it('wake-up of a destroyed request is replaced', async (t) => {
  wakeBoards(DAY)
  await after(0)
  // The timer of the request that would wake the object never fires.
  const timers = t.mock.method(globalThis, 'setTimeout', () => 0)
  wakeBoards(DAY)
  timers.mock.restore()
  await after(3 * SECOND)
  assert.equal(woken.length, 1)
  wakeBoards(DAY)
  await after(0)
  assert.equal(woken.length, 2)
})

it('failed wake-up is logged at debug', async (t) => {
  const log = t.mock.method(console, 'debug', () => {})
  object = () => Promise.reject(new Error('gone'))
  wakeBoards(DAY)
  await after(0)
  await Promise.all(globalThis.waiting)
  assert.deepEqual(JSON.parse(log.mock.calls[0].arguments[0]), { level: 'debug', cause: 'LIVE: gone' })
})

it('wake-up of all reads the registered boards', async (t) => {
  const now = Date.now() / SECOND
  const registered = `${DAY} ${now + 1} w:2026-W47 ${now - 1} a:all:eu ${now + 1}`
  const store = t.mock.method(globalThis, 'fetch', async () => Response.json([{ result: registered }]))
  await post('https://store.example', 'Bearer t', SECOND, '[]', false)
  wakeAll('[["HGET","f"]]')
  await Promise.all(globalThis.waiting)
  await after(SECOND)
  assert.equal(store.mock.calls[1].arguments[1].body, '[["HGET","f"]]')
  assert.deepEqual(woken, ['d/', 'a/eu'])
})
