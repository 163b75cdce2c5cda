// A Worker that gives roles of a chat by level, place and achievement, takes them back, and answers commands. It receives the
// webhooks of a deployment at /webhook and the commands of the chat at any other path. It stores nothing: the accounts of a
// member have the ids of the chat.

/** @import { Chat, ChatMapping, Command, Env, Json, Payload, RoleRule } from './types.js' */
/** @import { Client } from '@activity-rank/server' */

import { ApiError, ConnectionError, userToken } from '@activity-rank/server'
import { connect, failureOf } from './deployment.js'
import { generic } from './generic.js'
import { errorResponse, Problem, RateLimited, Refused } from './problem.js'
import { parse, readBody } from './receiver.js'

const PERIODS = /** @type {const} */ (['day', 'week', 'month', 'year', 'all'])
const PLACES = /** @type {const} */ (['day', 'week', 'month', 'year'])
const TOP = 10 // members
const LINK_LIFETIME = 600 // seconds
const ANSWER_TIMEOUT = 2500 // ms: Discord and Slack wait 3 seconds
const WAITS = 600_000 // ms of a run of cron for rate limits: the platform ends the run after 15 minutes
const SPANS = { day: 'today', week: 'this week', month: 'this month', year: 'this year', all: 'of all time' }
const FIELDS = ['role', 'level', 'place', 'within', 'achievement', 'step']

/**
 * Returns the Worker of a chat with its mapping file. Throws an `Error` if the mapping is invalid.
 * @param {Chat} chat
 * @param {ChatMapping} mapping
 * @param {(milliseconds: number) => Promise<unknown>} [wait]
 */
export function chatWorker(chat, mapping, wait = sleep) {
  checkRoles(mapping)
  return {
    /**
     * @param {Request} request
     * @param {Env} env
     * @param {{ waitUntil(promise: Promise<unknown>): void }} context
     */
    async fetch(request, env, context) {
      try {
        return await respond(new Run(chat, mapping, env), request, context)
      } catch (error) {
        return errorResponse(failureOf(error))
      }
    },

    /**
     * Takes roles back that no message reports: levels that were lost, accounts that were detached, erased members.
     * @param {unknown} _
     * @param {Env} env
     */
    async scheduled(_, env) {
      const run = new Run(chat, mapping, env)
      let left = WAITS
      const failures = await run.syncHolders(async (milliseconds) => {
        left -= milliseconds
        if (left >= 0) await wait(milliseconds)
        return left >= 0
      })
      run.logRefusals()
      if (failures.length === 0) return
      const [cause] = failures
      const message = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`Members not checked: ${failures.length}. The first error: ${message}`, { cause })
    },
  }
}

/**
 * Throws an `Error` that names the first mistake of the roles.
 * @param {ChatMapping} mapping
 */
export function checkRoles({ guild, roles }) {
  if (!Array.isArray(roles)) throw new Error('mapping.json: `roles` must be a list.')
  for (const [index, rule] of roles.entries()) {
    const fail = (/** @type {string} */ text) => new Error(`mapping.json: roles.${index}: ${text}`)
    const unknown = Object.keys(rule).find((name) => !FIELDS.includes(name))
    if (unknown) throw fail(`unknown field \`${unknown}\`.`)
    if (typeof rule.role !== 'string') throw fail('`role` must be the id of a role, as text.')
    if (rule.role === guild) throw fail('`role` is the id of the server, which everyone has as a role.')
    const kinds = [rule.level, rule.place, rule.achievement].filter((kind) => kind !== undefined)
    if (kinds.length !== 1) throw fail('one of `level`, `place` and `achievement` is required.')
    if (rule.place !== undefined && !isIn(PLACES, rule.place))
      throw fail(`\`place\` must be one of ${PLACES.join(', ')}.`)
    if (rule.within !== undefined && ![1, 2, 3].includes(rule.within)) throw fail('`within` must be 1, 2 or 3.')
  }
}

/**
 * @param {Run} run
 * @param {Request} request
 * @param {{ waitUntil(promise: Promise<unknown>): void }} context
 */
async function respond(run, request, context) {
  const { chat, env } = run
  if (request.method !== 'POST') throw new Problem('method-not-allowed', 'Send requests with POST.', { allow: 'POST' })
  const body = await readBody(request)
  const isWebhook = new URL(request.url).pathname.endsWith('/webhook')
  const { verify, secret: name } = isWebhook ? generic : chat
  const secret = env[name]
  if (typeof secret !== 'string' || secret === '') throw new Problem('misconfigured', `${name} is not set.`)
  if (!(await verify({ headers: request.headers, body, secret, now: Date.now() }))) {
    throw new Problem('unauthenticated', `The signature does not match ${name}, or it is too old.`)
  }
  if (isWebhook) {
    await run.receive(parse(body))
    const refused = run.logRefusals()
    return refused.length ? Response.json({ refused }) : new Response(null, { status: 204 })
  }
  const command = chat.read(body)
  if (command instanceof Response) return command
  // The member sees the answer first.
  if (command.name === 'rank') context.waitUntil(run.syncUser(command.user).finally(() => run.logRefusals()))
  const { text, isPrivate = true } = await run.answer(command).catch((error) => {
    if (!(error instanceof ApiError || error instanceof ConnectionError)) throw error
    console.error(error.message)
    return { text: 'The ranking is not available now. Try again later.', isPrivate: true }
  })
  return chat.reply(text, isPrivate)
}

/** @param {number} milliseconds */
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** The handling of one request, or of one run of cron. */
class Run {
  /** @type {Map<string, string[]> | undefined} the roles of all holders, once they are read */
  #holders
  /** @type {Map<string, Promise<{ user: { id: string } }[]>>} */
  #winners = new Map()
  /** @type {Map<string, string>} why the chat refuses a role for good */
  #refusals = new Map()

  /**
   * @param {Chat} chat
   * @param {ChatMapping} mapping
   * @param {Env} env
   */
  constructor(chat, mapping, env) {
    this.chat = chat
    this.mapping = mapping
    this.env = env
    this.client = connect(env)
  }

  /** Logs the roles that the chat has refused for good, and returns them with the reasons. */
  logRefusals() {
    const refused = [...this.#refusals].map(([role, reason]) => `${role}: ${reason}`)
    for (const line of refused) console.error(line)
    return refused
  }

  /**
   * Sets the roles of the members whom a message of the deployment is about.
   * @param {Payload} message
   */
  async receive({ type, data }) {
    if (!isObject(data)) return
    /** @type {unknown[]} */
    let failures = []
    if (type === 'period.closed') {
      const kind = isObject(data.period) ? data.period.kind : undefined
      if (!this.mapping.roles.some(({ place }) => place === kind)) return
      // The sender repeats the message after a rate limit.
      failures = await this.syncHolders(async () => false)
      const entries = Array.isArray(data.entries) ? data.entries : []
      await each(entries, failures, (entry) => this.#syncMember(isObject(entry) ? entry.user : null, failures))
    } else await this.#syncMember(data.user, failures)
    if (failures.length) throw failures.find((error) => !(error instanceof Refused)) ?? failures[0]
  }

  /**
   * @param {Json | undefined} member the member of a message
   * @param {unknown[]} failures
   */
  async #syncMember(member, failures) {
    if (!isObject(member) || typeof member.id !== 'string') return
    const { accounts } = await this.client.getAccount({ user: member.id })
    const prefix = `${this.chat.prefix}:`
    const own = [member.id, ...accounts].map(String).filter((id) => id.startsWith(prefix))
    await each(own, failures, (id) => this.syncUser(id.slice(prefix.length)))
  }

  /**
   * Sets the roles of all users who have any. Returns the errors of single users, and goes on with the others. Throws the error
   * of a rate limit if `wait` resolves with false.
   * @param {(milliseconds: number) => Promise<boolean>} wait
   */
  async syncHolders(wait) {
    /** @type {<Result>(attempt: () => Promise<Result>) => Promise<Result>} */
    const repeat = async (attempt) => {
      for (;;) {
        try {
          return await attempt()
        } catch (error) {
          if (!(error instanceof RateLimited && (await wait(error.milliseconds)))) throw error
        }
      }
    }
    /** @type {unknown[]} */
    const failures = []
    const holders = await repeat(() => this.chat.holders(this.env, this.mapping))
    this.#holders = holders
    const users = [...holders.keys()]
    // A run that ends early does not miss the same users each day.
    const first = Math.floor(Math.random() * users.length)
    const turn = [...users.slice(first), ...users.slice(0, first)]
    await each(turn, failures, (user) => repeat(() => this.syncUser(user)))
    return failures
  }

  /**
   * Gives a user of the chat the roles of the member, and takes all others of the mapping. A role that the chat refuses does not
   * block the others, and is not tried again in this run if the refusal is final.
   * @param {string} user
   */
  async syncUser(user) {
    const { chat, env, mapping } = this
    const roles = this.#holders ? (this.#holders.get(user) ?? []) : await chat.rolesOf(env, mapping, user)
    if (!roles) return
    const earned = await this.#earnedRoles(this.#idOf(user))
    const changed = new Set(mapping.roles.map(({ role }) => role))
    /** @type {unknown[]} */
    const failures = []
    await each([...changed], failures, async (role) => {
      const has = earned.includes(role)
      if (has === roles.includes(role) || this.#refusals.has(role)) return
      await chat.setRole(env, mapping, user, role, has).catch((error) => {
        if (!(error instanceof Refused)) throw error
        this.#refusals.set(role, error.message)
      })
    })
    if (failures.length) throw failures[0]
    this.#holders?.set(user, earned)
  }

  /** @param {string} user */
  #idOf = (user) => `${this.chat.prefix}:${user}`

  /**
   * Returns the roles that a member has earned. A hidden member has none: a role would show that they are active.
   * @param {string} user
   */
  async #earnedRoles(user) {
    const { roles } = this.mapping
    const [standing, { hidden }] = await Promise.all([
      this.client.getStanding({ period: 'all', user }),
      this.client.getModeration({ user }),
    ])
    if (hidden || standing.user.hidden) return []
    const member = standing.account_of ?? user
    const level = standing.user.level?.number ?? 0
    const needsAchievements = roles.some(({ achievement }) => achievement !== undefined)
    const { achievements } = needsAchievements ? await this.client.getAchievements({ user }) : { achievements: [] }
    /** @type {(rule: RoleRule) => Promise<boolean>} */
    const isEarned = async (rule) => {
      if (rule.level !== undefined) return level >= rule.level
      if (rule.place !== undefined) {
        const first = (await this.#winnersOf(rule.place)).slice(0, rule.within ?? 1)
        return first.some(({ user }) => user.id === member)
      }
      const steps = achievements.find(({ id }) => id === rule.achievement)?.steps ?? []
      return steps.some(({ value, at }) => at != null && value >= (rule.step ?? 1))
    }
    const earned = []
    for (const rule of roles) if (await isEarned(rule)) earned.push(rule.role)
    return earned
  }

  /**
   * Returns the first members of the last board of a period that ended.
   * @param {string} place
   */
  #winnersOf(place) {
    const period = isIn(PLACES, place) ? place : 'week'
    const known = this.#winners.get(place)
    if (known) return known
    const winners = this.client.getWinners({ period, limit: 1 }).then(({ boards }) => boards[0]?.entries ?? [])
    this.#winners.set(place, winners)
    return winners
  }

  /**
   * Answers a command.
   * @param {Command} command
   * @returns {Promise<{ text: string, isPrivate?: boolean }>}
   */
  async answer({ name, text, user }) {
    const period = isIn(PERIODS, text) ? text : 'week'
    const options = { signal: AbortSignal.timeout(ANSWER_TIMEOUT) }
    if (name === 'rank') {
      const { rank, score, total } = await this.client.getStanding({ period, user: this.#idOf(user) }, options)
      if (rank === null) return { text: `You have no points ${SPANS[period]}. If your account is not linked: /link` }
      return { text: `You are number ${rank} of ${total} ${SPANS[period]}, with ${score} points.` }
    }
    if (name === 'top') {
      const { entries } = await this.client.getBoard({ period, limit: TOP }, options)
      const lines = entries.map(
        ({ rank, score, user }) => `${rank}. ${this.chat.escape(user.name ?? user.id)}: ${score}`,
      )
      if (!lines.length) return { text: `No one has points ${SPANS[period]}.`, isPrivate: false }
      const { ACTIVITY_RANK_URL: url } = this.env
      // Without angle brackets, Discord would add a preview of the page.
      if (url) lines.push(`<${new URL(`#${period}`, url).href}>`)
      return { text: [`Top ${TOP} ${SPANS[period]}:`, ...lines].join('\n'), isPrivate: false }
    }
    if (name === 'link') return { text: await this.#linkOf(user) }
    return { text: 'There are /rank, /top and /link.' }
  }

  /**
   * Returns the link to the page that makes a user of the chat an account of the member who opens it.
   * @param {string} user
   */
  async #linkOf(user) {
    const { JWT_SECRET: secret } = this.env
    if (!this.mapping.link || typeof secret !== 'string') return 'Accounts cannot be linked here.'
    const account = this.#idOf(user)
    const token = await userToken({ secret, user: account, expiresIn: LINK_LIFETIME }).catch(
      (error) => void console.error(`JWT_SECRET: ${error.message}`),
    )
    if (!token) return 'Accounts cannot be linked here.'
    const page = new URL(this.mapping.link)
    // No server and no log sees what is behind #.
    page.hash = new URLSearchParams({ account, token }).toString()
    return `Open this page within ${LINK_LIFETIME / 60} minutes, and show it to no one: ${page.href}`
  }
}

/**
 * Runs an action for each item, and collects the errors of single ones. Throws the error of a rate limit.
 * @template Item
 * @param {Item[]} items
 * @param {unknown[]} failures
 * @param {(item: Item) => Promise<void>} act
 */
async function each(items, failures, act) {
  for (const item of items) {
    try {
      await act(item)
    } catch (error) {
      if (error instanceof RateLimited) throw error
      failures.push(error)
    }
  }
}

/**
 * @template {string} Value
 * @param {readonly Value[]} values
 * @param {string} text
 * @returns {text is Value}
 */
const isIn = (values, text) => /** @type {readonly string[]} */ (values).includes(text)

/**
 * @param {Json | undefined} value
 * @returns {value is Payload}
 */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
