// Stand-ins for the APIs of Discord and Slack, as their documents describe them, and requests signed as the two sign them.

import { createHmac, generateKeyPairSync, sign } from 'node:crypto'

import { listen } from '../sdk/listen.mjs'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const SLACK_SECRET = '8f742231b10e8888abcd99yyyzzz85a5'
const TOKEN = 'the token of a bot'
const LISTS = 20 // calls of usergroups.list in a minute: tier 2

/**
 * Starts a stand-in. `roles` has the roles by user: a user without an entry is not there. `disabled` has the groups of Slack
 * without users. `fault` is the status of all responses
 * in its place. `requests` is the number of all requests, `reads` that of reads of Slack's groups in this minute, which a test ends by setting it to 0.
 */
async function startApi(handle) {
  const api = {
    roles: new Map(),
    disabled: new Set(),
    calls: [],
    requests: 0,
    reads: 0,
    fault: 0,
  }
  const { url, stop } = await listen(async (request, response) => {
    api.requests += 1
    let text = ''
    for await (const chunk of request) text += chunk
    const { method, url = '', headers } = request
    const answer = api.fault || !/^(Bot|Bearer) the token of a bot$/.test(headers.authorization ?? '')
    const [status, body] = answer ? [api.fault || 401, {}] : handle(api, method, new URL(url, 'http://api'), text)
    response.writeHead(status, { 'content-type': 'application/json', ...(status === 429 && { 'retry-after': '3' }) })
    response.end(body && JSON.stringify(body))
  })
  return Object.assign(api, { url, stop })
}

const startDiscord = () =>
  startApi((api, method, { pathname, searchParams }) => {
    const [, guild, , user, , role] = pathname.slice(1).split('/')
    if (guild !== '197038439483310086') return [404, { code: 10004, message: 'Unknown Guild' }]
    const memberOf = (id) => ({ user: { id }, roles: [...api.roles.get(id)] })
    if (!user) {
      const ids = [...api.roles.keys()].toSorted((first, second) => Number(BigInt(first) - BigInt(second)))
      const after = BigInt(searchParams.get('after') ?? 0)
      const limit = Number(searchParams.get('limit') ?? 1)
      return [
        200,
        ids
          .filter((id) => BigInt(id) > after)
          .slice(0, limit)
          .map(memberOf),
      ]
    }
    if (!api.roles.has(user)) return [404, { code: 10007, message: 'Unknown Member' }]
    if (!role) return [200, memberOf(user)]
    api.calls.push(`${method} ${role}`)
    api.roles.get(user)[method === 'PUT' ? 'add' : 'delete'](role)
    return [204]
  })

const startSlack = () =>
  startApi((api, _, { pathname }, text) => {
    const { disabled } = api
    const form = new URLSearchParams(text)
    const group = form.get('usergroup')
    const users = (form.get('users') ?? '').split(',').filter(Boolean)
    const has = (user, role) => api.roles.get(user)?.has(role)
    const membersOf = (role) => [...api.roles.keys()].filter((user) => has(user, role))
    if (pathname === '/usergroups.list' && ++api.reads > LISTS) return [429, { ok: false, error: 'ratelimited' }]
    if (pathname !== '/usergroups.list') api.calls.push(`${pathname.slice(1)} ${group}`)
    if (pathname === '/usergroups.disable') {
      disabled.add(group)
      for (const roles of api.roles.values()) roles.delete(group)
    }
    if (pathname === '/usergroups.enable') disabled.delete(group)
    if (pathname === '/usergroups.users.update') {
      if (!users.length) return [200, { ok: false, error: 'no_users_provided' }]
      for (const [user, roles] of api.roles) roles[users.includes(user) ? 'add' : 'delete'](group)
    }
    const usergroups = ['S0604QSJC', 'S0604QSJD', 'S0604QSJE'].map((id) => ({
      id,
      date_delete: disabled.has(id) ? 1 : 0,
      users: membersOf(id),
    }))
    return [200, { ok: true, usergroups }]
  })

/** The differences between the chats. `signed` returns headers; `textOf` reads an answer. */
export const CHATS = {
  discord: {
    users: ['80351110224678912', '80351110224678913', '80351110224678914'],
    roles: { level: '1100000000000000002', place: '1100000000000000003', achievement: '1100000000000000004' },
    start: startDiscord,
    vars: (url) => ({
      DISCORD_API: url,
      DISCORD_TOKEN: TOKEN,
      DISCORD_PUBLIC_KEY: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex'),
    }),
    command: (name, user, text) =>
      JSON.stringify({
        type: 2,
        id: '846462639134605312',
        guild_id: '197038439483310086',
        member: { user: { id: user, username: 'ada' }, roles: [] },
        data: {
          type: 1,
          id: '866818195033292850',
          name,
          options: text ? [{ type: 3, name: 'period', value: text }] : [],
        },
      }),
    signed: (body, now = Date.now()) => ({
      'content-type': 'application/json',
      'x-signature-timestamp': `${Math.floor(now / 1000)}`,
      'x-signature-ed25519': sign(null, Buffer.from(Math.floor(now / 1000) + body), privateKey).toString('hex'),
    }),
    textOf: ({ type, data }) => [type === 4 && data.flags === 64, data.content],
    escaped: '\\@everyone \\*x\\*',
  },
  slack: {
    users: ['U2147483697', 'U2147483698', 'U2147483699'],
    roles: { level: 'S0604QSJC', place: 'S0604QSJD', achievement: 'S0604QSJE' },
    start: startSlack,
    vars: (url) => ({ SLACK_API: url, SLACK_TOKEN: TOKEN, SLACK_SIGNING_SECRET: SLACK_SECRET }),
    command: (name, user, text) =>
      new URLSearchParams({
        token: 'gIkuvaNzQIHg97ATvDxqgjtO',
        team_id: 'T0001',
        command: `/${name}`,
        text,
        user_id: user,
        user_name: 'ada',
        response_url: 'https://hooks.slack.com/commands/1234/5678',
      }).toString(),
    signed: (body, now = Date.now()) => {
      const timestamp = Math.floor(now / 1000)
      return {
        'content-type': 'application/x-www-form-urlencoded',
        'x-slack-request-timestamp': `${timestamp}`,
        'x-slack-signature': `v0=${createHmac('sha256', SLACK_SECRET).update(`v0:${timestamp}:${body}`).digest('hex')}`,
      }
    },
    textOf: ({ response_type, text }) => [response_type === 'ephemeral', text],
    escaped: '@everyone \u200b*x\u200b*',
  },
}
