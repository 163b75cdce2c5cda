// Slack: requests are signed with HMAC-SHA256 over the version, the timestamp and the body. Roles are user groups, of which the
// API writes the whole list of users.

/** @import { Chat, Env } from './types.js' */

import { Problem, refusal } from './problem.js'
import { bytesOfHex, concatenate, instantOf, isHmac, isRecent } from './signature.js'

const API = 'https://slack.com/api'

const encoder = new TextEncoder()

/** @type {Chat} */
export const slack = {
  prefix: 'slack',
  secret: 'SLACK_SIGNING_SECRET',
  async verify({ headers, body, secret, now }) {
    const timestamp = headers.get('x-slack-request-timestamp')
    const [, hex = ''] = headers.get('x-slack-signature')?.match(/^v0=(\w+)$/) ?? []
    const signature = bytesOfHex(hex, 32)
    if (!signature || !isRecent(instantOf(timestamp), now)) return false
    return isHmac(encoder.encode(secret), signature, concatenate(encoder.encode(`v0:${timestamp}:`), body))
  },
  read(body) {
    const form = new URLSearchParams(new TextDecoder().decode(body))
    const [command, user] = [form.get('command'), form.get('user_id')]
    if (!command || !user) throw new Problem('invalid-request', 'The request is no command of a member.')
    return { name: command.slice(1), text: form.get('text')?.trim() ?? '', user }
  },
  reply: (text, isPrivate) => Response.json({ response_type: isPrivate ? 'ephemeral' : 'in_channel', text }),
  escape: (name) =>
    name
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replace(/[*_~`]/g, '\u200b$&'),
  async rolesOf(env, { roles }, user) {
    const groups = await groupsOf(env)
    return roles.map(({ role }) => role).filter((role) => usersOf(groups, role).includes(user))
  },
  async holders(env, { roles }) {
    const groups = await groupsOf(env)
    const found = new Map()
    for (const role of new Set(roles.map(({ role }) => role)))
      for (const user of usersOf(groups, role)) found.set(user, [...(found.get(user) ?? []), role])
    return found
  },
  async setRole(env, _, user, usergroup, has) {
    const groups = await groupsOf(env)
    const current = usersOf(groups, usergroup)
    if (current.includes(user) === has) return
    const others = current.filter((other) => other !== user)
    const users = has ? [...others, user] : others
    // A group has at least one user, so an empty one is disabled.
    if (users.length === 0) return void (await call(env, 'usergroups.disable', { usergroup }))
    if (groups.find(({ id }) => id === usergroup)?.date_delete) await call(env, 'usergroups.enable', { usergroup })
    await call(env, 'usergroups.users.update', { usergroup, users: users.join() })
  },
}

/**
 * Returns all user groups with their users.
 * @param {Env} env
 * @returns {Promise<{ id: string, date_delete: number, users?: string[] }[]>}
 */
const groupsOf = async (env) =>
  (await call(env, 'usergroups.list', { include_users: 'true', include_disabled: 'true' })).usergroups

/**
 * @param {Awaited<ReturnType<typeof groupsOf>>} groups
 * @param {string} role
 */
function usersOf(groups, role) {
  const group = groups.find(({ id }) => id === role)
  return group && !group.date_delete ? (group.users ?? []) : []
}

/**
 * Calls a method of Slack's Web API. Returns the decoded body.
 * @param {Env} env
 * @param {string} method
 * @param {Record<string, string>} args
 */
async function call({ SLACK_API = API, SLACK_TOKEN }, method, args) {
  const response = await fetch(`${SLACK_API}/${method}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SLACK_TOKEN}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(args).toString(),
  })
  const body = response.ok ? /** @type {any} */ (await response.json()) : { error: response.status }
  if (body.ok) return body
  throw refusal(response, `Slack answered ${body.error} to ${method}.`)
}
