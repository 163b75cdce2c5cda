// Webhooks of GitHub: https://docs.github.com/webhooks. `X-GitHub-Event` and the payload's `action` name the event.

/** @import { Json, Payload, Source } from './types.js' */

import { isHexSignature } from './signature.js'

/** @type {Source} */
export const github = {
  secret: 'GITHUB_SECRET',
  timeout: 8000, // GitHub waits 10 seconds
  verify: ({ headers, body, secret }) => isHexSignature(secret, headers.get('x-hub-signature-256'), body),
  read(headers, { action, repository }) {
    const event = headers.get('x-github-event') ?? undefined
    return {
      event: typeof action === 'string' ? `${event}.${action}` : event,
      isPrivate: isObject(repository) && (repository.private === true || (repository.visibility ?? PUBLIC) !== PUBLIC),
    }
  },
}

const PUBLIC = 'public'

/**
 * @param {Json | undefined} value
 * @returns {value is Payload}
 */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
