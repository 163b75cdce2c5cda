// Boards that this isolate had from the edge cache: whoever asks again in the same words, from the
// same origin, is answered before the wasm is asked. The edge cache alone takes as long as a Worker
// that has to look something up; this takes as long as one that has not. Only what was found there is
// held here, no longer than it is fresh there, and with the headers that Rust wrote.

import { idOf } from './request.js';
import { lets_through } from './limits.js';

const copies = new Map();
const MOST = 100;

// Each origin has headers of its own.
const nameOf = ({ headers, url }) => `${headers.get('origin') ?? ''} ${url}`;

export function hold(request, copy) {
  const name = nameOf(request);
  copies.delete(name);
  // The one that has been here longest.
  if (copies.size >= MOST) copies.delete(copies.keys().next().value);
  copies.set(name, copy);
}

/** An answer, or nothing where only Rust can give one. */
export function copyOf(request, env) {
  const { headers, method } = request;
  if (copies.size === 0 || (method !== 'GET' && method !== 'HEAD')) return null;
  const copy = copies.get(nameOf(request));
  // A service is not counted: Rust knows who is one.
  if (!copy || Date.now() >= copy.until || headers.has('authorization')) return null;
  const address = env.READ_LIMIT && headers.get('cf-connecting-ip');
  return address ? counted(request, env, address, copy) : answer(request, copy);
}

// Rust tells who came too often.
async function counted(request, env, address, copy) {
  try {
    if (await lets_through(env, 'READ_LIMIT', address)) return answer(request, copy);
  } catch {
    // Rust logs that.
  }
  return null;
}

function answer(request, { made, headers, body }) {
  const age = Math.max(0, Math.floor((Date.now() - made) / 1000));
  const own = { ...headers, age: String(age), 'x-request-id': idOf(request) };
  const known = request.headers.get('if-none-match');
  if (known === null || !isKnown(known, headers.etag)) return new Response(body, { headers: own });
  delete own['content-type'];
  return new Response(null, { status: 304, headers: own });
}

function isKnown(known, tag) {
  const same = (one) => one === '*' || one.replace(/^(W\/)+/, '') === tag;
  return known.split(',').some((one) => same(one.trim()));
}
