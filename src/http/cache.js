// Boards in the edge cache.

const MADE = 'x-made';
const MOST_AGE = 86_400; // seconds that a copy is stored

// A platform without a cache throws, which costs as much as an answer: it is not asked again for a
// minute. One that has worked has one: what it fails at once is that time's alone.
const PAUSE = 60_000;
let absentUntil = 0;
let works = false;

async function use(cached) {
  if (Date.now() < absentUntil) return null;
  try {
    const result = await cached(caches.default);
    works = true;
    return result;
  } catch (error) {
    if (!works) absentUntil = Date.now() + PAUSE;
    throw error;
  }
}

// The instant it was made and the body, a line each, if it is as young; nothing if not.
export async function found(env, url, oldest) {
  const response = await use((cache) => cache.match(url));
  const made = response?.headers.get(MADE);
  return made && Number(made) >= Number(oldest) ? `${made}\n${await response.text()}` : '';
}

export async function keep(env, url, made, body) {
  const headers = { 'cache-control': `public, max-age=${MOST_AGE}`, [MADE]: made };
  await use((cache) => cache.put(url, new Response(body, { headers })));
  return '';
}
