// Estimates the processor time of the Worker in runs of cron and of the queue, with V8's profiler in workerd, and writes the
// table of docs/limits.md. Compile the gateway first: `scripts/test --gateway`.
//
//   node scripts/cpu.mjs            prints the table
//   node scripts/cpu.mjs --write    and writes it into docs/limits.md
//
// A time is the median of several runs. Run it on an idle machine: other programs add to it. It has everything that the isolate of
// the Worker executes, wasm and JavaScript, and nothing of Redis, D1 and KV. Cloudflare's machines differ.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { freePort, startGateway } from '../tests/sdk/support.mjs'
import { startWorker } from '../tests/sdk/worker.mjs'

const PAGE = join(fileURLToPath(new URL('..', import.meta.url)), 'docs/limits.md')
const [START, END] = ['<!-- begin: scripts/cpu.mjs -->', '<!-- end: scripts/cpu.mjs -->']
const KEY = 'cpu-key'
const RUNS = 9
const DAY = 86_400_000 // ms
const INTERVAL = 100 // µs between samples

/** Accepts every message of a webhook. */
const receiver = createServer((request, response) => {
  received += 1
  request.resume().on('end', () => response.writeHead(204).end())
})
let received = 0
await new Promise((resolve) => receiver.listen(0, '127.0.0.1', () => resolve(undefined)))
const { port } = /** @type {import('node:net').AddressInfo} */ (receiver.address())

const store = await startGateway()
const inspector = await freePort()
const worker = await startWorker(
  {
    UPSTASH_REDIS_REST_URL: store.url,
    UPSTASH_REDIS_REST_TOKEN: store.token,
    SERVICE_KEYS: KEY,
    PREFIX: 'cpu',
    LEVELS: { Member: 2 },
    WEBHOOKS: [
      {
        url: `http://127.0.0.1:${port}/`,
        secret: `whsec_${btoa('0123456789abcdef01234567')}`,
        kinds: ['level.reached'],
      },
    ],
    STORE_TIMEOUT_MS: 2000,
  },
  { databases: true, snapshots: true, queues: true },
  { INSPECTOR_PORT: `${inspector}` },
)

/**
 * Sends a body as a service. Returns the response, which has to be 200.
 * @param {string} method
 * @param {string} path
 * @param {unknown} body
 */
async function write(method, path, body) {
  const response = await fetch(`${worker.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 200)}`)
  return text
}

/**
 * Sends activities as arrays of 500, which have an outcome.
 * @param {object[]} activities
 * @param {string} [outcome]
 */
async function send(activities, outcome = 'counted') {
  for (let from = 0; from < activities.length; from += 500) {
    const text = await write('POST', '/v1/activity', activities.slice(from, from + 500))
    if (!text.includes(`"${outcome}"`)) throw new Error(`no ${outcome}: ${text.slice(0, 200)}`)
  }
}

let number = 0
/**
 * @param {number} count
 * @param {object} [fields]
 */
const likes = (count, fields = {}) =>
  Array.from({ length: count }, (_, index) => {
    number += 1
    return { user: `u${index % 200}`, action: 'like', target: `post-${number}`, ...fields }
  })

/** @param {string} cron */
async function cron(cron) {
  const query = new URLSearchParams({ cron, time: `${Date.now()}` })
  const response = await fetch(`${worker.url}/cdn-cgi/local/scheduled?${query}`)
  if (!response.ok) throw new Error(`${cron}: ${response.status} ${await response.text()}`)
}
const minute = () => cron('* * * * *')
const fiveMinutes = () => cron('*/5 * * * *')

/** Boards of so many days, one of 20 members each, that the archive does not have. */
let groupNumber = 0
async function closedBoards(count) {
  const groups = Array.from({ length: 4 }, () => `g${groupNumber++}`)
  const at = (back) => new Date(Date.now() - back * DAY).toISOString()
  for (let back = 2; back < 2 + count / 5; back++) {
    await send(likes(20, { at: at(back), groups }))
  }
  while (await outbox()) await minute()
}

const outbox = async () => {
  const response = await fetch(`${worker.url}/v1/status`, { headers: { authorization: `Bearer ${KEY}` } })
  const status = await response.json()
  return status.outbox.entries
}

/** @param {...string} command */
const redis = (...command) => execFileSync('redis-cli', ['-p', `${store.redisPort}`, ...command], { encoding: 'utf8' })

/** The user of the queued activities, and their points. @type {[string, number]} */
let waiting = ['', 0]

/** Queues messages of so many activities, while the store does not respond. */
async function queue(messages, size) {
  waiting = [`q${number++}`, 2 * messages * size]
  redis('CLIENT', 'PAUSE', '5000', 'ALL')
  const activities = likes(messages * size, { user: waiting[0] })
  const requests = Array.from({ length: messages }, (_, index) =>
    send(activities.slice(index * size, (index + 1) * size), 'queued'),
  )
  await Promise.all(requests)
}

/** Waits until the queued activities are counted. */
async function delivered() {
  const [user, points] = waiting
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await pause(200)) {
    const score = Number(redis('ZSCORE', '{cpu:0}1ba:all', user))
    if (Math.floor(score / 2 ** 30) === points) return
  }
  throw new Error('the queue did not deliver')
}

/** Makes so many messages of webhooks: new members who reach a level. */
async function reachLevel(count) {
  await send(Array.from({ length: count }, () => ({ user: `l${number++}`, action: 'like', target: 'post' })))
  received = 0
}

/** Sends the messages of webhooks. */
async function sendMessages() {
  await minute()
  if (received < 20) throw new Error(`the webhook received ${received} messages`)
}

/** Hides a member who has points on so many boards. */
async function hide(count) {
  const user = `h${number++}`
  const days = Math.ceil(count / 4)
  const past = Array.from({ length: days }, (_, day) => {
    const at = new Date(Date.now() - (100 + day) * DAY).toISOString()
    return { user, action: 'like', target: `post-${day}`, at, groups: ['a', 'b', 'c'] }
  })
  await send(past)
  while (await outbox()) await minute()
  await write('PUT', `/v1/users/${user}/moderation`, { hidden: true, frozen: false, reason: 'cpu' })
}

/** @type {[job: string, work: string, binding: string, prepare: () => Promise<unknown>, run: () => Promise<unknown>][]} */
const JOBS = [
  ['every minute', 'nothing to do', '`JOURNAL`', async () => {}, minute],
  ['every minute', 'drains 100 entries', '`JOURNAL`', () => send(likes(100)), minute],
  ['every minute', 'drains 1,000 entries', '`JOURNAL`', () => send(likes(1000)), minute],
  ['every five minutes', 'nothing to do', 'all', async () => {}, fiveMinutes],
  [
    'every five minutes',
    'snapshots of 5 boards of 200 members, sums of 1 entry',
    '`SNAPSHOTS`',
    () => send(likes(1)),
    fiveMinutes,
  ],
  ['every five minutes', 'archives 20 boards of 20 members', '`ARCHIVE`', () => closedBoards(20), fiveMinutes],
  ['every minute', 'sends 20 messages of webhooks', '`WEBHOOKS`', () => reachLevel(20), sendMessages],
  ['every minute', 'hides a member on 5,000 boards, after the request', 'none', () => hide(5000), minute],
  ['queue', 'counts 20 messages of an activity', '`HELD`', () => queue(20, 1), delivered],
  ['queue', 'counts a message of 500 activities', '`HELD`', () => queue(1, 500), delivered],
]

/** Connects to the profiler of the Worker. */
async function connect() {
  const targets = await fetch(`http://127.0.0.1:${inspector}/json`).then((response) => response.json())
  const target = targets.find(({ webSocketDebuggerUrl }) => webSocketDebuggerUrl) ?? targets[0]
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = reject
  })
  const calls = new Map()
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(data)
    calls.get(id)?.(error ? Promise.reject(new Error(error.message)) : result)
  }
  let last = 0
  /** @returns {Promise<any>} */
  const call = (method, params = {}) =>
    new Promise((resolve) => {
      last += 1
      calls.set(last, resolve)
      socket.send(JSON.stringify({ id: last, method, params }))
    })
  await call('Profiler.enable')
  await call('Profiler.setSamplingInterval', { interval: INTERVAL })
  return { call, close: () => socket.close() }
}

/** Returns the milliseconds that the isolate executed. */
function executed({ nodes, samples, timeDeltas }) {
  const idle = new Set(
    nodes
      .filter(({ callFrame }) => ['(idle)', '(program)', '(root)'].includes(callFrame.functionName))
      .map(({ id }) => id),
  )
  const busy = samples.map((id, index) => (idle.has(id) ? 0 : timeDeltas[index]))
  // The time of a sample is that since the one before, which may have been long ago where the isolate slept.
  return busy.reduce((sum, micros) => sum + Math.min(micros, 10 * INTERVAL), 0) / 1000
}

const rows = []
try {
  // The first runs compile.
  await send(likes(1000))
  await minute()
  await fiveMinutes()
  await closedBoards(20)
  await fiveMinutes()
  const profiler = await connect()
  for (const [job, work, binding, prepare, run] of JOBS) {
    const times = []
    for (let count = 0; count < RUNS; count++) {
      await prepare()
      await profiler.call('Profiler.start')
      await run()
      const { profile } = await profiler.call('Profiler.stop')
      times.push(executed(profile))
    }
    const median = times.toSorted((a, b) => a - b)[Math.floor(RUNS / 2)]
    rows.push(`| ${job} | ${work} | ${binding} | ${median.toFixed(1)} ms |`)
    console.error(rows.at(-1), times.map((time) => time.toFixed(1)).join(' '))
  }
  profiler.close()
} finally {
  await worker.stop()
  await store.stop()
  receiver.close()
}
const table = ['| run | work | binding | estimate |', '|---|---|---|---|', ...rows].join('\n')
console.log(table)
if (process.argv.includes('--write')) {
  const text = readFileSync(PAGE, 'utf8')
  const [before, rest] = text.split(START)
  const [, after] = rest.split(END)
  writeFileSync(PAGE, `${before}${START}\n\n${table}\n\n${END}${after}`)
}
