// Async, so that whatever it throws is the promise's.
export async function send(queue, text) {
  await queue.send(text, { contentType: 'text' })
}

export const retry = (message, seconds) => message.retry({ delaySeconds: seconds })
