// Coalesces requests to the store: those that the requests of one isolate send at the same time go together.
//
// A request to the store costs more than 100 µs of processor time, whatever it carries. While MAX_UNDER_WAY are under
// way, further pipelines are gathered, and sent as one when a request ends, when there are MAX_PIPELINES, or after
// MAX_WAIT. A longer request would let the isolate wait for the store, and then the store for the isolate.
//
// Only plain values may pass between the contexts of requests. The request that begins to gather, the leader, sends the
// pipelines, and passes the others, its followers, their part of the response. A follower has a timer of its own: the
// platform aborts a request with nothing pending, and does not report that a leader's context was destroyed. For the
// same reason a request counts as under way until its deadline at most.
//
// A promise that another request resolves must come from `Promise.withResolvers`. The platform stores in a promise to
// which request it belongs, and continues there; the code that V8 optimizes `new Promise` to does not, so the request
// would continue in the wrong context and fail.

import { send } from './store.js'

const MAX_UNDER_WAY = 1
const MAX_WAIT = 5 // milliseconds of the leader; a follower waits twice as long to be sent
const MAX_PIPELINES = 8
// In UTF-16 code units of at most 3 bytes: the others would wait for a longer one, and Upstash allows 1 MB for all.
const MAX_PIPELINE_LENGTH = 16 * 1024

const TOO_LARGE = 413
const TIMED_OUT = 'The operation was aborted due to timeout' // the message of `AbortSignal.timeout`

/** @typedef {{ status: number, body: string }} Reply */
/** @typedef {{ body: string, resolve(outcome: Reply | { cause: string } | null): void }} Follower */
/**
 * @typedef {object} Batch
 * @property {string} target the URL, authorization and timeout
 * @property {Set<Follower>} followers
 * @property {boolean} isSent
 * @property {() => void} depart lets the leader send it
 */

/** @type {Set<{ due: number }>} the requests under way, oldest first */
const underWay = new Set()
/** @type {Batch | null} the pipelines that wait for a request under way */
let gathering = null

/** @type {[url: string, authorization: string, timeout: number] | undefined} of the last pipeline: an isolate has one store */
let store

function isBusy(now) {
  for (const lease of underWay) {
    if (lease.due > now) break
    underWay.delete(lease)
  }
  return underWay.size >= MAX_UNDER_WAY
}

/**
 * Sends a pipeline and reads the complete response.
 *
 * @param {string} url
 * @param {string} authorization
 * @param {number} timeout in milliseconds, for the complete response
 * @param {string} body
 * @param {boolean} mayCoalesce
 * @returns {Promise<Reply>}
 * @throws {string} the cause, without secrets
 */
export function post(url, authorization, timeout, body, mayCoalesce) {
  store = [url, authorization, timeout]
  if (!mayCoalesce || body.length > MAX_PIPELINE_LENGTH) return send(url, authorization, timeout, body)
  const now = Date.now()
  const target = `${timeout} ${authorization} ${url}`
  const request = { url, authorization, due: now + timeout, body }
  if (!gathering) return isBusy(now) ? lead(request, target) : sendLeased(request)
  return gathering.target === target ? follow(gathering, request) : sendLeased(request)
}

/**
 * Sends a pipeline to the store of the last one, without the wasm.
 *
 * @param {string} body
 * @returns {Promise<string>} the response
 * @throws {Error | string} the cause, without secrets
 */
export async function sendPipeline(body) {
  if (!store) throw new Error('no store is known')
  const { status, body: text } = await send(...store, body)
  if (status !== 200) throw new Error(`the store responded ${status}`)
  return text
}

async function sendLeased({ url, authorization, due, body }) {
  const lease = { due }
  underWay.add(lease)
  try {
    return await send(url, authorization, Math.max(due - Date.now(), 0), body)
  } finally {
    underWay.delete(lease)
    if (underWay.size < MAX_UNDER_WAY) gathering?.depart()
  }
}

async function lead(request, target) {
  const { promise, resolve: depart } = /** @type {PromiseWithResolvers<void>} */ (Promise.withResolvers())
  const batch = { target, followers: new Set(), isSent: false, depart }
  gathering = batch
  const timer = setTimeout(depart, MAX_WAIT)
  await promise
  clearTimeout(timer)
  if (gathering === batch) gathering = null
  batch.isSent = true
  const followers = [...batch.followers]
  if (followers.length === 0) return sendLeased(request)
  const pipelines = [request, ...followers].map(({ body }) => body)
  try {
    const body = `[${pipelines.map((pipeline) => pipeline.slice(1, -1)).join()}]`
    const { status, body: text } = await sendLeased({ ...request, body })
    if (status === TOO_LARGE) {
      for (const { resolve } of followers) resolve(null)
      return sendLeased(request)
    }
    const [own, ...parts] = split(text, pipelines)
    for (const [index, { resolve }] of followers.entries()) resolve({ status, body: parts[index] })
    return { status, body: own }
  } catch (cause) {
    for (const { resolve } of followers) resolve({ cause })
    throw cause
  }
}

async function follow(batch, request) {
  const { promise, resolve } = Promise.withResolvers()
  const follower = { body: request.body, resolve }
  batch.followers.add(follower)
  if (batch.followers.size + 1 === MAX_PIPELINES) {
    gathering = null
    batch.depart()
  }
  let timer = setTimeout(() => {
    if (batch.isSent) {
      timer = setTimeout(() => resolve({ cause: TIMED_OUT }), request.due - Date.now())
      return
    }
    // The leader's context is gone.
    if (gathering === batch) gathering = null
    batch.followers.delete(follower)
    resolve(null)
  }, 2 * MAX_WAIT)
  const outcome = await promise
  clearTimeout(timer)
  if (outcome === null) return sendLeased(request)
  if ('cause' in outcome) throw outcome.cause
  return outcome
}

// Neither pattern matches inside a string: its quotation mark would end the string, and no letter follows that. All
// arguments of commands are strings, and results contain no objects.
const COMMAND = /\["[A-Za-z]/g
const RESULT = /\{\s*"(?:result|error)"/g

/** Returns the number of commands of a pipeline. */
export const commandsOf = (pipeline) => pipeline.match(COMMAND)?.length ?? 0

/**
 * Returns the part of a response for each pipeline, as JSON. A response that is not a list of their results is
 * returned to each as it is.
 */
function split(text, pipelines) {
  const starts = []
  for (RESULT.lastIndex = 0; RESULT.test(text); ) starts.push(text.lastIndexOf('{', RESULT.lastIndex))
  const counts = pipelines.map(commandsOf)
  const total = counts.reduce((sum, count) => sum + count)
  if (starts.length !== total) return pipelines.map(() => text)
  let first = 0
  return counts.map((count) => {
    const [start, next] = [starts[first], starts[(first += count)]]
    const end = next === undefined ? text.lastIndexOf(']') : text.lastIndexOf(',', next)
    return `[${text.slice(start, end)}]`
  })
}
