// Webhooks of Discourse. `X-Discourse-Event` names the event; the body has one object, named by its type.

/** @import { Json, Payload, Source } from './types.js' */

import { isHexSignature } from './signature.js'

/** @type {Source} */
export const discourse = {
  secret: 'DISCOURSE_SECRET',
  timeout: 15_000, // Discourse waits 20 seconds
  verify: ({ headers, body, secret }) => isHexSignature(secret, headers.get('x-discourse-event-signature'), body),
  read(headers, payload, { site, categories = [] }) {
    const member = memberOf(payload, site)
    return {
      event: headers.get('x-discourse-event') ?? undefined,
      facts: { site: site ?? null, member, author: authorOf(payload) },
      isPrivate: isPrivate(payload, categories),
      isBot: isSystem(member?.id),
    }
  },
}

/**
 * Returns whether an id is that of a system user or a bot: Discourse gives them negative ids.
 * @param {Json | undefined} id
 */
const isSystem = (id) => typeof id === 'number' && id < 0

/**
 * Returns the author of a post that is liked, unless that is the system or a bot.
 * @param {Payload} payload
 */
function authorOf({ like }) {
  const id = isObject(like) && isObject(like.post) ? like.post.user_id : undefined
  return id === undefined || isSystem(id) ? null : { id }
}

/**
 * Returns whether a topic is a message, unlisted, or in a category that the mapping does not list. Payloads do not say who
 * can read a category.
 * @param {Payload} payload
 * @param {number[]} categories
 */
function isPrivate({ like, topic, post, solved }, categories) {
  const item = (isObject(like) && like.post) || topic || post || solved
  if (!isObject(item)) return false
  const { category_id, visible, archetype, topic_archetype } = item
  if (visible === false || [archetype, topic_archetype].includes('private_message')) return true
  return typeof category_id === 'number' && !categories.includes(category_id)
}

/**
 * Returns who acted: of a solution, the author of the post; of a vote, the voter. A post has its author's fields among its own;
 * avatars are paths with a placeholder for the size.
 * @param {Payload} payload
 * @param {string | undefined} site
 */
function memberOf({ like, topic, post, solved, topic_voting: vote, user }, site) {
  const item = post ?? solved
  /** @type {Payload | null} */
  const author = isObject(item) ? { ...item, id: item.user_id ?? null, name: item.name ?? null } : null
  /** @type {Payload | null} */
  const voter = isObject(vote) ? { id: vote.voter_id ?? null } : null
  const member = (isObject(like) && like.user) || (isObject(topic) && topic.created_by) || author || voter || user
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
