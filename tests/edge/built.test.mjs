// The built Worker: a panic rejects the pending requests, and a new wasm instance serves the next ones.

import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { it } from 'node:test'

// The platform provides the wasm as a compiled module.
const WASM = new URL('../../build/index_bg.wasm', import.meta.url)
const COMPILED = `data:text/javascript,
  import { readFileSync } from 'node:fs';
  export default new WebAssembly.Module(readFileSync(new URL('${WASM}')))`
// The platform provides its own functions.
const PLATFORM = 'data:text/javascript,export const waitUntil = () => {}'
const modules = { './index_bg.wasm': COMPILED, 'cloudflare:workers': PLATFORM }
registerHooks({
  resolve: (name, context, next) =>
    name in modules ? { url: modules[name], shortCircuit: true } : next(name, context),
})
// Rust tasks run in microtasks, where the trap that follows a panic has no caller: workerd logs it, node would exit.
const { queueMicrotask } = globalThis
globalThis.queueMicrotask = (task) =>
  queueMicrotask(() => {
    try {
      task()
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error
    }
  })
const { default: worker } = await import(new URL('../../build/index.js', import.meta.url).href)

const env = { UPSTASH_REDIS_REST_URL: 'https://store.example', UPSTASH_REDIS_REST_TOKEN: 'a-token' }
const context = { waitUntil: (work) => work.catch(() => {}) }
const get = (path) => worker.fetch(new Request(`https://rank.example${path}`), env, context)

it('trap in a job rejects pending requests and is recovered', async (t) => {
  // A store that hangs at first, then returns the id of a user as their name.
  const hanging = []
  const profile = ([command, , user]) => ({ result: command === 'HMGET' ? [`{"name":"${user}"}`, null] : null })
  const store = t.mock.method(globalThis, 'fetch', () => new Promise((respond) => hanging.push(respond)))
  const instances = t.mock.method(WebAssembly, 'Instance')

  const lost = [get('/v1/users/ada'), get('/v1/users/eve')]
  await t.waitFor(() => assert.equal(hanging.length, 2))
  // Nothing that the platform passes causes a trap, but a batch whose messages cannot be read ends the wasm as one does.
  const broken = {
    get messages() {
      throw new Error('no messages')
    },
  }
  await assert.rejects(worker.queue(broken, env, context), /no messages/)
  for (const response of lost) await assert.rejects(response, /no messages/)
  assert.equal(instances.mock.callCount(), 0)

  store.mock.mockImplementation(async (_, { body }) => Response.json(JSON.parse(body).map(profile)))
  const responses = await Promise.all([get('/v1/users/bob'), get('/v1/users/joe')])
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 200],
  )
  assert.deepEqual(await Promise.all(responses.map((response) => response.json())), [
    { id: 'bob', name: 'bob' },
    { id: 'joe', name: 'joe' },
  ])
  assert.equal(instances.mock.callCount(), 1)
})
