// The Worker as the platform sees it, and the only way into the wasm: texts. One text is a request
// and one its answer; what Rust waits for in between is an effect, done here, with a text of what is
// to be done and one of what came of it. No object of JavaScript's is known on the other side, so no
// glue has to be generated, and nothing crosses but what src/http/edge.rs names.

import module from './index.wasm';
import { found, keep } from './http/cache.js';
import { copyOf } from './http/copies.js';
import { run } from './http/database.js';
import { cached_keys, fetched_keys, keep_keys } from './http/keys.js';
import { lets_through } from './http/limits.js';
import { messages, send, settle } from './http/queue.js';
import { read } from './http/request.js';
import { response } from './http/response.js';
import { verify_signature } from './http/signature.js';
import { last_hiding, mark_hiding, save, saved } from './http/snapshots.js';
import { offset } from './http/zone.js';
import { ask } from './redis/wire.js';

// Each is async, and takes the bindings and then lines; the last of these may have line ends of its
// own.
const EFFECTS = {
  ask,
  cached_keys,
  fetched_keys,
  found,
  keep,
  keep_keys,
  last_hiding,
  lets_through,
  mark_hiding,
  run,
  save,
  saved,
  send,
  verify_signature,
};

// Numbers that Rust knows too.
const [REQUEST, SCHEDULED, QUEUE] = [0, 1, 2];
const LEVELS = ['debug', 'warn', 'error'];

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

// An instance of the wasm, and who waits for an answer of it: each has a number, the first free one.
class Instance {
  #env;
  #waiting = [];
  #free = [];
  #wasm;

  constructor(env) {
    this.#env = env;
    const edge = {
      answer: (task, at, length) => this.#answer(task, this.#text(at, length)),
      defer: (task, at, length) => this.#defer(task, this.#text(at, length)),
      log: (level, at, length) => console[LEVELS[level]](this.#text(at, length)),
      now: Date.now,
      offset: (at, length, instant) => offset(this.#text(at, length), instant),
      perform: (task, at, length) => this.#perform(task, this.#text(at, length)),
    };
    this.#wasm = new WebAssembly.Instance(module, { edge }).exports;
    this.#wasm.start(...this.#put(deployment(env)));
  }

  // What Rust answers to an event.
  ask(event, context, text) {
    return new Promise((resolve, reject) => {
      const task = this.#free.pop() ?? this.#waiting.length;
      this.#waiting[task] = { context, resolve, reject };
      this.#step(() => this.#wasm.begin(event, task, ...this.#put(text)));
    });
  }

  #answer(task, text) {
    this.#waiting[task].resolve(text);
    this.#waiting[task] = undefined;
    this.#free.push(task);
  }

  #perform(task, text) {
    const resume = (right, text) => {
      // Unless it panicked meanwhile.
      if (this.#waiting[task]) this.#step(() => this.#wasm.resume(task, right, ...this.#put(text)));
    };
    this.#effect(text).then(
      (text) => resume(1, text),
      (error) => resume(0, String(error?.message)),
    );
  }

  // Nobody waits for it, but the platform lets it end.
  #defer(task, text) {
    // A plain workerd has no cache; anywhere else this is worth knowing.
    const told = ({ message }) => console.debug(JSON.stringify({ level: 'debug', cause: message }));
    this.#waiting[task].context.waitUntil(this.#effect(text).catch(told));
  }

  #effect(text) {
    let end = text.indexOf('\n');
    const effect = EFFECTS[text.slice(0, end)];
    const lines = [];
    while (lines.length < effect.length - 2) {
      const start = end + 1;
      end = text.indexOf('\n', start);
      lines.push(text.slice(start, end));
    }
    return effect(this.#env, ...lines, text.slice(end + 1));
  }

  // A panic leaves things half-done in memory: nobody is answered out of that any more, and the next
  // event has another instance.
  #step(go) {
    try {
      go();
    } catch (error) {
      if (instance === this) instance = undefined;
      for (const one of this.#waiting) one?.reject(error);
      this.#waiting = [];
    }
  }

  #text(at, length) {
    return decoder.decode(new Uint8Array(this.#wasm.memory.buffer, at, length));
  }

  // Gives the wasm a text: where it is, how much room was made for it, how many bytes it has. A unit
  // of JavaScript's texts has three bytes at most.
  #put(text) {
    const room = 3 * text.length;
    const at = this.#wasm.room(room);
    const { written } = encoder.encodeInto(text, new Uint8Array(this.#wasm.memory.buffer, at, room));
    return [at, room, written];
  }
}

let instance;

function rank(event, env, context, text) {
  instance ??= new Instance(env);
  return instance.ask(event, context, text);
}

// Name and value of all that a deployment has, a line each: variables as JSON, and nothing of what
// is no variable.
function deployment(env) {
  const isVariable = (value) => typeof value !== 'object' || Array.isArray(value) || isTable(value);
  const isTable = (value) => Object.getPrototypeOf(value ?? {}) === Object.prototype;
  const line = ([name, value]) => `${name}\n${isVariable(value) ? JSON.stringify(value) : ''}`;
  return Object.entries(env).map(line).join('\n');
}

export default {
  async fetch(request, env, context) {
    const copy = await copyOf(request, env);
    if (copy) return copy;
    return response(request, await rank(REQUEST, env, context, await read(request)));
  },

  async scheduled({ cron }, env, context) {
    await rank(SCHEDULED, env, context, cron);
  },

  async queue(batch, env, context) {
    settle(batch, await rank(QUEUE, env, context, messages(batch)));
  },
};
