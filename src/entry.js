// The Worker as the platform calls it. Each event goes to the wasm as one call.

import { queue, readLive, respond, scheduled } from 'wasm'
import { run, runAsync } from './platform/bridge.js'
import { sendPipeline } from './platform/coalesce.js'
import { isolateCached } from './platform/isolate_cache.js'
import { Hub } from './platform/live.js'
import { read } from './platform/request.js'
import { response } from './platform/response.js'
import { join, lead } from './platform/single_flight.js'

/** @type {ExportedHandler<Env>} */
export default {
  async fetch(request, env, context) {
    const cached = isolateCached(request, env)
    const known = cached && (await cached)
    if (known) return known
    const joined = join(request, env)
    const shared = joined && (await joined)
    if (shared) return response(request, context, shared, true)
    const text = await read(request, env)
    const responding = run(env, (event) => respond(event, text))
    lead(request, env, responding)
    // What a request began is finished if its client goes away: the platform would destroy its context.
    context.waitUntil(responding)
    return response(request, context, await responding, false)
  },

  scheduled: (event, env, context) => runAsync(env, () => scheduled(event, env, context)),

  queue: (batch, env) => runAsync(env, () => queue(batch)),
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
