// Webhooks of GitHub: https://docs.github.com/webhooks. `X-GitHub-Event` and the payload's `action` name the event.

/** @import { Json, Payload, Source } from './types.js' */

import { isHexSignature } from './signature.js'

/** @type {Source} */
export const github = {
  secret: 'GITHUB_SECRET',
  timeout: 8000, // GitHub waits 10 seconds
  verify: ({ headers, body, secret }) => isHexSignature(secret, headers.get('x-hub-signature-256'), body),
  read(headers, payload, { labels = [] }) {
    const { action, repository, label } = payload
    const event = headers.get('x-github-event') ?? undefined
    return {
      event: typeof action === 'string' ? `${event}.${action}` : event,
      // Whether the label that was set or removed is one that excludes.
      facts: { excludes: isIn(labels, label) },
      isPrivate: isObject(repository) && (repository.private === true || (repository.visibility ?? PUBLIC) !== PUBLIC),
      isExcluded: labelsOf(payload).some((label) => isIn(labels, label)),
    }
  },
}

const PUBLIC = 'public'

/**
 * Returns the labels of what the event is about. The issue of a comment may be a pull request.
 * @param {Payload} payload
 */
function labelsOf({ issue, pull_request, discussion }) {
  const item = [issue, pull_request, discussion].find(isObject)
  return item && Array.isArray(item.labels) ? item.labels : []
}

/**
 * @param {string[]} names
 * @param {Json | undefined} label
 */
const isIn = (names, label) => isObject(label) && typeof label.name === 'string' && names.includes(label.name)

/**
 * @param {Json | undefined} value
 * @returns {value is Payload}
 */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
