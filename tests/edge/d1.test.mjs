// The deadline of databases: src/platform/d1.js.

import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { it, mock } from 'node:test'

const wasm = 'export const __wbg_reset_state = 0, dropEvent = 0, fail = 0, settle = 0, receive = 0'
const stubs = { wasm, 'cloudflare:workers': 'export const waitUntil = 0' }
registerHooks({
  resolve: (name, context, next) =>
    name in stubs ? { url: `data:text/javascript,${stubs[name]}`, shortCircuit: true } : next(name, context),
})
const load = (name) => import(new URL(`../../src/platform/${name}.js`, import.meta.url).href)
const [{ run: start }, { run }] = [await load('bridge'), await load('d1')]

it('hanging database fails in time, then at once', async () => {
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_000_000 })
  const statements = JSON.stringify([{ sql: 'SELECT ?1', values: [7] }])
  const batch = mock.fn(async () => [{ results: [{ a: 7 }] }])
  const database = { prepare: () => ({ bind: () => ({}) }), batch }
  start({ JOURNAL: database, ARCHIVE: database }, () => {})
  batch.mock.mockImplementationOnce(() => new Promise(() => {}))
  const hanging = assert.rejects(run('JOURNAL', statements, 5000), { message: 'did not respond within 5000 ms' })
  mock.timers.tick(5000)
  await hanging
  await assert.rejects(run('JOURNAL', statements, 5000), { message: 'did not respond in time a moment ago' })
  assert.equal(batch.mock.callCount(), 1)
  assert.equal(await run('ARCHIVE', statements, 5000), '[[7]]')
  mock.timers.tick(10_000)
  assert.equal(await run('JOURNAL', statements, 5000), '[[7]]')
})
