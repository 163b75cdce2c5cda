// One request to the store.

// The status and the body, a line each; of no answer 0 and why. The part of an error before a colon
// is of no request; what follows may hold the URL, which can carry credentials.
export async function ask(env, url, authorization, deadline, body) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body,
      // Only the configured store gets the token, not whom it names.
      redirect: 'manual',
      signal: AbortSignal.timeout(Number(deadline)),
    });
    return `${response.status}\n${await response.text()}`;
  } catch (error) {
    return `0\n${String(error?.message).split(':', 1)}`;
  }
}
