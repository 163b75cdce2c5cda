// Starts redis-server and the gateway for one test file.

import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const BINARY = process.env.REDIS_REST_BIN ?? fileURLToPath(new URL('../../target/debug/redis-rest', import.meta.url))

const TOKEN = 'gateway-test-token'

/** Starts a program that also ends when this process is killed: its shell waits for its standard input to close. */
export function spawnTied(command, args, env = {}) {
  return spawn('sh', ['-c', '"$0" "$@" </dev/null & cat >/dev/null; kill $!; wait', command, ...args], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
}

/** Ends a process started by `spawnTied`. */
export function stopTied(child) {
  return new Promise((resolve) => {
    if (child.exitCode !== null) resolve()
    child.on('exit', resolve)
    child.stdin.end()
  })
}

/** Returns the match of the first line of output that matches. Throws if the process ends without one. */
export async function waitForLine(child, pattern) {
  for await (const text of createInterface({ input: child.stdout })) {
    const match = text.match(pattern)
    if (match) {
      child.stdout.resume()
      return match
    }
  }
  throw new Error(`${child.spawnargs.join(' ')} ended without printing ${pattern}`)
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
