// Webhooks of Discourse. `X-Discourse-Event` names the event; the body has one object, named by its type.

/** @import { Json, Payload, Source } from '../receiver/types.js' */

import { isHexSignature } from '../receiver/signature.js'

/** @type {Source} */
export const discourse = {
  secret: 'DISCOURSE_SECRET',
  timeout: 15_000, // Discourse waits 20 seconds
  verify: ({ headers, body, secret }) => isHexSignature(secret, headers.get('x-discourse-event-signature'), body),
  read: (headers, payload, { site }) => ({
    event: headers.get('x-discourse-event') ?? undefined,
    facts: { site: site ?? null, member: memberOf(payload, site) },
  }),
}

/**
 * Returns who acted. A post has its author's fields among its own; avatars are paths with a placeholder for the size.
 * @param {Payload} payload
 * @param {string | undefined} site
 */
function memberOf({ like, topic, post }, site) {
  /** @type {Payload | null} */
  const author = isObject(post) ? { ...post, id: post.user_id ?? null, name: post.name ?? null } : null
  const member = (isObject(like) && like.user) || (isObject(topic) && topic.created_by) || author
  if (!isObject(member)) return null
  const { id = null, username = null, name, avatar_template } = member
  const path = typeof avatar_template === 'string' ? avatar_template.replace('{size}', '96') : undefined
  const avatar = path && site ? new URL(path, site).href : null
  return { id, username, name: name || username, avatar }
}

/**
 * @param {Json | undefined} value
 * @returns {value is Payload}
 */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
