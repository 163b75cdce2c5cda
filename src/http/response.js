// An answer of the wasm's as the platform's response: its status and what is to be done with it
// besides, name and value of each header, a line each, and behind an empty one the body.

import { keep } from './cache.js';
import { hold } from './copies.js';
import { streamOf } from './live.js';

export function response(request, context, text) {
  const end = text.indexOf('\n\n');
  const [first, ...lines] = text.slice(0, end).split('\n');
  const headers = {};
  for (let at = 0; at < lines.length; at += 2) headers[lines[at]] = lines[at + 1];
  const [status, more, ...known] = first.split(' ');
  if (more === 'stream') return new Response(streamOf(...known), { status, headers });
  const body = text.slice(end + 2) || null;
  if (more === 'keep') context.waitUntil(kept(known, body));
  if (status === '304') return new Response(null, { status, headers });
  if (more === 'hold') {
    const [made, until] = known.map(Number);
    hold(request, { made, until, headers, body });
  }
  return new Response(body, { status, headers });
}

// Nobody waits for it, but the platform lets it end.
async function kept([made, url], body) {
  try {
    await keep({}, url, made, body);
  } catch ({ message }) {
    // A plain workerd has no cache; anywhere else this is worth knowing.
    console.debug(JSON.stringify({ level: 'debug', cause: message }));
  }
}
