// The Worker as the platform calls it. Each event goes to the wasm as one call.

import { queue, readLive, respond, scheduled } from 'wasm'
import { join, kept, lead } from './cache/shared.js'
import { newFacts, writeRequest } from './platform/analytics.js'
import { run, runJob } from './platform/bridge.js'
import { sendPipeline } from './platform/coalesce.js'
import { Hub } from './platform/live.js'
import { read } from './platform/request.js'
import { response } from './platform/response.js'

/** @type {ExportedHandler<Env>} */
export default {
  fetch: (request, env, context) => (env.ANALYTICS ? measured(request, env, context) : answer(request, env, context)),

  scheduled: ({ cron }, env) => runJob(env, (event) => scheduled(event, cron)),

  queue: (batch, env) => runJob(env, (event) => queue(event, batch)),
}

async function measured(request, env, context) {
  const facts = newFacts()
  try {
    const result = await answer(request, env, context, facts)
    writeRequest(env, request, result.status, facts)
    return result
  } catch (error) {
    writeRequest(env, request, 500, { ...facts, outcome: 'exception' })
    throw error
  }
}

/**
 * @param {Request} request
 * @param {Env} env
 * @param {ExecutionContext} context
 * @param {import('./platform/analytics.js').Facts} [facts]
 */
async function answer(request, env, context, facts) {
  const found = kept(request, env, facts)
  const known = found && (await found)
  if (known) return known
  const joined = join(request, env)
  const shared = joined && (await joined)
  if (shared) return response(request, context, shared, true, facts)
  const text = await read(request, env)
  const responding = run(env, (event) => respond(event, text), facts, text.length)
  lead(request, env, responding)
  // What a request began is finished if its client goes away: the platform would destroy its context.
  context.waitUntil(responding)
  return response(request, context, await responding, false, facts)
}

// A watched board: a Durable Object that stores nothing.
export class Live {
  #hub

  constructor(_state, env) {
    this.#hub = new Hub(async (request, forms) => {
      const text = await read(request, env)
      return run(env, (event) => readLive(event, text, forms))
    }, sendPipeline)
  }

  // `wake.js` sends POST, when the board has changed.
  fetch(request) {
    if (request.method !== 'POST') return this.#hub.open(request)
    this.#hub.wake()
    return new Response()
  }
}
