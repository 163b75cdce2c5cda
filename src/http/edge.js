// The other half of edge.rs: who waits for an answer of the wasm's, and what Rust waits for, its
// effects, done here: a text of what is to be done, and one of what came of it.

import { __wbg_reset_state, resume } from 'wasm';
import { found, keep } from './cache.js';
import { run } from './database.js';
import { text_of } from './files.js';
import { cached_keys, fetched_keys, keep_keys } from './keys.js';
import { lets_through } from './limits.js';
import { watch } from './live.js';
import { send } from './queue.js';
import { verify_signature } from './signature.js';
import { last_hiding, mark_hiding, save, saved } from './snapshots.js';
import { ask } from '../redis/wire.js';

export { offset } from './zone.js';

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
  text_of,
  verify_signature,
  watch,
};

// Each has a number, the first free one.
let waiting = [];
let free = [];
let bindings;

/** What Rust answers to an event that it is told of as a text. */
export function told(event, env, text) {
  bindings ??= env;
  return new Promise((resolve, reject) => {
    const task = free.pop() ?? waiting.length;
    waiting[task] = { resolve, reject };
    step(() => event(task, text));
  });
}

/** What the deployment has: the same for as long as an isolate lives. */
export function env() {
  return bindings;
}

export function answer(task, text) {
  waiting[task].resolve(text);
  waiting[task] = undefined;
  free.push(task);
}

export function perform(task, text) {
  const one = waiting[task];
  const go = (right, text) => {
    // Unless the wasm panicked meanwhile.
    if (waiting[task] === one) step(() => resume(task, right, text));
  };
  effect(text).then(
    (text) => go(true, text),
    (error) => go(false, String(error?.message)),
  );
}

function effect(text) {
  let end = text.indexOf('\n');
  const effect = EFFECTS[text.slice(0, end)];
  const lines = [];
  while (lines.length < effect.length - 2) {
    const start = end + 1;
    end = text.indexOf('\n', start);
    lines.push(text.slice(start, end));
  }
  return effect(bindings, ...lines, text.slice(end + 1));
}

// A panic leaves things half-done in memory: nobody is answered out of that any more, and what comes
// next has another.
function step(go) {
  try {
    go();
  } catch (error) {
    const lost = waiting;
    waiting = [];
    free = [];
    __wbg_reset_state();
    for (const one of lost) one?.reject(error);
  }
}
