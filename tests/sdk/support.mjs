// Starts redis-server and the gateway for one test file.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { scaled } from './slowness.mjs'

const BINARY = process.env.REDIS_REST_BIN ?? fileURLToPath(new URL('../../target/debug/redis-rest', import.meta.url))

const TOKEN = 'gateway-test-token'

/** The characters of the errors of a program that are kept. */
const KEPT = 4000

// The shell closes its own output, which then ends with the program.
const TIED = '"$0" "$@" </dev/null & exec >/dev/null 2>&1; cat; kill $!; wait'

/**
 * Starts a program that also ends when this process is killed: its shell waits for its standard input to close. `errors` is
 * the end of what it has printed to stderr.
 */
export function spawnTied(command, args, env = {}) {
  const child = spawn('sh', ['-c', TIED, command, ...args], { env: { ...process.env, ...env } })
  const tied = Object.assign(child, { errors: '' })
  child.stderr.setEncoding('utf8').on('data', (text) => (tied.errors = (tied.errors + text).slice(-KEPT)))
  return tied
}

/** Ends a process started by `spawnTied`. */
export function stopTied(child) {
  return new Promise((resolve) => {
    if (child.exitCode !== null) resolve()
    child.on('exit', resolve)
    child.stdin.end()
  })
}

/**
 * Returns the match of the first line of output that matches. Throws with the errors of the program if it ends without one,
 * or prints none in time: after an error of its bundle, `wrangler dev` waits for a change of the files.
 */
export async function waitForLine(child, pattern, seconds = scaled(120)) {
  const lines = createInterface({ input: child.stdout })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    lines.close()
  }, seconds * 1000)
  try {
    for await (const text of lines) {
      const match = text.match(pattern)
      if (match) {
        child.stdout.resume()
        return match
      }
    }
  } finally {
    clearTimeout(timer)
  }
  if (!isLate && !child.stderr.readableEnded) await once(child.stderr, 'end')
  const end = isLate ? `did not print ${pattern} within ${seconds} seconds` : `ended without printing ${pattern}`
  throw new Error(`${child.spawnargs.slice(3).join(' ')} ${end}:\n${child.errors}`)
}

/** Returns a port that nothing listens on. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
      server.close(() => resolve(port))
    })
  })
}

/**
 * Starts redis-server and the gateway. Returns the gateway's URL, its token, the port of Redis, and functions that stop Redis
 * or both.
 */
export async function startGateway() {
  const port = await freePort()
  const redis = spawnTied('redis-server', ['--port', String(port), '--save', '', '--appendonly', 'no'])
  await waitForLine(redis, /Ready to accept connections/)
  const gateway = spawnTied(BINARY, [], {
    REDIS_URL: `redis://127.0.0.1:${port}`,
    LISTEN: '127.0.0.1:0',
    REDIS_REST_TOKEN: TOKEN,
  })
  const [, url] = await waitForLine(gateway, /^redis-rest listening on (http:.*)$/)
  const stopRedis = () => stopTied(redis)
  return { url, token: TOKEN, redisPort: port, stopRedis, stop: () => Promise.all([stopTied(gateway), stopRedis()]) }
}
