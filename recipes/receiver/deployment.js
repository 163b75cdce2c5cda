// The deployment that counts: one client for each delivery.

/** @import { Changes, Env, MemberChange, Undo } from './types.js' */
/** @import { Activity, ActivityResult } from '@activity-rank/server' */

import { ApiError, Client, ConnectionError } from '@activity-rank/server'

import { Problem } from './problem.js'

const RETRY_AFTER = 60 // seconds, if the deployment names none

/**
 * Returns a client of the deployment that is bound as `RANK`, or else of `ACTIVITY_RANK_URL`.
 * @param {Env} env
 */
export function connect({ RANK, ACTIVITY_RANK_URL, ACTIVITY_RANK_KEY }) {
  if (!ACTIVITY_RANK_KEY) throw new Problem('misconfigured', 'The secret ACTIVITY_RANK_KEY is not set.')
  const retry = { attempts: 1 } // the source sends again
  if (!RANK && !ACTIVITY_RANK_URL) throw new Problem('misconfigured', 'Neither RANK nor ACTIVITY_RANK_URL is set.')
  const fetch = RANK && ((/** @type {[any, any]} */ ...request) => RANK.fetch(...request))
  // The host of the URL does not matter to a service binding.
  const url = RANK ? 'https://activity-rank' : String(ACTIVITY_RANK_URL)
  try {
    return new Client({ url, key: ACTIVITY_RANK_KEY, fetch, retry })
  } catch {
    throw new Problem('misconfigured', 'ACTIVITY_RANK_URL is not a URL, or ACTIVITY_RANK_KEY has white space.')
  }
}

/**
 * Sends targets and profiles, then the activities, which need the targets to give them points, then the undos, then what
 * happens to members. Returns the results of activities and undos. Throws a `Problem` if the delivery should be sent again, and an `ApiError` if the deployment refuses it.
 * @param {Client} client
 * @param {Changes} changes
 * @param {number} timeout ms
 * @returns {Promise<ActivityResult[]>}
 */
export async function send(client, { activities, undos, members, profiles, targets }, timeout) {
  const options = { signal: AbortSignal.timeout(timeout) }
  try {
    await Promise.all([
      ...[...targets].map(([target, body]) => optional(client.request('putTarget', { target, body }, options))),
      ...[...profiles].map(([user, body]) => optional(putProfile(client, user, body, options))),
    ])
    const results = activities.length ? await count(client, activities, options) : []
    for (const undo of undos) results.push(...(await undoForAll(client, undo, options)))
    for (const member of members) await changeMember(client, member, options)
    return results
  } catch (error) {
    throw options.signal.aborted ? unavailable(`no response within ${timeout} ms`) : failureOf(error)
  }
}

/**
 * Returns the `Problem` of a request to the deployment that failed through no fault of the delivery. Returns any other error as
 * it is.
 * @param {unknown} error
 */
export function failureOf(error) {
  if (error instanceof ConnectionError) return unavailable(error.message)
  if (!(error instanceof ApiError)) return error
  const { status, problem, message } = error
  if (status === 401 || status === 403) {
    return new Problem('misconfigured', 'The deployment refused ACTIVITY_RANK_KEY, or the key lacks a scope.')
  }
  if (status >= 500 || status === 408 || status === 429) return unavailable(message, error.retryAfter)
  if (problem.type !== 'about:blank') return error
  return new Problem('misconfigured', `RANK or ACTIVITY_RANK_URL is not a deployment of activity-rank: ${message}`)
}

/**
 * @param {Client} client
 * @param {Activity[]} body
 * @param {{ signal: AbortSignal }} options
 */
async function count(client, body, options) {
  const response = await client.request('countActivity', { body }, options)
  return /** @type {{ results: ActivityResult[] }} */ (response.body).results
}

/**
 * Takes an activity back from every member who has it. Names the member of the payload if the deployment has no journal, and
 * if no member has the activity: the deployment then remembers the undo, for an activity that arrives after it.
 * @param {Client} client
 * @param {Undo} undo
 * @param {{ signal: AbortSignal }} options
 */
async function undoForAll(client, { user, ...activity }, options) {
  const body = { ...activity, undo: /** @type {const} */ (true) }
  /** @type {ActivityResult[]} */
  const results = []
  try {
    for (let isComplete = false; !isComplete; ) {
      const response = await client.request('countActivity', { body }, options)
      const page = /** @type {{ results: ActivityResult[], more?: boolean }} */ (response.body)
      results.push(...page.results)
      // A frozen member keeps the activity: the rest of a page may be the same again.
      isComplete = !page.more || !page.results.some(({ error }) => !error)
    }
  } catch (error) {
    const needsUser = error instanceof ApiError && error.problem.type === '/problems/not-undoable'
    if (!needsUser || user === undefined) throw error
  }
  return results.length || user === undefined ? results : count(client, [{ ...body, user }], options)
}

/**
 * Hides, shows or erases a member. A frozen member stays frozen.
 * @param {Client} client
 * @param {MemberChange} member
 * @param {{ signal: AbortSignal }} options
 */
async function changeMember(client, { user, change, event }, options) {
  if (change === 'erase') {
    await client.request('eraseUser', { user }, options)
    return
  }
  const { body } = await client.request('getModeration', { user }, options)
  const hidden = change === 'hide'
  if (body.hidden === hidden) return
  const state = { hidden, frozen: body.frozen, reason: `The event ${event} of a webhook` }
  await client.request('putModeration', { user, body: state }, options)
}

/**
 * Writes a profile if it differs, and keeps what the source does not know.
 * @param {Client} client
 * @param {string} user
 * @param {object} profile
 * @param {{ signal: AbortSignal }} options
 */
async function putProfile(client, user, profile, options) {
  /** @type {Record<string, unknown>} */
  const stored = await client.request('getProfile', { user }, options).then(
    ({ body }) => /** @type {Record<string, unknown>} */ (body),
    (error) => {
      if (error instanceof ApiError && error.status === 404) return {}
      throw error
    },
  )
  const { id, level, hidden, ...kept } = stored
  const isSame = Object.entries(profile).every(([name, value]) => stored[name] === value)
  if (!isSame) await client.request('putProfile', { user, body: { ...kept, ...profile } }, options)
}

/**
 * Waits for a request without which an activity counts all the same: a title may be refused, a target may have another
 * author, and a deployment without boards of content registers none.
 * @param {Promise<unknown>} request
 */
async function optional(request) {
  try {
    await request
  } catch (error) {
    // The client refuses an id that no path can contain; so will the API refuse its activity.
    if (error instanceof TypeError) return
    const isRefused = error instanceof ApiError && [400, 404, 409, 422].includes(error.status)
    if (!isRefused) throw error
    if (error.status !== 404) console.warn(error.message)
  }
}

/**
 * @param {string} cause
 * @param {number} [retryAfter] ms
 */
function unavailable(cause, retryAfter) {
  const seconds = retryAfter === undefined ? RETRY_AFTER : Math.ceil(retryAfter / 1000)
  const detail = `The deployment did not count the activity (${cause}). Send the delivery again.`
  return new Problem('store-unavailable', detail, { 'retry-after': String(seconds) })
}
