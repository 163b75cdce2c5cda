// Stand-ins for the APIs of Discord and Slack, as their documents describe them, and requests signed as the two sign them.

import { createHmac, generateKeyPairSync, sign } from 'node:crypto'

import { listen } from '../sdk/listen.mjs'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const SLACK_SECRET = '8f742231b10e8888abcd99yyyzzz85a5'
const TOKEN = 'the token of a bot'
const LISTS = 20 // calls of usergroups.list in a minute: tier 2

/**
 * Starts a stand-in. `roles` has the roles by user: a user without an entry is not there. `disabled` has the groups of Slack
 * without users, `inactive` users who were deactivated. `fault` is the status of all responses
 * in its place, `refusal` the answer to changes of one role. `requests` is the number of all requests, `reads` that of reads of Slack's groups in this minute, which a test ends by setting it to 0.
 */
async function startApi(handle, unauthorized) {
  const api = {
    roles: new Map(),
    disabled: new Set(),
    inactive: new Set(),
    refusal: undefined,
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
    const isBot = /^(Bot|Bearer) the token of a bot$/.test(headers.authorization ?? '')
    const answer = () => (isBot ? handle(api, method, new URL(url, 'http://api'), text) : unauthorized)
    const [status, body] = api.fault ? [api.fault, {}] : answer()
    response.writeHead(status, { 'content-type': 'application/json', ...(status === 429 && { 'retry-after': '3' }) })
    response.end(body && JSON.stringify(body))
  })
  return Object.assign(api, { url, stop })
}

const UNAUTHORIZED = [401, { message: '401: Unauthorized', code: 0 }]
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
    if (api.refusal?.role === role) return api.refusal.answer
    api.roles.get(user)[method === 'PUT' ? 'add' : 'delete'](role)
    return [204]
  }, UNAUTHORIZED)

const startSlack = () =>
  startApi(
    (api, _, { pathname }, text) => {
      const { disabled, inactive, refusal } = api
      const form = new URLSearchParams(text)
      const group = form.get('usergroup')
      const users = (form.get('users') ?? '').split(',').filter(Boolean)
      const has = (user, role) => api.roles.get(user)?.has(role)
      const membersOf = (role) => [...api.roles.keys()].filter((user) => has(user, role))
      if (pathname === '/usergroups.list' && ++api.reads > LISTS) return [429, { ok: false, error: 'ratelimited' }]
      if (pathname === '/users.list') {
        if (refusal?.role === 'users.list') return refusal.answer
        // The second page has them.
        const members = form.get('cursor') ? [...inactive].map((id) => ({ id, deleted: true })) : [{ id: '1' }]
        return [200, { ok: true, members, response_metadata: { next_cursor: form.get('cursor') ? '' : 'next' } }]
      }
      if (pathname !== '/usergroups.list') api.calls.push(`${pathname.slice(1)} ${group}`)
      if (refusal && refusal.role === group) return refusal.answer
      if (pathname === '/usergroups.disable') {
        disabled.add(group)
        for (const roles of api.roles.values()) roles.delete(group)
      }
      if (pathname === '/usergroups.enable') disabled.delete(group)
      if (pathname === '/usergroups.users.update') {
        if (!users.length) return [200, { ok: false, error: 'no_users_provided' }]
        if (users.some((user) => inactive.has(user))) return [200, { ok: false, error: 'invalid_users' }]
        for (const [user, roles] of api.roles) roles[users.includes(user) ? 'add' : 'delete'](group)
      }
      const usergroups = ['S0604QSJC', 'S0604QSJD', 'S0604QSJE'].map((id) => ({
        id,
        date_delete: disabled.has(id) ? 1 : 0,
        users: membersOf(id),
      }))
      return [200, { ok: true, usergroups }]
    },
    [200, { ok: false, error: 'invalid_auth' }],
  )

/** The differences between the chats. `signed` returns headers; `textOf` reads an answer. */
export const CHATS = {
  discord: {
    users: ['80351110224678912', '80351110224678913', '80351110224678914'],
    roles: { level: '1100000000000000002', place: '1100000000000000003', achievement: '1100000000000000004' },
    start: startDiscord,
    /** Final refusals of a role, and what the Worker says. */
    refusals: [
      [[404, { code: 10011, message: 'Unknown Role' }], 'Discord answered 404 (Unknown Role)'],
      [[403, { code: 50013, message: 'Missing Permissions' }], 'Discord answered 403 (Missing Permissions)'],
      [UNAUTHORIZED, 'Discord answered 401'],
    ],
    unauthorized: 'Discord answered 401 to GET',
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
    refusals: [
      [[200, { ok: false, error: 'no_such_subteam' }], 'Slack answered no_such_subteam'],
      [[200, { ok: false, error: 'permission_denied' }], 'Slack answered permission_denied'],
      [
        [200, { ok: false, error: 'missing_scope', needed: 'usergroups:write' }],
        'Slack answered missing_scope (usergroups:write)',
      ],
    ],
    unauthorized: 'Slack answered invalid_auth to',
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
