// The Worker as the platform sees it. The wasm is told of each event as a text, and answers one.

import { fetch, look, queue, scheduled } from 'wasm';
import { copyOf } from './http/copies.js';
import { told } from './http/edge.js';
import { Hub } from './http/live.js';
import { messages, settle } from './http/queue.js';
import { read } from './http/request.js';
import { response } from './http/response.js';

export default {
  async fetch(request, env, context) {
    const copy = copyOf(request, env);
    const known = copy && (await copy);
    if (known) return known;
    return response(request, context, await told(fetch, env, await read(request, env)));
  },

  async scheduled({ cron }, env) {
    await told(scheduled, env, cron);
  },

  async queue(batch, env) {
    settle(batch, await told(queue, env, messages(batch)));
  },
};

// A board that is watched: a Durable Object, which stores nothing.
export class Live {
  #hub;

  constructor(state, env) {
    const asked = (request, limits) => `${limits}\n${read(request, env)}`;
    this.#hub = new Hub((...question) => told(look, env, asked(...question)));
  }

  fetch(request) {
    return this.#hub.open(request);
  }
}
