// Subscriptions of the unmodified package @upstash/redis against the gateway.

import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { after, before, it } from 'node:test'

import { Redis } from '@upstash/redis'

import { scaled } from './slowness.mjs'
import { startGateway } from './support.mjs'

let gateway
let redis

before(async () => {
  gateway = await startGateway()
  redis = new Redis({ url: gateway.url, token: gateway.token })
})

after(() => gateway?.stop())

/** Returns a function that waits for the subscriber's next event of a name. */
function eventsOf(subscriber, ...names) {
  const events = new EventEmitter()
  for (const name of names) subscriber.on(name, (event) => events.emit(name, event))
  return (name) => once(events, name).then(([event]) => event)
}

it('channel message arrives with its object', { timeout: scaled(60_000) }, async () => {
  const subscriber = redis.subscribe(['news', 'weather'])
  const next = eventsOf(subscriber, 'subscribe', 'message')
  await next('subscribe')
  while ((await redis.exec(['PUBSUB', 'NUMSUB', 'news', 'weather'])).filter((count) => count === 1).length < 2);
  const message = next('message')
  assert.equal(await redis.publish('weather', { sky: 'clear, blue' }), 1)
  assert.deepEqual(await message, { channel: 'weather', message: { sky: 'clear, blue' } })
  await subscriber.unsubscribe()
})

it('pattern message arrives with its channel', { timeout: scaled(60_000) }, async () => {
  const subscriber = redis.psubscribe('room:*')
  const next = eventsOf(subscriber, 'psubscribe', 'pmessage')
  await next('psubscribe')
  const message = next('pmessage')
  await redis.publish('room:1', { text: 'hello' })
  assert.deepEqual(await message, { pattern: 'room:*', channel: 'room:1', message: { text: 'hello' } })
  await subscriber.unsubscribe()
})
