// The bridge of the events that most requests are: bridge.rs is its other half and says why it exists.
//
// An event enters the wasm with a number and leaves it by `finish`. An operation of the platform that
// Rust awaits is a host call: it has a number too, to which its result is passed.

import { __wbg_reset_state, dropEvent, fail, settle } from 'wasm'
import { find } from '../cache/edge.js'
import { commandsOf, post } from './coalesce.js'
import { verify } from './crypto.js'
import { allow } from './rate_limit.js'

/** @import { Facts } from './analytics.js' */
/** @typedef {{ resolve(result: any): void, reject(error: unknown): void, due: number, size: number, facts?: Facts }} Pending */

/** @type {Map<number, Pending>} the events that have not finished, oldest first */
const pending = new Map()
let lastEvent = 0

// After a panic the wasm's memory may be inconsistent: no response is made from it, and the next
// event gets a new instance. A result for an instance that is gone is dropped.
let instance = 0
let isResetDue = false

// Nothing reports that the platform destroyed the context of a request, which then never resumes. It does so 30 seconds
// after the client has gone.
const MAX_AGE = 120_000

// Requests whose clients have gone are finished too, as long as the store takes. Without a bound, clients that send arrays
// and go away fill the memory: the wasm takes several times the size of a body.
const MAX_WORK = 2 * 1024 * 1024 // characters of the pending requests
const MAX_WAIT = 5000 // milliseconds
const POLL = 20 // milliseconds
let work = 0

/** @type {Env} the same for as long as an isolate lives */
let environment

/** Returns the variables and bindings. */
export const env = () => environment

/**
 * Waits until there is room for a request with a body of so many characters, and returns whether there is. The platform
 * ends the request if its client goes away meanwhile.
 */
export async function hasRoom(/** @type {number} */ size) {
  const end = Date.now() + MAX_WAIT
  while (work > 0 && work + size > MAX_WORK) {
    if (Date.now() >= end) return false
    // Nothing reports that the context of a request was destroyed: no request hands its room over to another one.
    await new Promise((resolve) => setTimeout(resolve, POLL))
    dropDue(Date.now())
  }
  return true
}

/**
 * Runs an event and returns the text that the wasm finishes it with. The wasm drops an event that has not finished
 * after two minutes.
 *
 * @param {Env} env
 * @param {(number: number) => void} event calls the wasm with the number of the event
 * @param {Facts} [facts] receives the requests to the store
 * @param {number} [size] characters of the request
 * @returns {Promise<string>} rejected if the wasm panics
 */
export function run(env, event, facts, size = 0) {
  const now = Date.now()
  dropDue(now)
  return start(env, event, now + MAX_AGE, facts, size)
}

/**
 * @param {Env} env
 * @param {(number: number) => void} event
 * @param {number} due
 * @param {Facts} [facts]
 * @param {number} [size]
 */
function start(env, event, due, facts, size = 0) {
  environment ??= env
  if (isResetDue) {
    isResetDue = false
    __wbg_reset_state()
  }
  return new Promise((resolve, reject) => {
    const number = ++lastEvent
    pending.set(number, { resolve, reject, due, size, facts })
    work += size
    enter(() => event(number))
  })
}

/**
 * Runs an event that no client waits for, as {@link run} does; the wasm never drops it.
 *
 * @param {Env} env
 * @param {(number: number) => void} event
 */
export async function runJob(env, event) {
  await start(env, event, Infinity)
}

// Drops the requests that are never going to finish.
function dropDue(now) {
  for (const [number, { due }] of pending) {
    if (due === Infinity) continue
    if (due > now) break
    end(number)
    enter(() => dropEvent(number))
  }
}

/** Ends an event; called by the wasm. */
export function finish(number, text) {
  end(number)?.resolve(text)
}

function end(number) {
  const event = pending.get(number)
  if (pending.delete(number)) work -= event?.size ?? 0
  return event
}

/** Rejects the pending events; called by the panic hook. */
export function panicked(message) {
  crash(new Error(message))
}

function crash(error) {
  if (isResetDue) return
  instance += 1
  isResetDue = true
  for (const { reject } of pending.values()) reject(error)
  pending.clear()
  work = 0
}

// Calls the wasm. It throws after a panic, and for a trap such as a stack overflow.
function enter(call) {
  try {
    call()
  } catch (error) {
    crash(error)
  }
}

/**
 * Returns a function that starts an operation as a host call.
 *
 * @template {any[]} Arguments
 * @template Result
 * @param {(...parameters: Arguments) => Promise<Result>} operation rejects with an `Error` or a text
 * @param {(result: Result) => [number: number, text: string]} toReply
 */
function hostCall(operation, toReply) {
  return (/** @type {number} */ number, /** @type {Arguments} */ ...parameters) => {
    const started = instance
    operation(...parameters).then(
      (result) => {
        if (started === instance) enter(() => settle(number, ...toReply(result)))
      },
      (error) => {
        if (started === instance) enter(() => fail(number, String(error?.message ?? error)))
      },
    )
  }
}

export const startPost = hostCall(postOf, ({ status, body }) => [status, body])

// Sends a pipeline of an event.
function postOf(/** @type {number} */ event, /** @type {Parameters<typeof post>} */ ...parameters) {
  const facts = pending.get(event)?.facts
  return facts ? measured(facts, parameters) : post(...parameters)
}

async function measured(/** @type {Facts} */ facts, /** @type {Parameters<typeof post>} */ parameters) {
  const sent = Date.now()
  facts.requests += 1
  facts.commands += commandsOf(parameters[3])
  try {
    return await post(...parameters)
  } finally {
    facts.milliseconds += Date.now() - sent
  }
}

export const startFind = hostCall(find, (entry) => (entry ? [entry.made, entry.body] : [NaN, '']))

export const startAllow = hostCall(
  (binding, key, calls) => allow(environment, binding, key, calls),
  (isAllowed) => [Number(isAllowed), ''],
)

export const startVerify = hostCall(verify, (isValid) => [Number(isValid), ''])

export const startWait = hostCall(
  (/** @type {number} */ milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  () => [0, ''],
)
