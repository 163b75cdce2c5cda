// The queues: what is sent to one, and what one delivers.

export async function send(env, name, text) {
  await env[name].send(text, { contentType: 'text' });
  return '';
}

/** Id, number of tries and text of each message; null where it is no text. */
export function messages(batch) {
  const text = (body) => (typeof body === 'string' ? body : null);
  return JSON.stringify(batch.messages.map(({ id, attempts, body }) => [id, attempts, text(body)]));
}

/** What becomes of each: it is done with, or tried again after so many seconds. */
export function settle(batch, fates) {
  const lines = fates.split('\n');
  batch.messages.forEach((message, at) => {
    if (lines[at]) message.retry({ delaySeconds: Number(lines[at]) });
    else message.ack();
  });
}
