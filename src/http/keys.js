// How a key set comes from the key server and the edge cache.

const DEADLINE = 3000; // milliseconds
const MOST_BYTES = 64 * 1024;
// Longer than keys are fresh: what is old is used while the key server is down.
const KEPT = 'public, max-age=86400';
const MADE = 'x-made';

// Not the URL itself: fetch() might find under it what was stored here.
const nameOf = (url) => `https://activity-rank.invalid/keys?${encodeURIComponent(url)}`;

export async function fetched_keys(env, url) {
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    // Only the configured server is trusted, not whom it names.
    redirect: 'manual',
    signal: AbortSignal.timeout(DEADLINE),
  });
  if (!response.ok || !response.body) throw new Error(`status ${response.status}`);
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    if (length > MOST_BYTES) throw new Error(`more than ${MOST_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

// A platform without a cache only misses.
export async function cached_keys(env, url, oldest) {
  try {
    const response = await caches.default.match(nameOf(url));
    return Number(response.headers.get(MADE)) >= Number(oldest) ? await response.text() : '';
  } catch {
    return '';
  }
}

export async function keep_keys(env, url, made, text) {
  try {
    const headers = { 'cache-control': KEPT, [MADE]: made };
    await caches.default.put(nameOf(url), new Response(text, { headers }));
  } catch {
    // The isolate has them.
  }
  return '';
}
