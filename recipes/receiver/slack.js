// Slack: requests are signed with HMAC-SHA256 over the version, the timestamp and the body. Roles are user groups, of which the
// API writes the whole list of users.

/** @import { Chat, Env } from './types.js' */

import { isFinal, Problem, Refused, refusal } from './problem.js'
import { bytesOfHex, concatenate, instantOf, isHmac, isRecent } from './signature.js'

const API = 'https://slack.com/api'
const PAGE = '1000' // members
const TEMPORARY = [
  'fatal_error',
  'internal_error',
  'org_login_required',
  'ratelimited',
  'request_timeout',
  'service_unavailable',
  'team_added_to_org',
]

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
    if (groups.find(({ id }) => id === usergroup)?.date_delete) await call(env, 'usergroups.enable', { usergroup })
    await setUsers(env, usergroup, users)
  },
}

/**
 * Writes the users of a group. Slack refuses the whole list for a user who was deactivated, and for a guest or bot: those are left
 * out.
 * @param {Env} env
 * @param {string} usergroup
 * @param {string[]} users
 */
async function setUsers(env, usergroup, users) {
  // A group has at least one user, so an empty one is disabled.
  const write = (/** @type {string[]} */ list) =>
    list.length
      ? call(env, 'usergroups.users.update', { usergroup, users: list.join() })
      : call(env, 'usergroups.disable', { usergroup })
  /** @type {unknown} */
  let refused
  for await (const left of exclusions(env, users)) {
    try {
      await write(users.filter((user) => !left.includes(user)))
      if (left.length) console.warn(`Slack accepts no deactivated user, guest or bot in ${usergroup}: ${left.join()}.`)
      return
    } catch (error) {
      if (!(error instanceof Refused && error.reason === 'invalid_users')) throw error
      refused = error
    }
  }
  throw refused
}

/**
 * Yields users to leave out of a group: none, then the users whom Slack lists as inactive, or each user in turn if the app cannot
 * read that list.
 * @param {Env} env
 * @param {string[]} users
 */
async function* exclusions(env, users) {
  yield []
  const listed = await unacceptable(env, users).catch((error) => {
    if (error instanceof Refused) return []
    throw error
  })
  if (listed.length) return void (yield listed)
  for (const user of users) yield [user]
}

/**
 * Returns which users were deactivated, or are guests or bots.
 * @param {Env} env
 * @param {string[]} users
 */
async function unacceptable(env, users) {
  const found = []
  for (let cursor = ''; ; ) {
    const { members = [], response_metadata } = await call(env, 'users.list', { limit: PAGE, cursor })
    for (const { id, deleted, is_bot, is_restricted } of members)
      if (users.includes(id) && (deleted || is_bot || is_restricted)) found.push(id)
    cursor = response_metadata?.next_cursor
    if (!cursor) return found
  }
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
  const { status } = response
  const body = /** @type {any} */ (response.ok && (await response.json().catch(() => undefined))) || { error: status }
  if (body.ok) return body
  const detail = `Slack answered ${body.error}${body.needed ? ` (${body.needed})` : ''} to ${method}.`
  const isRefused = typeof body.error === 'string' ? !TEMPORARY.includes(body.error) : isFinal(status)
  throw isRefused ? new Refused(detail, body.error) : refusal(response, detail)
}
