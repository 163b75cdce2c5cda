// Sends messages to webhooks, signed as the Standard Webhooks specification says.

const TIMEOUT = 10_000 // milliseconds
// Milliseconds after which no message is sent any more: the rest is due later.
const MAX_TIME = 25_000
// Requests at the same time. The platform allows six, and would make others wait within their timeouts.
const PARALLEL = 5

const encoder = new TextEncoder()

/** @typedef {[url: string, secret: string, id: string, body: string]} Message the body of the specification */

/**
 * Sends messages, to one receiver one after another until an attempt fails. A receiver that hangs does not delay others.
 *
 * @param {string} text an array of messages as JSON
 * @returns {Promise<string>} for each one the status, `timeout`, `network` or `-` if it was not sent, between spaces
 */
export async function sendWebhooks(text) {
  /** @type {Message[]} */
  const messages = JSON.parse(text)
  const results = messages.map(() => '-')
  const end = Date.now() + MAX_TIME
  const urls = [...new Set(messages.map(([url]) => url))]
  const run = async () => {
    for (let url = urls.shift(); url; url = urls.shift()) {
      for (const [index, message] of messages.entries()) {
        if (message[0] !== url) continue
        if (Date.now() > end) return
        results[index] = await send(message)
        if (!results[index].startsWith('2')) break
      }
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, run))
  return results.join(' ')
}

/** @param {Message} message */
async function send([url, secret, id, message]) {
  try {
    const body = format(url, message)
    const headers = { 'content-type': 'application/json', 'user-agent': 'activity-rank', 'webhook-id': id }
    if (secret) Object.assign(headers, await sign(secret, id, body))
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      // Only the configured receiver may have the message.
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT),
    })
    response.body?.cancel().catch(() => {})
    return String(response.status)
  } catch (error) {
    return /** @type {Error} */ (error).name === 'TimeoutError' ? 'timeout' : 'network'
  }
}

// Characters of a message. Discord refuses a longer one, Slack divides it. Both may count an emoji as one character, here
// it is two.
const DISCORD_LENGTH = 2000
const SLACK_LENGTH = 4000

/**
 * Returns the request of a message: as it is, or as a message in a channel of Discord or Slack.
 *
 * @param {string} url
 * @param {string} body
 */
export function format(url, body) {
  if (url.startsWith('https://discord.com/api/webhooks/')) {
    const quote = (/** @type {string} */ text) => text.replace(/[!-/:-@[-`{-~]/g, '\\$&')
    const content = cut(lines(JSON.parse(body), quote), DISCORD_LENGTH)
    // 4: no preview of links.
    return JSON.stringify({ content, allowed_mentions: { parse: [] }, flags: 4 })
  }
  if (url.startsWith('https://hooks.slack.com/')) {
    const quote = (/** @type {string} */ text) =>
      text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    const text = cut(lines(JSON.parse(body), quote), SLACK_LENGTH)
    return JSON.stringify({ text, mrkdwn: false, unfurl_links: false, unfurl_media: false })
  }
  return body
}

/**
 * Joins lines up to a number of characters, and says how many are left out.
 *
 * @param {string[]} lines
 * @param {number} limit
 */
function cut(lines, limit) {
  const text = lines.join('\n')
  if (text.length <= limit) return text
  const more = (/** @type {number} */ count) => `\n… and ${lines.length - count} more.`
  let count = lines.length
  while (count > 1 && lines.slice(0, count).join('\n').length + more(count).length > limit) count -= 1
  return (
    lines
      .slice(0, count)
      .join('\n')
      .slice(0, limit - more(count).length) + more(count)
  )
}

// Returns the lines of a message in English. `quote` escapes a text of a user, so that it has no mentions and no
// formatting.
function lines({ type, data }, quote) {
  const { period, event, entries, user, target, level, achievement, points, oldest, actor, case: found } = data
  const name = user ? quote(user.name ?? user.id) : 'a member'
  const subject = target ? `target ${quote(target.id)}` : user ? `member ${name}` : name
  switch (type) {
    case 'period.closed': {
      const row = ({ rank, score, user }) => `${rank}. ${quote(user.name ?? user.id)}: ${score}`
      return [`Most active members of the ${period.kind} ${period.id}:`, ...entries.map(row)]
    }
    case 'event.final': {
      const row = ({ rank, score, user }) => {
        const prize = event.prizes?.find(({ ranks }) => rank >= parseInt(ranks, 10) && rank <= ranks.split('-').at(-1))
        return `${rank}. ${quote(user.name ?? user.id)}: ${score}${prize ? `, ${quote(prize.title)}` : ''}`
      }
      return [`The results of ${quote(event.title)}:`, ...entries.map(row)]
    }
    case 'level.reached':
      return [`${name} has reached the level ${quote(level.name)}.`]
    case 'achievement.earned': {
      const { name: title, step } = achievement
      return [`${name} has earned the achievement ${quote(title)} (${step}).`]
    }
    case 'case.opened':
      return [`Fair play: case ${found.id} (${found.kind}) with ${found.members} members was opened.`]
    case 'case.decided': {
      const state = found.state === 'open' ? 'opened again' : found.state
      return [`Fair play: case ${found.id} (${found.kind}) was ${state}${actor ? ` by ${quote(actor.key)}` : ''}.`]
    }
    case 'journal.lagging':
      return [`The journal is behind: changes since ${oldest} were not in it.`]
    default:
      return [`Moderation: ${subject} was ${type.split('.')[1]}${points ? ` by ${points} points` : ''}.`]
  }
}

async function sign(secret, id, body) {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const bytes = Uint8Array.from(atob(secret), (character) => character.charCodeAt(0))
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign'])
  const signed = encoder.encode(`${id}.${timestamp}.${body}`)
  const signature = String.fromCharCode(...new Uint8Array(await crypto.subtle.sign('HMAC', key, signed)))
  return { 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${btoa(signature)}` }
}
