// Webhooks of GitHub: https://docs.github.com/webhooks. `X-GitHub-Event` and the payload's `action` name the event.

/** @import { Source } from '../receiver/types.js' */

import { isHexSignature } from '../receiver/signature.js'

/** @type {Source} */
export const github = {
  secret: 'GITHUB_SECRET',
  timeout: 8000, // GitHub waits 10 seconds
  verify: ({ headers, body, secret }) => isHexSignature(secret, headers.get('x-hub-signature-256'), body),
  read(headers, { action }) {
    const event = headers.get('x-github-event') ?? undefined
    return { event: typeof action === 'string' ? `${event}.${action}` : event }
  },
}
