// The service of `make dev`, from which documents start: scripts/dev in a folder of its own, with free ports.

import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { freePort } from '../sdk/support.mjs'
import { ROOT } from './blocks.mjs'

/** Entries that are not shared with this checkout. scripts/dev writes below its folder only. */
const OWN = ['.dev', '.git', '.wrangler', 'wrangler.toml']

/** Makes a folder that looks like this checkout, but does not compile: the Worker is built already. */
export function checkout() {
  const folder = mkdtempSync(join(tmpdir(), 'activity-rank-docs-'))
  for (const name of readdirSync(ROOT)) {
    if (!OWN.includes(name)) symlinkSync(join(ROOT, name), join(folder, name))
  }
  const config = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8').replace(/^\[build\]\n(.+\n)+/m, '')
  // A rule that readers have changed, to recount by it.
  writeFileSync(join(folder, 'wrangler.toml'), `${config}\n[env.production.vars.RULES.like]\npoints = 3\n`)
  return folder
}

/**
 * Starts `make dev` after its build. Returns its folder, the URLs of Worker and gateway, and a function that stops it.
 * scripts/dev takes no port 0, so another program may take a free port first: then it starts with other ones.
 */
export async function startDevelopment() {
  const folder = checkout()
  const remove = () => rmSync(folder, { recursive: true, force: true })
  for (let attempt = 0; ; attempt++) {
    const app = await start(folder)
    if ('stop' in app) return { ...app, stop: () => app.stop().then(remove) }
    if (attempt < 5 && /^dev: Port \d+ is not available/m.test(app.output)) continue
    remove()
    throw new Error(`scripts/dev ended:\n${app.output}`)
  }
}

async function start(folder) {
  const [port, gateway, redis] = [await freePort(), await freePort(), await freePort()]
  const child = spawn(join(folder, 'scripts/dev'), [], {
    cwd: folder,
    env: {
      ...process.env,
      PORT: `${port}`,
      GATEWAY_PORT: `${gateway}`,
      REDIS_PORT: `${redis}`,
      WRANGLER_SEND_METRICS: 'false',
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      WRANGLER_LOG_PATH: join(folder, 'logs'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise((resolve) => child.on('exit', resolve))
  const kill = () => child.kill()
  process.on('exit', kill)
  const stop = async () => {
    process.off('exit', kill)
    child.kill()
    await ended
  }
  let output = ''
  child.stderr.on('data', (bytes) => {
    output += bytes
  })
  for await (const line of createInterface({ input: child.stdout })) {
    output += `${line}\n`
    if (line.includes('Press Ctrl-C to stop')) {
      child.stdout.resume()
      return { folder, url: `http://127.0.0.1:${port}`, gateway: `http://127.0.0.1:${gateway}`, stop }
    }
  }
  await stop()
  return { output }
}
