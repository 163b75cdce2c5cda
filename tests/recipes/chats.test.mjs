// The Workers that give roles in Discord and Slack, with a real deployment and a stand-in for the API of each.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'

import { chatWorker } from '../../recipes/receiver/chat.js'
import { discord } from '../../recipes/receiver/discord.js'
import { slack } from '../../recipes/receiver/slack.js'
import { Client, userToken } from '../../sdk/js/src/index.js'
import { eventually } from '../sdk/eventually.mjs'
import { startBundled } from '../sdk/worker.mjs'
import { JWT_SECRET, startApp, startProxy } from '../server-sdk/support.mjs'
import { CHATS } from './chats.mjs'
import { KEY, ROOT, receiverConfig, SECRET, SIGN } from './support.mjs'

const WEEK = 7 * 86_400_000 // ms
const SOURCES = { discord, slack }
const mappingOf = (name) => JSON.parse(readFileSync(join(ROOT, 'recipes', name, 'mapping.json'), 'utf8'))

for (const [name, chat] of Object.entries(CHATS)) {
  describe(name, () => {
    const [user, holder, stranger] = chat.users
    const account = `${name}:${user}`
    const all = Object.values(chat.roles).toSorted()
    let rank
    let api
    let worker
    let client
    let vars
    before(async () => {
      const settings = {
        LEVELS: { Newcomer: 1, Regular: 20 },
        ACHIEVEMENTS: { commenter: { name: 'Commenter', steps: [1, 10], count: 'comment' } },
        MEMBER_ACCOUNTS: 'true',
      }
      rank = await startApp({ vars: settings, databases: true })
      client = rank.client
      api = await chat.start()
      vars = {
        ...chat.vars(api.url),
        ACTIVITY_RANK_URL: rank.url,
        ACTIVITY_RANK_KEY: KEY,
        WEBHOOK_SECRET: SECRET,
        JWT_SECRET,
      }
      worker = await startBundled(receiverConfig(name, vars))
      const at = new Date(Date.now() - WEEK).toISOString()
      const publish = (user, target) => ({ user, action: 'publish', target, at })
      await client.countActivity({ body: ['p1', 'p2', 'p3'].map((target) => publish('9', target)) })
      await client.countActivity({ body: [{ user: '9', action: 'like', target: 'p9' }] })
      await client.putProfile({ user: '9', body: { name: '@everyone *x*' } })
      await client.awardAchievement({ user: '9', achievement: 'commenter', body: { step: 10, reason: 'By hand' } })
      for (const id of chat.users) api.roles.set(id, new Set())
    })
    after(async () => {
      await worker?.stop()
      await api?.stop()
      await rank?.stop()
    })

    beforeEach(() => {
      api.reads = 0
    })

    const rolesOf = (id) => [...api.roles.get(id)].toSorted()

    /** Returns a message of the deployment. */
    function messageRequest(type, data, url = 'https://worker.example.com') {
      const body = JSON.stringify({ type, timestamp: new Date().toISOString(), data })
      const headers = { 'content-type': 'application/json', ...SIGN.generic(body) }
      return new Request(`${url}/webhook`, { method: 'POST', headers, body })
    }
    /** Sends a message, and returns the status. */
    const message = async (type, data) => (await fetch(messageRequest(type, data, worker.url))).status
    /** Handles the message that member 9 reached a level in this process, and returns the response. */
    const handle = async (t, more = {}) => {
      t.mock.method(console, 'error', () => {})
      const source = /** @type {import('../../recipes/receiver/types.js').Chat} */ (SOURCES[name])
      const context = { waitUntil() {} }
      const request = messageRequest('level.reached', { user: { id: '9' } })
      return chatWorker(source, mappingOf(name)).fetch(request, { ...vars, ...more }, context)
    }

    /** Sends a command, and returns whether the answer is private, and its text. */
    async function command(command, text = '', id = user) {
      const body = chat.command(command, id, text)
      const response = await fetch(worker.url, { method: 'POST', headers: chat.signed(body), body })
      assert.equal(response.status, 200)
      return chat.textOf(await response.json())
    }

    it('forged command and message are refused', async () => {
      const body = chat.command('top', user, '')
      const headers = chat.signed(`${body} `)
      const response = await fetch(worker.url, { method: 'POST', headers, body })
      assert.deepEqual([response.status, (await response.json()).type], [401, '/problems/unauthenticated'])
      const unsigned = await fetch(worker.url, { method: 'POST', body })
      assert.equal(unsigned.status, 401)
      const text = JSON.stringify({ type: 'level.reached', data: { user: { id: '9' } } })
      const signed = { ...SIGN.generic(`${text} `), 'content-type': 'application/json' }
      const forged = await fetch(`${worker.url}/webhook`, { method: 'POST', headers: signed, body: text })
      assert.equal(forged.status, 401)
    })

    it('rank of an account without points names /link', async () => {
      const text = 'You have no points this week. If your account is not linked: /link'
      assert.deepEqual(await command('rank'), [true, text])
    })

    it('link joins the account by the tokens of both', async () => {
      const [isPrivate, text] = await command('link')
      assert.equal(isPrivate, true)
      const [, link] = text.match(/: (https:\S+)$/)
      const { origin, pathname, hash } = new URL(link)
      assert.equal(origin + pathname, 'https://www.example.com/link')
      const query = new URLSearchParams(hash.slice(1))
      assert.equal(query.get('account'), account)
      const token = await userToken({ secret: JWT_SECRET, user: '9' })
      const joined = new Client({ url: rank.url, key: token })
      const body = { of: '9', token: /** @type {string} */ (query.get('token')) }
      assert.equal((await joined.putAccount({ user: account, body })).account_of, '9')
      assert.equal(await message('member.joined', { user: { id: '9' }, account: { id: account } }), 204)
      assert.deepEqual(rolesOf(user), all)
    })

    it('message that arrives again changes nothing', async () => {
      const count = api.calls.length
      assert.equal(await message('level.reached', { user: { id: '9' }, level: { number: 2, name: 'Regular' } }), 204)
      assert.equal(await message('achievement.earned', { user: { id: '9' } }), 204)
      assert.deepEqual([rolesOf(user), api.calls.length], [all, count])
    })

    it('hidden member loses the roles until shown again', async () => {
      for (const [type, hidden, expected] of [
        ['moderation.hidden', true, []],
        ['moderation.shown', false, all],
      ]) {
        const body = { hidden: hidden === true, frozen: false, reason: 'A test' }
        await client.putModeration({ user: '9', body })
        assert.equal(await message(type, { user: { id: '9' }, reason: 'A test' }), 204)
        assert.deepEqual(rolesOf(user), expected)
      }
    })

    it('end of a period takes the role of a place', async () => {
      api.roles.get(holder).add(chat.roles.place)
      const data = { period: { kind: 'week' }, entries: [{ rank: 1, score: 30, user: { id: '9' } }] }
      assert.equal(await message('period.closed', data), 204)
      assert.deepEqual([rolesOf(holder), rolesOf(user)], [[], all])
      // A period of which no role depends.
      api.fault = 500
      assert.equal(await message('period.closed', { ...data, period: { kind: 'day' } }), 204)
      api.fault = 0
    })

    it('refused change makes the message repeat', async () => {
      api.roles.get(user).clear()
      api.fault = 429
      assert.equal(await message('level.reached', { user: { id: '9' } }), 503)
      api.fault = 0
      assert.equal(await message('level.reached', { user: { id: '9' } }), 204)
      assert.deepEqual(rolesOf(user), all)
    })

    for (const [answer, reason] of chat.refusals) {
      it(`role is refused for good: ${reason}`, async (t) => {
        t.after(() => (api.refusal = undefined))
        const { level, ...others } = chat.roles
        api.roles.get(user).clear()
        api.refusal = { role: level, answer }
        const response = await handle(t)
        const { refused } = await response.json()
        assert.deepEqual([response.status, refused.length, rolesOf(user)], [200, 1, Object.values(others).toSorted()])
        assert.ok(refused[0].startsWith(`${level}: ${reason} to `), refused[0])
        const lines = /** @type {any} */ (console.error).mock.calls.map(({ arguments: [line] }) => line)
        assert.deepEqual(lines, refused)
        api.refusal = undefined
        assert.equal((await handle(t)).status, 204)
        assert.deepEqual(rolesOf(user), all)
      })
    }

    it('wrong token ends the attempts', async (t) => {
      const response = await handle(t, { [`${name.toUpperCase()}_TOKEN`]: 'wrong' })
      const { type, detail } = await response.json()
      assert.deepEqual([response.status, type], [410, '/problems/chat-refused'])
      assert.ok(detail.startsWith(chat.unauthorized), detail)
    })

    it('member who left the chat is no error', async () => {
      const roles = api.roles.get(user)
      if (name === 'discord') api.roles.delete(user)
      assert.equal(await message('level.reached', { user: { id: '9' } }), 204)
      api.roles.set(user, roles)
    })

    it('rank is private and sets the own roles', async () => {
      api.roles.get(user).delete(chat.roles.level)
      assert.deepEqual(await command('rank', 'all'), [true, 'You are number 1 of 1 of all time, with 32 points.'])
      await eventually(() => rolesOf(user), all)
    })

    it('top escapes names', async () => {
      const text = `Top 10 this week:\n1. ${chat.escaped}: 2\n<${rank.url}/#week>`
      assert.deepEqual(await command('top', 'week', stranger), [false, text])
      assert.deepEqual(await command('other', '', stranger), [true, 'There are /rank, /top and /link.'])
    })

    it('daily check takes lost roles back', async () => {
      await client.deleteAccount({ user: account })
      const source = /** @type {import('../../recipes/receiver/types.js').Chat} */ (SOURCES[name])
      await chatWorker(source, mappingOf(name)).scheduled(undefined, vars)
      assert.deepEqual(chat.users.map(rolesOf), [[], [], []])
    })

    /** Adds 25 holders of a role. Returns them, and a function that runs the daily check with these roles. */
    function addHolders(t, roles = mappingOf(name).roles) {
      const source = /** @type {import('../../recipes/receiver/types.js').Chat} */ (SOURCES[name])
      const ids = Array.from({ length: 25 }, (_, index) => `${holder}${index + 10}`)
      api.disabled.clear()
      for (const id of ids) api.roles.set(id, new Set([chat.roles.level]))
      t.after(() => {
        api.fault = 0
        for (const id of ids) api.roles.delete(id)
      })
      const mapping = { ...mappingOf(name), roles }
      const check = (wait, url = rank.url) =>
        chatWorker(source, mapping, wait).scheduled(undefined, { ...vars, ACTIVITY_RANK_URL: url })
      return { ids, check }
    }

    /** Slack refuses the 21st read of its groups in a minute; Discord answers all. */
    it('daily check waits for the rate limit', async (t) => {
      const { ids, check } = addHolders(t)
      const waits = []
      await check(async (milliseconds) => {
        waits.push(milliseconds)
        api.reads = 0
      })
      assert.deepEqual(waits, name === 'slack' ? [3000] : [])
      assert.deepEqual(ids.map(rolesOf), Array(25).fill([]))
    })

    it('daily check ends after ten minutes of waits', async (t) => {
      const { check } = addHolders(t)
      const waits = []
      api.fault = 429
      await assert.rejects(
        check(async (milliseconds) => waits.push(milliseconds)),
        { message: / answered 429 to / },
      )
      assert.deepEqual(waits, Array(200).fill(3000))
    })

    it('daily check reads the roles of holders once', async (t) => {
      const { ids, check } = addHolders(t, [{ role: chat.roles.level, level: 0 }])
      const { requests } = api
      await check()
      assert.deepEqual([ids.map(rolesOf), api.requests - requests], [Array(25).fill([chat.roles.level]), 1])
    })

    it('daily check goes on after a member fails', async (t) => {
      const { ids, check } = addHolders(t)
      const refusal = { status: 403, headers: { 'content-type': 'application/problem+json' }, body: '{"detail":"No."}' }
      const proxy = await startProxy(rank, ({ url }) => (url.includes(ids[12]) ? refusal : undefined))
      t.after(() => proxy.stop())
      const checked = check(async () => void (api.reads = 0), proxy.url)
      await assert.rejects(checked, { message: 'Members not checked: 1. The first error: getStanding: 403 Forbidden' })
      assert.deepEqual(
        ids.filter((id) => api.roles.get(id).size > 0),
        [ids[12]],
      )
    })
  })
}

for (const [name, answer] of /** @type {const} */ ([
  ['their list', undefined],
  ['one after the other without its scope', [200, { ok: false, error: 'missing_scope', needed: 'users:read' }]],
])) {
  it(`deactivated users of Slack are left out: ${name}`, async (t) => {
    const api = await CHATS.slack.start()
    t.after(() => api.stop())
    const warn = t.mock.method(console, 'warn', () => {})
    const role = CHATS.slack.roles.level
    for (const user of ['U1', 'U2', 'U3']) api.roles.set(user, new Set(user === 'U3' ? [] : [role]))
    api.inactive.add('U1')
    api.refusal = answer && { role: 'users.list', answer }
    await slack.setRole(CHATS.slack.vars(api.url), { roles: [] }, 'U3', role, true)
    assert.deepEqual(
      [...api.roles].filter(([, roles]) => roles.has(role)).map(([user]) => user),
      ['U2', 'U3'],
    )
    assert.deepEqual(
      warn.mock.calls.map(({ arguments: [line] }) => line),
      [`Slack accepts no deactivated user, guest or bot in ${role}: U1.`],
    )
  })
}

it('ping of Discord is answered', async () => {
  const body = new TextEncoder().encode('{"type":1}')
  const response = discord.read(body)
  assert.ok(response instanceof Response)
  assert.deepEqual(await response.json(), { type: 1 })
})

for (const [name, source] of Object.entries(SOURCES)) {
  it(`command of ${name} six minutes old is refused`, async () => {
    const { command, signed, vars } = CHATS[name]
    const text = command('top', '1', '')
    const now = Date.now()
    const verify = (time) => {
      const headers = new Headers(signed(text, time))
      const secret = vars('')[source.secret]
      return source.verify({ headers, body: new TextEncoder().encode(text), secret, now })
    }
    assert.deepEqual(
      [await verify(now), await verify(now - 360_000), await verify(now + 360_000)],
      [true, false, false],
    )
  })
}

it('public key of Discord has 64 digits', async () => {
  const delivery = { headers: new Headers(), body: new Uint8Array(), now: 0 }
  await assert.rejects(
    async () => discord.verify({ ...delivery, secret: 'a token' }),
    ({ document }) =>
      document.status === 500 && document.detail.startsWith('DISCORD_PUBLIC_KEY must be the public key'),
  )
})

it('unknown server of Discord is an error', async (t) => {
  const api = await CHATS.discord.start()
  t.after(() => api.stop())
  const env = { ...CHATS.discord.vars(api.url), ACTIVITY_RANK_URL: 'http://127.0.0.1:1', ACTIVITY_RANK_KEY: KEY }
  const mapping = { ...mappingOf('discord'), guild: '1' }
  await assert.rejects(chatWorker(discord, mapping).scheduled(undefined, env), {
    message: 'Discord answered 404 (Unknown Guild) to GET /guilds/1/members?limit=1000&after=0.',
  })
})

for (const [name, rule, message] of [
  ['an unknown field', { role: '1', level: 2, points: 3 }, 'unknown field `points`.'],
  ['a number for a role', { role: 1, level: 2 }, '`role` must be the id of a role, as text.'],
  ['two reasons', { role: '1', level: 2, place: 'week' }, 'one of `level`, `place` and `achievement` is required.'],
  ['an open period', { role: '1', place: 'all' }, '`place` must be one of day, week, month, year.'],
  ['the id of the server', { role: '9', level: 2 }, '`role` is the id of the server, which everyone has as a role.'],
  ['four places', { role: '1', place: 'week', within: 4 }, '`within` must be 1, 2 or 3.'],
]) {
  it(`role with ${name} is refused`, () => {
    const mapping = /** @type {any} */ ({ guild: '9', roles: [rule] })
    assert.throws(() => chatWorker(discord, mapping), { message: `mapping.json: roles.0: ${message}` })
  })
}
