// Events and host calls between the platform and the wasm: src/platform/bridge.js.

import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { beforeEach, it, mock } from 'node:test'

// The exports of the wasm that the bridge calls.
const wasm = { __wbg_reset_state: mock.fn(), dropEvent: mock.fn(), settle: mock.fn(), fail: mock.fn() }
globalThis.wasmOfBridge = wasm
const exported = Object.keys(wasm).map((name) => `export const ${name} = (...a) => wasmOfBridge.${name}(...a)`)
const url = `data:text/javascript,${exported.join(';')}`
registerHooks({
  resolve: (name, context, next) => (name === 'wasm' ? { url, shortCircuit: true } : next(name, context)),
})
const bridge = await import(new URL('../../src/platform/bridge.js', import.meta.url).href)

const env = {}
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
const argumentsOf = (called) => called.mock.calls.map((call) => call.arguments)

beforeEach(() => {
  for (const called of Object.values(wasm)) {
    called.mock.resetCalls()
    called.mock.mockImplementation(() => {})
  }
})

/** Starts an event that waits until the test finishes it. */
function start() {
  let number
  const result = bridge.run(env, (own) => {
    number = own
  })
  result.catch(() => {})
  return { result, finish: (text) => bridge.finish(number, text) }
}

/** Starts host calls of the store; returns functions that respond to them. */
function startPosts(t, ...numbers) {
  const store = []
  t.mock.method(globalThis, 'fetch', () => new Promise((resolve, reject) => store.push({ resolve, reject })))
  for (const number of numbers) bridge.startPost(number, 0, 'https://store.example', 'Bearer t', 1000, '[]')
  return store
}

it('event ends with the text that finishes it', async () => {
  const [first, second] = [start(), start()]
  second.finish('second')
  first.finish('first')
  assert.deepEqual(await Promise.all([first.result, second.result]), ['first', 'second'])
  assert.equal(wasm.__wbg_reset_state.mock.callCount(), 0)
})

it('event may finish while it is started', async () => {
  assert.equal(await bridge.run(env, (number) => bridge.finish(number, 'at once')), 'at once')
})

it('unfinished request is dropped after two minutes', async (t) => {
  t.mock.timers.enable({ apis: ['Date'] })
  let lost
  bridge.run(env, (number) => {
    lost = number
  })
  let job
  const cron = bridge.runJob(env, (number) => {
    job = number
  })
  t.mock.timers.tick(60_000)
  const young = start()
  assert.deepEqual(argumentsOf(wasm.dropEvent), [])
  t.mock.timers.tick(60_000)
  start().finish('next')
  start().finish('last')
  assert.deepEqual(argumentsOf(wasm.dropEvent), [[lost]])
  young.finish('young')
  assert.equal(await young.result, 'young')
  bridge.finish(job, '')
  await cron
})

it('host calls settle by number in any order', async (t) => {
  const store = startPosts(t, 7, 8)
  store[1].resolve(new Response('busy', { status: 503 }))
  await nextTurn()
  store[0].resolve(new Response('[]'))
  await nextTurn()
  assert.deepEqual(argumentsOf(wasm.settle), [
    [8, 503, 'busy'],
    [7, 200, '[]'],
  ])
  assert.deepEqual(argumentsOf(wasm.fail), [])
})

it('host call fails with its cause', async (t) => {
  const store = startPosts(t, 9)
  store[0].reject(new Error('connect failed: https://store.example'))
  await nextTurn()
  assert.deepEqual(argumentsOf(wasm.fail), [[9, 'connect failed']])
  assert.deepEqual(argumentsOf(wasm.settle), [])
})

it('panic rejects pending events and resets once', async (t) => {
  const done = start()
  done.finish('response')
  assert.equal(await done.result, 'response')
  const pending = [start(), start(), start()]
  const store = startPosts(t, 10)
  bridge.panicked('index out of bounds')
  for (const { result } of pending) await assert.rejects(result, { message: 'index out of bounds' })
  assert.equal(wasm.__wbg_reset_state.mock.callCount(), 0)

  const [next, last] = [start(), start()]
  assert.equal(wasm.__wbg_reset_state.mock.callCount(), 1)
  // A late result of the lost instance reaches neither the wasm nor an event.
  pending[0].finish('late')
  store[0].resolve(new Response('[]'))
  await nextTurn()
  assert.deepEqual(argumentsOf(wasm.settle), [])
  next.finish('next')
  last.finish('last')
  assert.deepEqual(await Promise.all([next.result, last.result]), ['next', 'last'])
  assert.equal(wasm.__wbg_reset_state.mock.callCount(), 1)
})

it('trap in a host call rejects pending events', async (t) => {
  wasm.settle.mock.mockImplementation(() => {
    throw new WebAssembly.RuntimeError('unreachable')
  })
  const { result } = start()
  const store = startPosts(t, 11)
  store[0].resolve(new Response('[]'))
  await assert.rejects(result, { message: 'unreachable' })
  start().finish('next')
  assert.equal(wasm.__wbg_reset_state.mock.callCount(), 1)
})

it('trap in an event rejects it', async () => {
  const thrown = bridge.run(env, () => {
    throw new WebAssembly.RuntimeError('unreachable')
  })
  await assert.rejects(thrown, { message: 'unreachable' })
})
