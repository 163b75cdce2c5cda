// Webhooks of Ghost. The payload does not name its event, but has the post before and after: a post whose status becomes
// `published` or `sent` was published, one that loses it was unpublished. Members are added, edited or deleted.

/** @import { Json, Payload, Source } from './types.js' */

import { concatenate, isHexSignature, isRecent } from './signature.js'

const PUBLIC = ['published', 'sent']

/** @type {Source} */
export const ghost = {
  secret: 'GHOST_SECRET',
  timeout: 1500, // Ghost waits 2 seconds
  async verify({ headers, body, secret, now }) {
    // The HMAC covers the body, directly followed by the instant in milliseconds.
    const [, signature = null, time] = headers.get('x-ghost-signature')?.match(/^(sha256=\w+), t=(\d{1,16})$/) ?? []
    if (!isRecent(Number(time), now)) return false
    return isHexSignature(secret, signature, concatenate(body, new TextEncoder().encode(time)))
  },
  read(_, payload) {
    for (const type of ['post', 'page']) {
      const change = object(payload[type])
      if (!change) continue
      const current = object(change.current) ?? {}
      const previous = object(change.previous) ?? {}
      const item = current.id === undefined ? previous : current
      const isPrivate = (item.visibility ?? 'public') !== 'public'
      return { event: eventOf(type, current, previous), facts: { item, author: authorOf(item) }, isPrivate }
    }
    const change = object(payload.member)
    if (!change) return { event: undefined }
    const current = object(change.current) ?? {}
    const previous = object(change.previous) ?? {}
    if (current.id === undefined) return { event: 'member.deleted', facts: { item: previous, author: null } }
    return {
      event: Object.keys(previous).length ? 'member.edited' : 'member.added',
      facts: { item: current, author: null },
    }
  },
}

/**
 * @param {string} type
 * @param {Payload} current
 * @param {Payload} previous has only what changed, and all of a deleted post
 */
function eventOf(type, current, previous) {
  const isPublic = isIn(PUBLIC, current.status)
  const wasPublic = isIn(PUBLIC, previous.status)
  if (wasPublic && current.id === undefined) return `${type}.deleted`
  if (isPublic && !wasPublic && previous.status !== undefined) return `${type}.published`
  if (wasPublic && !isPublic) return `${type}.unpublished`
  // A post that is created as published has no previous state.
  return isPublic && Object.keys(previous).length === 0 ? `${type}.published` : undefined
}

/** @param {Payload} item */
function authorOf({ primary_author, authors }) {
  return object(primary_author) ?? (Array.isArray(authors) ? object(authors[0]) : undefined) ?? null
}

/**
 * @param {string[]} list
 * @param {Json | undefined} value
 */
const isIn = (list, value) => typeof value === 'string' && list.includes(value)

/**
 * @param {Json | undefined} value
 * @returns {Payload | undefined}
 */
const object = (value) => (typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined)
