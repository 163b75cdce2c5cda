// The Worker as it is built: a panic costs those who wait, and a new instance takes over.

import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { it } from 'node:test'

// As the platform hands it over: compiled.
const FILE = new URL('../../build/index_bg.wasm', import.meta.url)
const COMPILED = `data:text/javascript,
  import { readFileSync } from 'node:fs';
  export default new WebAssembly.Module(readFileSync(new URL('${FILE}')))`
registerHooks({
  resolve: (name, context, next) => (name === './index_bg.wasm' ? { url: COMPILED, shortCircuit: true } : next(name, context)),
})
const { default: worker } = await import('../../build/index.js')

const env = { UPSTASH_REDIS_REST_URL: 'https://store.example', UPSTASH_REDIS_REST_TOKEN: 'a-token' }
const turn = () => new Promise((next) => setImmediate(next))
const ask = (path) => worker.fetch(new Request(`https://rank.example${path}`), env, {})

it('a panic rejects who waits, and the next request is answered by another instance', async (t) => {
  // A store that answers when the test says so.
  const store = []
  t.mock.method(globalThis, 'fetch', (_, { body }) => new Promise((answer) => store.push({ body, answer })))
  const profile = (name) => Response.json([{ result: null }, { result: name && `{"name":"${name}"}` }, { result: null }])
  const instances = t.mock.method(WebAssembly, 'Instance')

  const lost = [ask('/v1/users/ada'), ask('/v1/users/eve')]
  await turn()
  assert.equal(store.length, 2)
  // Nothing of ours panics when it is asked to: what the wasm calls throws, which leaves it as a
  // panic does, at any place.
  const log = t.mock.method(console, 'error', () => {
    throw new Error('unreachable')
  })
  store[0].answer(new Response('', { status: 500 }))
  for (const answer of lost) await assert.rejects(answer, { message: 'unreachable' })
  log.mock.restore()
  assert.equal(instances.mock.callCount(), 1)

  const next = [ask('/v1/users/bob'), ask('/v1/users/joe')]
  await turn()
  // Late, and of the number that Joe's request has now.
  store[1].answer(profile('Eve'))
  await turn()
  store[3].answer(profile('Joe'))
  store[2].answer(profile('Bob'))
  const answers = await Promise.all(next)
  assert.deepEqual(answers.map(({ status }) => status), [200, 200])
  const bodies = await Promise.all(answers.map((answer) => answer.json()))
  assert.deepEqual(bodies, [{ id: 'bob', name: 'Bob' }, { id: 'joe', name: 'Joe' }])
  assert.equal(instances.mock.callCount(), 1)
})
