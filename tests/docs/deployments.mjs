// Deployments in the states that docs/troubleshooting.md describes: the built Worker in `wrangler dev`, with its log.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { experimental_readRawConfig } from 'wrangler'

import { spawnTied, stopTied, waitForLine } from '../sdk/support.mjs'
import { workerConfig } from '../sdk/worker.mjs'
import { ROOT } from './blocks.mjs'

export const KEY = 'a-service-key'
export const JWT_SECRET = 'a secret that is known to this test alone'
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
    WRANGLER_SEND_METRICS: 'false',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    WRANGLER_LOG_PATH: join(folder, 'logs'),
  }
  const args = ['dev', '--config', file, '--show-interactive-dev-session=false', ...flags]
  const child = spawnTied('wrangler', args, env)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  const stop = async () => {
    await stopTied(child)
    rmSync(folder, { recursive: true, force: true })
  }
  const [, url] = await waitForLine(child, /Ready on (http:\S+)/).catch((error) =>
    stop().then(() => Promise.reject(error)),
  )
  return {
    url,
    /** Returns the lines that the Worker has logged. */
    log: () => output.match(/\{"level".*\}/g) ?? [],
    stop,
  }
}
