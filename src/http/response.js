// An answer of the wasm's as the platform's response: its status, name and value of each header, a
// line each, and behind an empty one the body.

import { hold } from './copies.js';
import { streamOf } from './live.js';

export function response(request, text) {
  const end = text.indexOf('\n\n');
  const [first, ...lines] = text.slice(0, end).split('\n');
  const headers = {};
  for (let at = 0; at < lines.length; at += 2) headers[lines[at]] = lines[at + 1];
  const [status, ...more] = first.split(' ');
  if (more[0] === 'stream') return new Response(streamOf(more[1]), { status, headers });
  const body = text.slice(end + 2) || null;
  // Of a board from the edge cache also when it was made, and until when it is fresh.
  const [made, until] = more.map(Number);
  if (until) hold(request, { made, until, headers, body });
  return new Response(body, { status, headers });
}
