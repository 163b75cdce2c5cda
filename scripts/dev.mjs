// `make dev`: redis-server, gateway and Worker on this machine, a real community's data on the
// boards; `make cluster`: the same over a Redis Cluster of six nodes. Everything it keeps lies in
// .dev/; everything it starts ends with it.

import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { developmentFiles } from './development.mjs'
import { Server } from './server.mjs'
import { stores } from './store.mjs'

const kind = process.argv[2] || 'dev'
const redis = stores[kind]
const ports = {
  PORT: Number(process.env.PORT || 8787),
  GATEWAY_PORT: Number(process.env.GATEWAY_PORT || 8079),
  REDIS_PORT: Number(process.env.REDIS_PORT || redis.port),
}
const site = `http://127.0.0.1:${ports.PORT}`
const store = `http://127.0.0.1:${ports.GATEWAY_PORT}`
const secrets = Object.fromEntries(
  readFileSync('dev.vars', 'utf8').split('\n').filter((line) => /^\w+=/.test(line)).map((line) => line.split(/=(.*)/)),
)

const servers = []
let ending = false

/** Ends what was started, the last first: the Worker needs the gateway, the gateway Redis. */
async function end(code) {
  if (ending) return
  ending = true
  for (const server of servers.reverse()) await server.end()
  process.exit(code)
}

class Failure extends Error {}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(0))

function start(name, command, env) {
  const server = new Server(name, command, env)
  servers.push(server)
  server.ended.then(() => {
    if (ending) return
    console.error(`dev: ${name} has ended; the last it said (${server.logFile}):\n\n${server.tail}\n`)
    end(1)
  })
  return server
}

async function free(variable, port) {
  const probe = createServer()
  await new Promise((listening, taken) => {
    probe.once('error', taken).listen(port, '127.0.0.1', listening)
  }).catch((error) => {
    const other = `${variable}=${ports[variable] + 10} make ${kind}`
    throw new Failure(`port ${port} can't be used (${error.code}); take another one: ${other}`)
  })
  await new Promise((closed) => probe.close(closed))
}

/** Asks until the answer is 200, and tells the last answer if that takes a minute. */
async function healthy(url, server) {
  let last = 'no answer'
  for (const deadline = Date.now() + 60_000; Date.now() < deadline && !ending; await pause(50)) {
    try {
      const answer = await fetch(`${url}/healthz`)
      if (answer.ok) return
      last = `${answer.status} ${await answer.text()}`
    } catch {
      // Not listening yet.
    }
  }
  if (!ending) throw new Failure(`${url}/healthz: ${last}\n\n${server.tail}`)
}

/** Once per data folder: the mark lies in it, and goes with it. */
async function importOnce() {
  const mark = `${redis.folder}/imported`
  if (existsSync(mark)) return
  console.log('dev: importing demo/community.jsonl, once')
  const file = ['import', 'demo/community.jsonl', '--shift-to-now', '--url', site]
  const env = { ...process.env, ACTIVITY_RANK_KEY: secrets.SERVICE_KEYS }
  const { stdout } = await promisify(execFile)('target/debug/activity-rank', file, { env }).catch((error) => {
    throw new Failure(`the import failed:\n${error.stdout}${error.stderr}`)
  })
  console.log(stdout.trimEnd().replace(/^/gm, '  '))
  writeFileSync(mark, new Date().toISOString() + '\n')
}

function introduce() {
  const key = secrets.SERVICE_KEYS
  console.log(`
  activity-rank runs at ${site}

  Try, in another terminal:

    curl "${site}/v1/ranking/month?limit=3"

    curl -X POST ${site}/v1/activity \\
      -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
      -d '{"user":"42","action":"like","target":"post-7"}'

    curl "${site}/v1/ranking/all/users/42?around=2"

  The same as a member, with a token that holds for an hour:

    TOKEN=$(JWT_SECRET=${secrets.JWT_SECRET} target/debug/activity-rank token 42 --name Ada)

    curl -X POST ${site}/v1/activity \\
      -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
      -d '{"user":"42","action":"like","target":"post-8"}'

    curl -H "Authorization: Bearer $TOKEN" "${site}/v1/users/42/activity?days=1"

  Boards from the command line:

    target/debug/activity-rank top week --url ${site}

  The boards show activity from Quantum Computing Stack Exchange, by its contributors, CC BY-SA 3.0
  (demo/README.md). Data and logs are in .dev/; remove it to begin anew. Ctrl-C ends everything.
`)
}

async function run() {
  const { PORT, GATEWAY_PORT, REDIS_PORT } = ports
  await free('PORT', PORT)
  await free('GATEWAY_PORT', GATEWAY_PORT)
  for (const port of redis.ports(REDIS_PORT)) await free('REDIS_PORT', port)

  await redis.start(start, REDIS_PORT)
  const gateway = start('gateway', ['target/debug/redis-rest'], {
    REDIS_URL: redis.url(REDIS_PORT),
    LISTEN: `127.0.0.1:${GATEWAY_PORT}`,
    REDIS_REST_TOKEN: secrets.UPSTASH_REDIS_REST_TOKEN,
  })
  await healthy(store, gateway)
  for (const database of ['ARCHIVE', 'JOURNAL']) {
    const migrations = ['d1', 'migrations', 'apply', database, '--local', '--persist-to', redis.wrangler]
    await promisify(execFile)('wrangler', migrations, { env: { ...process.env, CI: '1' } }).catch((error) => {
      throw new Failure(`the tables of ${database} could not be made:\n${error.stdout}${error.stderr}`)
    })
  }
  const assets = developmentFiles('.dev/web', secrets.JWT_SECRET)
  const worker = start('worker', [
    ...['wrangler', 'dev', '--ip', '127.0.0.1', '--port', `${PORT}`, '--inspector-port', '0'],
    ...['--persist-to', redis.wrangler, '--show-interactive-dev-session=false', '--assets', assets],
    ...['dev.vars', '.dev.vars'].filter(existsSync).flatMap((file) => ['--env-file', file]),
    ...['--var', `UPSTASH_REDIS_REST_URL:${store}`],
    ...redis.vars,
  ])
  await healthy(site, worker)
  await importOnce()
  if (ending) return
  introduce()
  worker.show()
}

run().catch((error) => {
  if (!ending) console.error(error instanceof Failure ? `dev: ${error.message}` : error)
  end(1)
})
