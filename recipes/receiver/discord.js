// Discord: interactions are signed with Ed25519 over the timestamp and the body. Roles belong to one server.

/** @import { Chat, ChatMapping, Env } from './types.js' */

import { isFinal, Problem, Refused, refusal } from './problem.js'
import { parse } from './receiver.js'
import { bytesOfHex, concatenate, instantOf, isRecent } from './signature.js'

const API = 'https://discord.com/api/v10'
const PAGE = 1000 // members
const PING = 1
const COMMAND = 2
const MESSAGE = 4
const EPHEMERAL = 64
const NOT_THERE = [10007, 10013] // Unknown Member, Unknown User

/** @type {Chat} */
export const discord = {
  prefix: 'discord',
  secret: 'DISCORD_PUBLIC_KEY',
  async verify({ headers, body, secret, now }) {
    const publicKey = bytesOfHex(secret, 32)
    if (!publicKey) {
      const form = 'the public key of the application: 64 hexadecimal digits'
      throw new Problem('misconfigured', `DISCORD_PUBLIC_KEY must be ${form}.`)
    }
    const signature = bytesOfHex(headers.get('x-signature-ed25519') ?? '', 64)
    const timestamp = headers.get('x-signature-timestamp')
    if (!signature || !timestamp || !isRecent(instantOf(timestamp), now)) return false
    const key = await crypto.subtle.importKey('raw', publicKey, { name: 'Ed25519' }, false, ['verify'])
    return crypto.subtle.verify('Ed25519', key, signature, concatenate(new TextEncoder().encode(timestamp), body))
  },
  read(body) {
    const interaction = /** @type {any} */ (parse(body))
    if (interaction.type === PING) return Response.json({ type: PING })
    const user = interaction.member?.user?.id ?? interaction.user?.id
    if (interaction.type !== COMMAND || typeof user !== 'string') {
      throw new Problem('invalid-request', 'The interaction is no command of a member.')
    }
    const text = interaction.data?.options?.find((/** @type {any} */ { name }) => name === 'period')?.value
    return { name: String(interaction.data?.name), text: String(text ?? ''), user }
  },
  reply: (content, isPrivate) =>
    Response.json({
      type: MESSAGE,
      data: { content, flags: isPrivate ? EPHEMERAL : 0, allowed_mentions: { parse: [] } },
    }),
  escape: (name) => name.replace(/[\\*_~`|<>#[\]()@-]/g, '\\$&'),
  async rolesOf(env, { guild }, user) {
    const member = await call(env, 'GET', `/guilds/${guild}/members/${user}`)
    return member?.roles
  },
  async holders(env, { guild, roles }) {
    const found = new Map()
    for (let after = '0', count = PAGE; count === PAGE; ) {
      const members = (await call(env, 'GET', `/guilds/${guild}/members?limit=${PAGE}&after=${after}`)) ?? []
      for (const member of members) {
        after = member.user.id
        if (roles.some(({ role }) => member.roles.includes(role))) found.set(after, member.roles)
      }
      count = members.length
    }
    return found
  },
  async setRole(env, { guild }, user, role, has) {
    await call(env, has ? 'PUT' : 'DELETE', `/guilds/${guild}/members/${user}/roles/${role}`)
  },
}

/**
 * Calls the API of Discord. Returns the decoded body, or `undefined` without one and for a user who is not on the server.
 * @param {Env} env
 * @param {string} method
 * @param {string} path
 */
async function call({ DISCORD_API = API, DISCORD_TOKEN }, method, path) {
  const headers = {
    authorization: `Bot ${DISCORD_TOKEN}`,
    'user-agent': 'DiscordBot (https://github.com/activity-rank/activity-rank, 0.1.0)',
  }
  const response = await fetch(DISCORD_API + path, { method, headers })
  if (response.status === 204) return undefined
  const body = /** @type {any} */ (await response.json().catch(() => undefined))
  if (response.ok) return body
  if (NOT_THERE.includes(body?.code)) return undefined
  const { status } = response
  const detail = `Discord answered ${status}${body?.code ? ` (${body.message})` : ''} to ${method} ${path}.`
  // Without a message, a proxy before Discord has answered.
  const isFromDiscord = typeof body?.message === 'string'
  throw isFromDiscord && isFinal(status) ? new Refused(detail) : refusal(response, detail)
}
