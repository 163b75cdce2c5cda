// A request read and an answer made in one crossing each: between wasm and JavaScript the
// crossings cost, header by header, more than anything done on either side.

// What the Worker looks at.
const HEADERS = [
  'access-control-request-method',
  'authorization',
  'cf-connecting-ip',
  'content-length',
  'content-type',
  'if-none-match',
  'last-event-id',
  'origin',
];
const RAY = /^[0-9a-f]{16}(-[A-Z]{3})?$/;

// What no route leads to.
const NOWHERE = { origin: '', pathname: '', search: '' };

// Lines: neither a URL nor a header can hold the end of one.
export function taken_apart(request) {
  const { headers, method } = request;
  const { origin, pathname, search } = URL.parse(request.url) ?? NOWHERE;
  const ray = headers.get('cf-ray');
  const id = ray && RAY.test(ray) ? ray : crypto.randomUUID();
  const lines = [id, Date.now(), method, origin, pathname, search.slice(1)];
  for (const name of HEADERS) {
    const value = headers.get(name);
    if (value !== null) lines.push(name, value);
  }
  return lines.join('\n');
}

// Null where it is longer than is taken; one of unknown length is read no further than that.
export async function body_of(request, most) {
  if (!request.body) return new Uint8Array();
  const declared = Number(request.headers.get('content-length') ?? NaN);
  if (declared > most) return null;
  if (declared >= 0) return new Uint8Array(await request.arrayBuffer());
  const chunks = [];
  let length = 0;
  for await (const chunk of request.body) {
    length += chunk.length;
    if (length > most) return null;
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

export function response(status, lines, body) {
  const headers = new Headers();
  const parts = lines.split('\n');
  for (let at = 0; at + 1 < parts.length; at += 2) headers.set(parts[at], parts[at + 1]);
  // A copy: the bytes lie in the memory of the wasm, which goes on to use it.
  return new Response(body.length ? body.slice() : null, { status, headers });
}
