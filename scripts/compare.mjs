// Counts the same activities with activity-rank and with what people write by hand, while responses are lost,
// requests are doubled and Redis is killed, and prints the number of doubles and losses.
//
//   COUNT=1000 node scripts/compare.mjs          prints the table
//   COUNT=1000 node scripts/compare.mjs --write  and writes it into README.md and docs/alternatives.md
//
// Each activity is a like by a user of its own, so the score of each user is 2 if it counted once. Clients repeat a request
// until the response is 2xx.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { spawnTied, stopTied, waitForLine } from '../tests/sdk/support.mjs'
import { startWrangler, workerConfig } from '../tests/sdk/worker.mjs'
import { LOSE_RESPONSE, startProxy } from '../tests/server-sdk/support.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PAGES = ['README.md', 'docs/alternatives.md']
const KEY = 'compare-key'
const TOKEN = 'compare-store-token'
const CONNECTIONS = 16
/** One of so many responses is lost. */
const LOSSES = 10
/** So many clients send each doubled activity at the same moment. */
const DOUBLES = 4
/** So often Redis is killed during a load. */
const KILLS = 3
/** Rounds in which the contenders take turns for the latency, and likes of each turn. */
const ROUNDS = 7
const TURN = 200
const ATTEMPTS = 200

/** @type {Record<string, { title: string, peer?: string }>} */
const CONTENDERS = {
  ours: { title: 'activity-rank' },
  zincrby: { title: '`ZINCRBY` by hand', peer: 'zincrby.js' },
  posts: { title: 'with a record, call by call', peer: 'posts.js' },
}

/** @type {Record<string, string>} */
export const FAULTS = {
  none: 'nothing wrong',
  client: `1 of ${LOSSES} responses to clients lost`,
  store: `1 of ${LOSSES} responses of the store lost`,
  doubled: `each sent by ${DOUBLES} clients at once`,
  killed: `Redis killed and started again, ${KILLS} times`,
}

/** @returns {Promise<number>} */
const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer().on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
      server.close(() => resolve(port))
    })
  })

/** Redis with a log that survives SIGKILL, and the gateway. */
async function startStore() {
  const folder = mkdtempSync(join(tmpdir(), 'activity-rank-compare-'))
  const port = await freePort()
  const startRedis = async () => {
    const options = ['--port', `${port}`, '--dir', folder, '--save', '', '--appendonly', 'yes']
    const child = spawnTied('redis-server', options)
    await waitForLine(child, /Ready to accept connections/)
    return child
  }
  /** @param {...string} command */
  const redis = (...command) => execFileSync('redis-cli', ['-p', `${port}`, ...command], { encoding: 'utf8' })
  let server = await startRedis()
  const gateway = spawnTied(join(ROOT, 'target/debug/redis-rest'), [], {
    REDIS_URL: `redis://127.0.0.1:${port}`,
    LISTEN: '127.0.0.1:0',
    REDIS_REST_TOKEN: TOKEN,
  })
  const [, url] = await waitForLine(gateway, /^redis-rest listening on (http:.*)$/)
  return {
    url,
    /** Returns the number of commands so far, including commands of scripts. */
    commands: () => {
      const calls = [...redis('INFO', 'commandstats').matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)]
      return calls.reduce((sum, [, name, count]) => (name === 'info' ? sum : sum + Number(count)), 0)
    },
    async kill() {
      process.kill(Number(/process_id:(\d+)/.exec(redis('INFO', 'server'))?.[1]), 'SIGKILL')
      await stopTied(server)
      server = await startRedis()
    },
    async stop() {
      await Promise.all([gateway, server].map(stopTied))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Starts a contender before a store.
 * @param {string} name
 * @param {string} store
 */
function startContender(name, store) {
  const vars = { UPSTASH_REDIS_REST_URL: store, UPSTASH_REDIS_REST_TOKEN: TOKEN, PREFIX: name }
  const { peer } = CONTENDERS[name]
  if (!peer) return startWrangler(workerConfig({ ...vars, SERVICE_KEYS: KEY, BOARD_MAX_AGE: 0 }))
  const main = join(ROOT, 'crates/bench/peers', peer)
  return startWrangler({ name: 'peer', main, compatibility_date: '2026-11-01', vars })
}

/**
 * Counts a like of each user once, as clients do: they repeat it until the response is 2xx. Returns the milliseconds of each.
 * @param {string} url
 * @param {string[]} users
 * @param {number} clients that send each at the same moment
 */
async function countAll(url, users, clients = 1) {
  /** @type {number[]} */
  const times = []
  const waiting = users.values()
  /** @param {string} user */
  const send = async (user) => {
    let failure = ''
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(`${url}/v1/activity`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ user, action: 'like', target: 'post-7' }),
      }).catch((error) => {
        failure = `${error.cause ?? error}`
        return undefined
      })
      if (response) failure = `status ${response.status}`
      await response?.arrayBuffer().catch(() => undefined)
      if (response?.ok) return
      if (attempt === ATTEMPTS) throw new Error(`${url}: no 2xx response, at last ${failure}`)
      await pause(50)
    }
  }
  const connection = async () => {
    for (const user of waiting) {
      const begun = performance.now()
      await Promise.all(Array.from({ length: clients }, () => send(user)))
      times.push(performance.now() - begun)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, connection))
  return times
}

/**
 * Returns the number of surplus counts, and the number of activities that are not counted.
 * @param {string} url
 * @param {string[]} users
 */
async function check(url, users) {
  /** @type {Map<string, number>} */
  const scores = new Map()
  for (let offset = 0; ; offset += 100) {
    const response = await fetch(`${url}/v1/ranking/month?limit=100&offset=${offset}`)
    /** @type {any} */
    const body = await response.json()
    if (!response.ok) throw new Error(JSON.stringify(body))
    for (const { user, score } of body.entries) scores.set(user.id, score)
    if (body.entries.length < 100) break
  }
  const counts = users.map((user) => (scores.get(user) ?? 0) / 2)
  return {
    doubles: counts.reduce((sum, count) => sum + Math.max(0, count - 1), 0),
    losses: counts.reduce((sum, count) => sum + Math.max(0, 1 - count), 0),
  }
}

/** @param {number[]} times @param {number} share */
const percentile = (times, share) => times.toSorted((a, b) => a - b)[Math.floor(times.length * share)]

/**
 * Runs a contender through all faults.
 * @param {string} name
 * @param {number} count of activities for each fault
 */
export async function run(name, count) {
  const store = await startStore()
  const stops = [() => store.stop()]
  /** @param {string} fault */
  const usersOf = (fault) => Array.from({ length: count }, (_, index) => `${fault}-${index}`)
  try {
    const direct = await startContender(name, store.url)
    stops.push(() => direct.stop())
    await countAll(direct.url, usersOf('warm'))
    const before = store.commands()
    await countAll(direct.url, usersOf('none'))
    const commands = (store.commands() - before) / count
    /** @type {Record<string, { doubles: number, losses: number }>} */
    const faults = { none: await check(direct.url, usersOf('none')) }

    const losing = (/** @type {any} */ _, /** @type {number} */ index) =>
      index % LOSSES === LOSSES - 1 ? LOSE_RESPONSE : undefined
    const front = await startProxy(direct, losing)
    stops.push(() => front.stop())
    await countAll(front.url, usersOf('client'))
    faults.client = await check(direct.url, usersOf('client'))

    await countAll(direct.url, usersOf('doubled'), DOUBLES)
    faults.doubled = await check(direct.url, usersOf('doubled'))

    let isLosing = false
    const back = await startProxy(store, (request, index) => (isLosing ? losing(request, index) : undefined))
    stops.push(() => back.stop())
    const behind = await startContender(name, back.url)
    stops.push(() => behind.stop())
    // The first request of a Worker loads its script.
    await countAll(behind.url, ['first'])
    isLosing = true
    await countAll(behind.url, usersOf('store'))
    isLosing = false
    faults.store = await check(direct.url, usersOf('store'))

    const load = countAll(direct.url, usersOf('killed'))
    for (let kill = 0; kill < KILLS; kill++) {
      await pause(Math.min(300, count / 4))
      await store.kill()
    }
    await load
    faults.killed = await check(direct.url, usersOf('killed'))
    return { faults, commands }
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}

/**
 * Measures the latency of all contenders, which take turns, and returns their ratios to the first one: the medians of rounds.
 * @param {string[]} names
 */
async function latencies(names) {
  const store = await startStore()
  const stops = [() => store.stop()]
  try {
    /** @type {{ name: string, url: string, rounds: { p50: number, p99: number }[] }[]} */
    const contenders = []
    for (const name of names) {
      const { url, stop } = await startContender(name, store.url)
      stops.push(stop)
      contenders.push({ name, url, rounds: [] })
      await countAll(
        url,
        Array.from({ length: TURN }, (_, index) => `warm-${index}`),
      )
    }
    for (let round = 0; round < ROUNDS; round++) {
      // Another contender begins each round.
      const first = round % contenders.length
      for (const { url, rounds } of [...contenders.slice(first), ...contenders.slice(0, first)]) {
        const times = await countAll(
          url,
          Array.from({ length: TURN }, (_, index) => `${round}-${index}`),
        )
        rounds.push({ p50: percentile(times, 0.5), p99: percentile(times, 0.99) })
      }
    }
    const median = (/** @type {number[]} */ values) => percentile(values, 0.5)
    const [first] = contenders
    return Object.fromEntries(
      contenders.map(({ name, rounds }) => [
        name,
        {
          p50: median(rounds.map(({ p50 }, round) => p50 / first.rounds[round].p50)),
          p99: median(rounds.map(({ p99 }, round) => p99 / first.rounds[round].p99)),
        },
      ]),
    )
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}

/**
 * @param {Record<string, Awaited<ReturnType<typeof run>>>} results
 * @param {Awaited<ReturnType<typeof latencies>>} ratios
 * @param {number} count
 */
function table(results, ratios, count) {
  const names = Object.keys(results)
  const row = (/** @type {(string | number)[]} */ cells) => `| ${cells.join(' | ')} |`
  /** @param {{ doubles: number, losses: number }} result */
  const text = ({ doubles, losses }) => (doubles + losses ? `${doubles} double, ${losses} lost` : 'exact')
  return [
    row([`of ${count.toLocaleString('en')} likes, with`, ...names.map((name) => CONTENDERS[name].title)]),
    `|${'---|'.repeat(names.length + 1)}`,
    ...Object.entries(FAULTS).map(([fault, title]) =>
      row([title, ...names.map((name) => text(results[name].faults[fault]))]),
    ),
    row(['Redis commands for a like', ...names.map((name) => results[name].commands.toFixed(0))]),
    row(['median latency, relative', ...names.map((name) => ratios[name].p50.toFixed(2))]),
    row(['99th percentile, relative', ...names.map((name) => ratios[name].p99.toFixed(2))]),
  ].join('\n')
}

/**
 * Writes the table between its marks in a page.
 * @param {string} path
 * @param {string} text
 */
function writeTable(path, text) {
  const between = /(<!-- scripts\/compare\.mjs -->\n)[\s\S]*?(<!-- end -->)/
  const page = readFileSync(join(ROOT, path), 'utf8')
  if (!between.test(page)) throw new Error(`${path} has no <!-- scripts/compare.mjs -->`)
  writeFileSync(
    join(ROOT, path),
    page.replace(between, (_, begin, end) => `${begin}\n${text}\n\n${end}`),
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const count = Number(process.env.COUNT || 1000)
  if (!Number.isSafeInteger(count) || count < 20) throw new Error('COUNT must be an integer from 20.')
  /** @type {Record<string, Awaited<ReturnType<typeof run>>>} */
  const results = {}
  for (const name of Object.keys(CONTENDERS)) results[name] = await run(name, count)
  const text = table(results, await latencies(Object.keys(CONTENDERS)), count)
  console.log(text)
  if (process.argv[2] === '--write') for (const page of PAGES) writeTable(page, text)
}
