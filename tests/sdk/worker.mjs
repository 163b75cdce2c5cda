// Starts the built Worker and others in Miniflare, or in `wrangler dev`.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'
import { experimental_readRawConfig } from 'wrangler'

import { spawnTied, stopTied, waitForLine } from './support.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const miniflare = (_folder, file, state) => ['node', join(ROOT, 'tests/miniflare.mjs'), file, state]

/**
 * Starts the Worker with variables. Without `live` there are no event streams, without `databases` no archive and no
 * journal, without `snapshots` none, and without `queues` no queues. `env` has further variables of the environment.
 * Returns its URL and a function that stops it.
 */
export const startWorker = (vars, options = {}, env = {}) => serve(workerConfig(vars, options), miniflare, env)

/** Returns the configuration with which `startWorker` starts the Worker. */
export function workerConfig(vars, { live = false, databases = false, snapshots = false, queues = false } = {}) {
  // wrangler.toml without the bindings that need to be created first: namespaces and, by default, queues and databases.
  const { rawConfig } = experimental_readRawConfig({ config: join(ROOT, 'wrangler.toml') })
  const config = { ...rawConfig, ...rawConfig.env.development, vars }
  for (const key of ['build', 'env', 'analytics_engine_datasets', 'triggers']) delete config[key]
  if (!snapshots) delete config.kv_namespaces
  if (!queues) delete config.queues
  if (!databases) delete config.d1_databases
  if (!live) delete config.durable_objects
  config.main = join(ROOT, config.main)
  config.assets.directory = join(ROOT, config.assets.directory)
  // All clients of a test have the same IP address.
  for (const { simple } of config.ratelimits) simple.limit = 1e6
  for (const database of config.d1_databases ?? []) database.migrations_dir = join(ROOT, database.migrations_dir)
  return config
}

/** Bundles another Worker as wrangler does, and starts it. Returns its URL and a function that stops it. */
export async function startBundled(config) {
  const folder = mkdtempSync(join(tmpdir(), 'bundled-'))
  const main = join(folder, 'worker.js')
  await build({
    ...{ entryPoints: [config.main], outfile: main, bundle: true, format: 'esm', target: 'es2022' },
    ...{
      conditions: ['workerd', 'worker', 'browser'],
      external: ['node:*', 'cloudflare:*'],
      loader: { '.wasm': 'copy' },
    },
  })
  const worker = await serve({ ...config, main }, miniflare)
  const stop = async () => {
    await worker.stop()
    rmSync(folder, { recursive: true })
  }
  return { url: worker.url, stop }
}

/**
 * Starts `wrangler dev` with a configuration, and with those of Workers to which it has service bindings. Returns the URL and
 * a function that stops it.
 */
export function startWrangler(config, bound = []) {
  return serve(config, (folder, file, state) => {
    const files = [file]
    for (const other of bound) {
      files.push(join(folder, `${other.name}.json`))
      writeFileSync(files.at(-1), JSON.stringify(other))
    }
    const flags = ['--ip', '127.0.0.1', '--port', '0', '--inspector-port', '0', '--persist-to', state]
    const configs = files.flatMap((name) => ['--config', name])
    return ['wrangler', 'dev', ...configs, '--show-interactive-dev-session=false', ...flags]
  })
}

/** Serves a Worker with the command that `commandLine` returns for a folder, a configuration and a folder of state in it. */
async function serve(config, commandLine, more = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'activity-rank-'))
  const file = join(folder, 'wrangler.json')
  const state = join(folder, 'state')
  writeFileSync(file, JSON.stringify(config))
  const env = {
    ...more,
    WRANGLER_SEND_METRICS: 'false',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    WRANGLER_LOG_PATH: join(folder, 'logs'),
    X_LOCAL_EXPLORER: 'false',
    X_LOCAL_OBSERVABILITY: 'false',
  }
  const [command, ...args] = commandLine(folder, file, state)
  const server = spawnTied(command, args, env)
  const stop = async () => {
    await stopTied(server)
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const [, url] = await waitForLine(server, /Ready on (http:\S+)/)
    return { url, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
