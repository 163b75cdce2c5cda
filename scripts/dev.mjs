// `make dev`: runs Redis, the gateway and the Worker on this machine, with a real community's data. `make cluster` does
// so over a Redis Cluster of six nodes. Each has a folder in .dev/ for all its data: a journal belongs to one Redis. All
// servers end with this process.

import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

import { startCron } from './cron.mjs'
import { profiles, targets } from './demo.mjs'
import { developmentFiles } from './development.mjs'
import { readConfig } from './environments.mjs'
import { Server } from './server.mjs'
import { stores } from './store.mjs'

const COMMUNITY = 'demo/community.jsonl'
const run = promisify(execFile)
const target = process.argv[2] || 'dev'
const redis = stores[target]
// Where wrangler keeps databases, namespaces and queues.
const state = `${redis.folder}/wrangler`
const ports = {
  PORT: Number(process.env.PORT || 8787),
  GATEWAY_PORT: Number(process.env.GATEWAY_PORT || 8079),
  REDIS_PORT: Number(process.env.REDIS_PORT || redis.port),
}
const appUrl = `http://127.0.0.1:${ports.PORT}`
const gatewayUrl = `http://127.0.0.1:${ports.GATEWAY_PORT}`
const secrets = Object.fromEntries(
  readFileSync('dev.vars', 'utf8')
    .split('\n')
    .filter((line) => /^\w+=/.test(line))
    .map((line) => line.split(/=(.*)/)),
)

/** @type {Server[]} */
const servers = []
let isEnding = false
let stopCron = () => {}

/**
 * Ends all servers, the last started first, and exits.
 * @param {number} code
 */
async function end(code) {
  if (isEnding) return
  isEnding = true
  stopCron()
  for (const server of servers.reverse()) await server.end()
  process.exit(code)
}

/** An error with a message for the user, printed without a stack trace. */
class Failure extends Error {}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(0))

/**
 * Starts a server. If it ends by itself, everything ends.
 * @param {string} name
 * @param {string[]} command
 * @param {NodeJS.ProcessEnv} [env]
 */
function start(name, command, env) {
  const server = new Server(`${redis.folder}/log`, name, command, env)
  servers.push(server)
  server.ended.then(() => {
    if (isEnding) return
    console.error(`dev: ${name} ended unexpectedly. Its last output (${server.logFile}):\n\n${server.tail}\n`)
    end(1)
  })
  return server
}

/**
 * Fails unless a port is free.
 * @param {keyof typeof ports} variable
 * @param {number} port
 */
async function assertFree(variable, port) {
  const probe = createServer()
  await new Promise((resolve, reject) => {
    probe.once('error', reject).listen(port, '127.0.0.1', () => resolve(undefined))
  }).catch((error) => {
    const other = `${variable}=${ports[variable] + 10} make ${target}`
    throw new Failure(`Port ${port} is not available (${error.code}). Use another one: ${other}`)
  })
  await new Promise((resolve) => probe.close(resolve))
}

/**
 * Waits until a server is healthy. Fails with its last response after a minute.
 * @param {string} url
 * @param {Server} server
 */
async function waitUntilHealthy(url, server) {
  let last = 'no response'
  for (const deadline = Date.now() + 60_000; Date.now() < deadline && !isEnding; await pause(50)) {
    try {
      const response = await fetch(`${url}/healthz`)
      if (response.ok) return
      last = `${response.status} ${await response.text()}`
    } catch {
      // It does not listen yet.
    }
  }
  if (!isEnding) throw new Failure(`${url}/healthz: ${last}\n\n${server.tail}`)
}

/** Imports the community's data, once per data folder: the marker file is stored with the data. */
async function importOnce() {
  const marker = `${redis.folder}/imported`
  if (existsSync(marker)) return
  console.log(`dev: importing ${COMMUNITY} (once)`)
  // Before the activities: a target receives from its registration on.
  for (const [command, lines] of Object.entries({ profiles: profiles(), targets: targets() })) {
    const file = `${redis.folder}/${command}.jsonl`
    writeFileSync(file, lines.join('\n'))
    await upload([command, file])
  }
  await upload(['import', COMMUNITY, '--shift-to-now'])
  writeFileSync(marker, `${new Date().toISOString()}\n`)
}

/**
 * Runs a command of the command line that uploads a file.
 * @param {string[]} args
 */
async function upload(args) {
  const env = { ...process.env, ACTIVITY_RANK_KEY: secrets.SERVICE_KEYS }
  const { stdout } = await run('target/debug/activity-rank', [...args, '--url', appUrl], { env }).catch((error) => {
    throw new Failure(`The import failed:\n${error.stdout}${error.stderr}`)
  })
  console.log(stdout.trimEnd().replace(/^/gm, '  '))
}

function printIntroduction() {
  console.log(`
  activity-rank runs at ${appUrl}

  Try it in another terminal:

    curl "${appUrl}/v1/ranking/month?limit=3"

    curl -X POST ${appUrl}/v1/activity \\
      -H 'Authorization: Bearer ${secrets.SERVICE_KEYS}' -H 'Content-Type: application/json' \\
      -d '{"user":"42","action":"like","target":"post-7"}'

    curl "${appUrl}/v1/ranking/all/users/42?around=2"

  Posts by the points they received, and their authors:

    curl "${appUrl}/v1/content/month?limit=3"

    curl "${appUrl}/v1/authors/month?limit=3"

  As a user, with a token that is valid for an hour:

    TOKEN=$(JWT_SECRET=${secrets.JWT_SECRET} target/debug/activity-rank token 42 --name Ada)

    curl -X POST ${appUrl}/v1/activity \\
      -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
      -d '{"user":"42","action":"like","target":"post-8"}'

    curl -H "Authorization: Bearer $TOKEN" "${appUrl}/v1/users/42/activity?days=1"

  Boards on the command line:

    target/debug/activity-rank top week --url ${appUrl}

  The boards show activity from Quantum Computing Stack Exchange, by its contributors, CC BY-SA 3.0
  (demo/README.md). Names and titles are invented. Data and logs are in ${redis.folder}/; delete it to start over. Press Ctrl-C to stop.
`)
}

async function main() {
  const { PORT, GATEWAY_PORT, REDIS_PORT } = ports
  await assertFree('PORT', PORT)
  await assertFree('GATEWAY_PORT', GATEWAY_PORT)
  for (const port of redis.ports(REDIS_PORT)) await assertFree('REDIS_PORT', port)

  await redis.start(start, REDIS_PORT)
  const gateway = start('gateway', ['target/debug/redis-rest'], {
    REDIS_URL: redis.url(REDIS_PORT),
    LISTEN: `127.0.0.1:${GATEWAY_PORT}`,
    REDIS_REST_TOKEN: secrets.UPSTASH_REDIS_REST_TOKEN,
  })
  await waitUntilHealthy(gatewayUrl, gateway)
  for (const database of ['ARCHIVE', 'JOURNAL']) {
    const args = ['d1', 'migrations', 'apply', database, '--local', '--persist-to', state]
    await run('wrangler', args, { env: { ...process.env, CI: '1' } }).catch((error) => {
      throw new Failure(`The migrations of ${database} failed:\n${error.stdout}${error.stderr}`)
    })
  }
  const assets = await developmentFiles(`${redis.folder}/web`, secrets.JWT_SECRET)
  const worker = start('worker', [
    ...['wrangler', 'dev', '--ip', '127.0.0.1', '--port', `${PORT}`, '--inspector-port', '0'],
    ...['--persist-to', state, '--show-interactive-dev-session=false', '--assets', assets],
    ...['dev.vars', '.dev.vars'].filter((file) => existsSync(file)).flatMap((file) => ['--env-file', file]),
    ...['--var', `UPSTASH_REDIS_REST_URL:${gatewayUrl}`],
    ...['--var', 'CONTENT_PERIODS:day,week,month,year,all', '--var', 'PLAYGROUND:true'],
    // Pages of a site that is developed on this machine, on any port.
    ...['--var', 'ALLOWED_ORIGINS:http://localhost:*,http://127.0.0.1:*'],
    ...redis.vars,
  ])
  await waitUntilHealthy(appUrl, worker)
  if (isEnding) return
  stopCron = startCron(appUrl, readConfig('wrangler.toml').triggers.crons ?? [], (message) => {
    if (!isEnding) console.error(`dev: ${message}`)
  })
  await importOnce()
  if (isEnding) return
  printIntroduction()
  worker.show()
}

main().catch((error) => {
  if (!isEnding) console.error(error instanceof Failure ? `dev: ${error.message}` : error)
  end(1)
})
