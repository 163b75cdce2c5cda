// Answers of a source that the scheduled Worker of `@activity-rank/sync` stores in KV, and its operations.

import assert from 'node:assert/strict'
import { it } from 'node:test'

import { Pages } from '../../sdk/sync/pages.js'

const STARTED = 1
const answer = (body) => ({ status: 200, headers: /** @type {[string, string][]} */ ([]), body })

/** Returns a namespace of KV that counts its operations. */
function namespace() {
  const values = new Map()
  const kv = {
    values,
    gets: 0,
    puts: 0,
    async get(key) {
      kv.gets += 1
      return JSON.parse(values.get(key) ?? 'null')
    },
    async put(key, value, { expirationTtl }) {
      kv.puts += 1
      assert.equal(expirationTtl, 86_400)
      // The limit of a value.
      assert.ok(Buffer.byteLength(value) <= 25 * 2 ** 20)
      values.set(key, value)
    },
  }
  return kv
}

const operations = ({ gets, puts }) => ({ gets, puts })

it('2,000 answers need one value', async () => {
  const kv = namespace()
  const keys = Array.from({ length: 2000 }, (_, number) => `key ${number}`)
  const pages = new Pages(kv, STARTED)
  for (const key of keys) {
    assert.equal(await pages.take(key), undefined)
    await pages.add(key, answer(key))
  }
  await pages.store()
  assert.deepEqual(operations(kv), { gets: 1, puts: 1 })
  const next = new Pages(kv, STARTED)
  for (const key of keys) assert.deepEqual(await next.take(key), answer(key))
  assert.equal(await next.take('other'), undefined)
  assert.deepEqual(operations(kv), { gets: 3, puts: 1 })
})

it('values stay below the limit of KV', async () => {
  const kv = namespace()
  const page = answer('ü'.repeat(1_900_000))
  const pages = new Pages(kv, STARTED)
  for (const key of ['a', 'b', 'c']) {
    await pages.take(key)
    await pages.add(key, page)
  }
  await pages.store()
  assert.deepEqual([...kv.values.keys()], ['1/0', '1/1'])
  const next = new Pages(kv, STARTED)
  for (const key of ['c', 'a', 'b']) assert.deepEqual(await next.take(key), page)
  assert.deepEqual(operations(kv), { gets: 3, puts: 2 })
})

it('answers of a minute are stored', async (t) => {
  t.mock.timers.enable({ apis: ['Date'] })
  const kv = namespace()
  const pages = new Pages(kv, STARTED)
  for (let second = 0; second < 720; second++) {
    t.mock.timers.setTime(second * 1000)
    await pages.take(`${second}`)
    await pages.add(`${second}`, answer('page'))
  }
  await pages.store()
  assert.deepEqual(operations(kv), { gets: 1, puts: 12 })
})

it('equal requests have the answers in their order', async () => {
  const kv = namespace()
  const pages = new Pages(kv, STARTED)
  await pages.add('key', answer('first'))
  await pages.add('key', answer('second'))
  await pages.store()
  const next = new Pages(kv, STARTED)
  assert.deepEqual(await next.take('key'), answer('first'))
  assert.deepEqual(await next.take('key'), answer('second'))
  assert.equal(await next.take('key'), undefined)
})

it('another run of the source has no answers', async () => {
  const kv = namespace()
  const pages = new Pages(kv, STARTED)
  await pages.add('key', answer('page'))
  await pages.store()
  assert.equal(await new Pages(kv, STARTED + 1).take('key'), undefined)
})

it('invocation ends before the limit of KV', async (t) => {
  t.mock.timers.enable({ apis: ['Date'] })
  const kv = namespace()
  // The state of the run is read and written besides.
  const pages = new Pages(kv, STARTED, 2)
  let added = 0
  while (pages.hasRoom) {
    await pages.take(`${added}`)
    t.mock.timers.tick(61_000)
    await pages.add(`${added}`, answer('page'))
    added += 1
  }
  await pages.store()
  assert.equal(added, 995)
  assert.deepEqual(operations(kv), { gets: 1, puts: 995 })
  await assert.rejects(new Pages(kv, STARTED, 2).take('none'), /needs more than 1000 operations of KV/)
  assert.deepEqual(operations(kv), { gets: 996, puts: 995 })
})
