// Wakes the objects of live boards that have changed, and the reader of what others receive: at most once a second for a
// board or shard and isolate, at once and again after the last change. If it fails, the object finds the change by its next
// check, and cron runs the reader. `refusals.js` writes in the same way.

import { waitUntil } from 'cloudflare:workers'
import { receive } from 'wasm'
import { env, run } from './bridge.js'
import { sendPipeline } from './coalesce.js'

const SECOND = 1000
const MAX_OBJECTS = 200

/**
 * By name of the object, number of the shard, or another key: when it was last woken, and when a request is going to wake
 * it (0 for none). Only plain values may pass between requests: a wake-up belongs to the request whose timer it waits for.
 * Another one takes its place if the platform has destroyed that request.
 *
 * @type {Map<string | number, { woken: number, due: number }>}
 */
const objects = new Map()

/**
 * Wakes the objects of boards.
 *
 * @param {string} names such as `d:2026-11-20 w:2026-W47:eu`
 */
export function wakeBoards(names) {
  for (const name of names.split(' ')) wakeBoard(name.replace(/:[^:]*:?/, '/'))
}

/**
 * Wakes the objects of all boards that someone watches.
 *
 * @param {string} request the body of a request to the store that reads them
 */
export function wakeAll(request) {
  const woken = sendPipeline(request).then((text) => {
    const [{ result }] = JSON.parse(text)
    for (const [, name, expiry] of (result ?? '').matchAll(/(\S+) (\d+)/g)) {
      if (Number(expiry) * SECOND > Date.now()) wakeBoards(name)
    }
  })
  waitUntil(woken.catch(logFailure))
}

/**
 * Gives others what they receive by the stream of a shard.
 *
 * @param {number} shard
 */
export function wakeReceivers(shard) {
  wake(shard, () => run(env(), (event) => receive(event, shard)))
}

function wakeBoard(name) {
  wake(name, async () => {
    const { LIVE } = env()
    await LIVE.get(LIVE.idFromName(name)).fetch('https://live/', { method: 'POST' })
  })
}

/**
 * Runs a function soon after the response, and again for what happens until it runs: at most once a second.
 *
 * @param {string | number} key
 * @param {() => Promise<unknown>} task
 */
export function wake(key, task) {
  const now = Date.now()
  if (objects.size > MAX_OBJECTS) objects.clear()
  const object = objects.get(key) ?? { woken: 0, due: 0 }
  objects.set(key, object)
  // The wake-up that is due follows this change.
  if (object.due + SECOND > now) return
  object.due = Math.max(now, object.woken + SECOND)
  waitUntil(wakeAfter(object.due - now, object, task).catch(logFailure))
}

async function wakeAfter(delay, object, task) {
  // Also without a delay after the wasm has returned, which `task` may enter again.
  await new Promise((resolve) => setTimeout(resolve, Math.max(delay, 0)))
  object.due = 0
  object.woken = Date.now()
  await task()
}

function logFailure(error) {
  console.debug(JSON.stringify({ level: 'debug', cause: `LIVE: ${error?.message ?? error}` }))
}
