// Deployments in the states that docs/troubleshooting.md describes: the built Worker in `wrangler dev`, with its log.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { experimental_readRawConfig } from 'wrangler'

import { workerConfig } from '../sdk/worker.mjs'
import { ROOT } from './blocks.mjs'

export const KEY = 'a-service-key'
export const JWT_SECRET = 'a secret that is known to this test alone'
// Ends the program when standard input closes, which also happens when this process is killed.
const TIED = '"$0" "$@" 2>&1 </dev/null & cat >/dev/null; kill $!; wait'

/**
 * Starts a deployment. `vars` are its variables and secrets, `limit` is the number of writes a minute of a member. With
 * `queue`, it has a queue.
 * @param {Record<string, any>} vars
 */
export async function startDeployment(vars, { limit = 1e6, queue = false } = {}) {
  const config = workerConfig(vars)
  const { rawConfig } = experimental_readRawConfig({ config: join(ROOT, 'wrangler.toml') })
  if (queue) config.queues = rawConfig.env?.development?.queues
  for (const { name, simple } of config.ratelimits) simple.limit = name === 'WRITE_LIMIT' ? limit : 1e6
  const folder = mkdtempSync(join(tmpdir(), 'activity-rank-'))
  const file = join(folder, 'wrangler.json')
  writeFileSync(file, JSON.stringify(config))
  const flags = ['--ip', '127.0.0.1', '--port', '0', '--inspector-port', '0', '--persist-to', join(folder, 'state')]
  const env = {
    ...process.env,
    WRANGLER_SEND_METRICS: 'false',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    WRANGLER_LOG_PATH: join(folder, 'logs'),
  }
  const args = ['dev', '--config', file, '--show-interactive-dev-session=false', ...flags]
  const child = spawn('sh', ['-c', TIED, 'wrangler', ...args], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  let output = ''
  const ended = new Promise((resolve) => child.on('exit', resolve))
  const url = await new Promise((resolve, reject) => {
    child.on('exit', () => reject(new Error(`wrangler ended:\n${output}`)))
    child.stdout.on('data', (bytes) => {
      output += bytes
      const [, url] = /Ready on (http:\S+)/.exec(output) ?? []
      if (url) resolve(url)
    })
  })
  return {
    url,
    /** Returns the lines that the Worker has logged. */
    log: () => output.match(/\{"level".*\}/g) ?? [],
    async stop() {
      child.stdin.end()
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
