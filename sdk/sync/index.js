// The scheduled Worker that keeps the boards in step with their source. Each night it reads the source, compares it with the
// boards and mends the differences, in as many runs of its schedule as the budget needs: what a run has read of the source
// is stored for the next one.

/** @import { Env, Mapping, Outcome, Run } from './types.js' */
/** @import { Request } from './platform.js' */

import { sync as run } from 'wasm'
import { keyOf, Pages } from './pages.js'
import { withHost } from './platform.js'
import { settingsOf, sourceOf } from './settings.js'

const DAY = 86_400_000 // ms
/** The key of the state in KV. */
const STATE = 'run'
/** The operations of KV that a run needs for its state: it reads and writes it. */
const STATE_OPERATIONS = 2
/**
 * Requests to the source of a run of the schedule. The paid plan of Workers allows 10,000 by default, with those to the
 * deployment and the 1,000 operations of KV; the free plan allows 50.
 */
const REQUESTS = 2000
/** Milliseconds after which a run sends no more requests: the platform ends it after 15 minutes. */
const TIME = 12 * 60_000
/** Characters of a detail. */
const DETAIL = 300
/** Attempts of a night. */
const ATTEMPTS = 3

/**
 * Returns a Worker with a `scheduled` handler. `mapping` is the mapping file of the source's recipe.
 * @param {Mapping} [mapping]
 */
export function sync(mapping = {}) {
  return {
    /**
     * @param {{ scheduledTime: number }} event
     * @param {Env} env
     */
    async scheduled({ scheduledTime }, env) {
      const stored = /** @type {Run | null} */ (await env.PAGES.get(STATE, 'json'))
      const isOpen = stored?.started !== undefined
      const day = Math.floor(scheduledTime / DAY)
      if (!isOpen && stored?.ended !== undefined && Math.floor(stored.ended / DAY) === day) return
      const { started = Date.now(), attempts = 0 } = isOpen ? stored : {}
      const outcome = await runOnce(env, mapping, started)
      const next = nextRun(outcome, started, attempts + 1, scheduledTime)
      await env.PAGES.put(STATE, JSON.stringify(next))
      await report(env, outcome)
    },

    /** Has nothing to answer: the admin page of the deployment has the results. */
    fetch: () => new Response(null, { status: 404 }),
  }
}

/**
 * Returns what the next run of the schedule does: goes on, tries again, or waits for the next night.
 * @param {Outcome} outcome
 * @param {number} started
 * @param {number} attempts
 * @param {number} now
 * @returns {Run}
 */
function nextRun(outcome, started, attempts, now) {
  if (outcome.state === 'paused') return { started }
  if (outcome.state === 'failed' && attempts < ATTEMPTS) return { started, attempts }
  return { ended: now }
}

/**
 * @param {Env} env
 * @param {Mapping} mapping
 * @param {number} started
 * @returns {Promise<Outcome>}
 */
async function runOnce(env, mapping, started) {
  let shown = ''
  const pages = new Pages(env.PAGES, started, STATE_OPERATIONS)
  try {
    const settings = settingsOf(env, mapping, started)
    const host = { ...budgeted(env, settings, pages), show: (/** @type {string} */ message) => void (shown = message) }
    const outcome = JSON.parse(await withHost(host, (number) => run(number, JSON.stringify(settings))))
    // The last run needs its answers no more.
    if (outcome.state !== 'done') await pages.store()
    return outcome.state === 'paused' ? { state: 'paused', detail: shown.slice(0, DETAIL) || undefined } : outcome
  } catch (error) {
    return { state: 'failed', detail: String(error instanceof Error ? error.message : error).slice(0, DETAIL) }
  }
}

/**
 * Returns how requests are sent: to the source, whose answers are stored, and to the deployment, by its binding.
 * @param {Env} env
 * @param {{ rank: { url: string } }} settings
 * @param {Pages} pages
 */
function budgeted(env, { rank }, pages) {
  const until = Date.now() + TIME
  let left = Number(env.REQUESTS ?? REQUESTS)
  return {
    /** @param {Request} request */
    async send(request) {
      // A comparison and what it mends are never left half done.
      if (new URL(request.url).origin === new URL(rank.url).origin) return answerOf(request, env.RANK)
      const key = await keyOf(request)
      const stored = await pages.take(key)
      if (stored) return stored
      if (left <= 0 || !pages.hasRoom || Date.now() >= until) return undefined
      left -= 1
      const answer = await answerOf(request)
      const isStored = answer.status >= 200 && answer.status < 300 && !isRefusal(request, answer)
      if (isStored) await pages.add(key, answer)
      return answer
    },

    /**
     * Waits, unless the budget of time ends before.
     * @param {number} milliseconds
     */
    async sleep(milliseconds) {
      if (Date.now() + milliseconds >= until) left = 0
      else await new Promise((resolve) => setTimeout(resolve, milliseconds))
    },
  }
}

/**
 * Returns whether an answer of GraphQL has errors, which have the status 200: the query is sent again.
 * @param {Request} request
 * @param {{ body: string }} answer
 */
const isRefusal = ({ method }, { body }) => method === 'POST' && body.includes('"errors"')

/**
 * Sends a request, by a binding or the network.
 * @param {Request} request
 * @param {{ fetch: typeof fetch }} [binding]
 */
async function answerOf({ method, url, headers, body }, binding) {
  // GitHub refuses requests without the name of the program.
  const named = [...headers, /** @type {[string, string]} */ (['user-agent', 'activity-rank-sync'])]
  const init = { method, headers: named, body: body ?? undefined, redirect: /** @type {const} */ ('manual') }
  const response = await (binding ? binding.fetch(url, init) : fetch(url, init))
  return { status: response.status, headers: [...response.headers], body: await response.text() }
}

/**
 * Reports an outcome to the deployment, which shows it on its admin page, and in its metrics. It is logged too.
 * @param {Env} env
 * @param {Outcome} outcome
 */
async function report(env, outcome) {
  console.log(`${outcome.state}: ${outcome.detail}`)
  const source = encodeURIComponent(sourceOf(env))
  const body = { ...outcome, state: outcome.state === 'paused' ? 'running' : outcome.state }
  try {
    const { url, key } = settingsOf(env, {}, 0).rank
    const headers = /** @type {[string, string][]} */ ([
      ['authorization', `Bearer ${key}`],
      ['content-type', 'application/json'],
    ])
    const request = { method: 'PUT', url: `${url}/v1/syncs/${source}`, headers, body: JSON.stringify(body) }
    const { status, body: problem } = await answerOf(request, env.RANK)
    if (status >= 300) console.error(`the report was refused with status ${status}: ${problem}`)
  } catch (error) {
    console.error(`the report was not sent: ${error}`)
  }
}
