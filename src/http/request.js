// A request as one text, so that it crosses to the wasm at once: lines, and behind an empty one the
// body.

// What the Worker looks at, and where it is of use at all: to look costs more than to leave it out.
const HEADERS = [['authorization'], ['cf-connecting-ip', 'READ_LIMIT'], ['origin', 'ALLOWED_ORIGINS']];
const HEADERS_OF = {
  GET: [...HEADERS, ['if-none-match']],
  HEAD: [...HEADERS, ['if-none-match']],
  OPTIONS: [['origin'], ['access-control-request-method']],
};
const EVENT = 'last-event-id';
const HEADERS_WITH_BODY = [...HEADERS, ['content-type']];

// A URL that is written as the platform would write it, which costs as much as to send a request:
// without what begins a step up or down, or is escaped in its path.
const PLAIN = /^(https?:\/\/[a-z0-9.:-]+)(\/[\w/:@|-]*)(?:\?([\w=&:@|,.%+-]*))?$/;

const RAY = /^[0-9a-f]{16}(-[A-Z]{3})?$/;

// What no route leads to.
const NOWHERE = { origin: '', pathname: '', search: '' };

const MOST_BYTES = 256 * 1024;

/** What a request is called in its answer and in the log. */
export function idOf({ headers }) {
  const ray = headers.get('cf-ray');
  return ray && RAY.test(ray) ? ray : crypto.randomUUID();
}

/** Id, milliseconds since 1970, method, origin, path, query, what is wrong with the body, name and
 * value of each header that is there: neither a URL nor a header can hold the end of a line. */
export function read(request, env) {
  const { headers, method, url } = request;
  const [, origin, path, query = ''] = PLAIN.exec(url) ?? parsed(url);
  const start = `${idOf(request)}\n${Date.now()}\n${method}\n${origin}\n${path}\n${query}`;
  const names = HEADERS_OF[method];
  let lines = '';
  for (const [name, of] of names ?? HEADERS_WITH_BODY) {
    const value = of && !env[of] ? null : headers.get(name);
    if (value !== null) lines += `${name}\n${value}\n`;
  }
  // What a stream sends and no other answer.
  if (path.endsWith('/live') && headers.has(EVENT)) lines += `${EVENT}\n${headers.get(EVENT)}\n`;
  if (names) return `${start}\n\n${lines}\n`;
  return body(request).then(({ wrong, text }) => `${start}\n${wrong ?? ''}\n${lines}\n${text ?? ''}`);
}

function parsed(url) {
  const { origin, pathname, search } = URL.parse(url) ?? NOWHERE;
  return [url, origin, pathname, search.slice(1)];
}

async function body(request) {
  const declared = Number(request.headers.get('content-length') ?? NaN);
  if (declared > MOST_BYTES) return { wrong: 'large' };
  try {
    if (!(declared >= 0)) return await streamed(request.body);
    const text = decoder.decode(await request.arrayBuffer());
    // A byte order mark is no JSON.
    return text.startsWith('\uFEFF') ? { wrong: 'broken' } : { text };
  } catch {
    return { wrong: 'broken' };
  }
}

// `request.text()` takes a third of the time, and puts something else in the place of what is no UTF-8.
const strict = () => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const decoder = strict();

// One of unknown length is read no further than is taken.
async function streamed(body) {
  const decoder = strict();
  let text = '';
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > MOST_BYTES) return { wrong: 'large' };
    text += decoder.decode(chunk, { stream: true });
  }
  return { text: text + decoder.decode() };
}
