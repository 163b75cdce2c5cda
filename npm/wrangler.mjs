// wrangler, which runs and deploys Workers. A project has it; elsewhere it is installed once.

import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { UserError } from './user_error.mjs'

/**
 * @typedef {object} Wrangler
 * @property {string} program a JavaScript file
 * @property {(file: string, environment?: string) => Promise<Config>} readConfig as wrangler reads it
 */
/** @typedef {{ name?: string, vars: Record<string, unknown>, d1_databases: { binding: string }[], triggers: { crons?: string[] } }} Config */

/**
 * Returns the wrangler of the project in a folder, or `undefined`.
 * @param {string} folder
 * @returns {Wrangler | undefined}
 */
export function wranglerOf(folder) {
  const require = createRequire(join(resolve(folder), 'package.json'))
  let manifest
  try {
    manifest = require.resolve('wrangler/package.json')
  } catch {
    return
  }
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8'))
  return {
    program: join(dirname(manifest), bin.wrangler),
    async readConfig(file, env) {
      const { unstable_readConfig: read } = await import(pathToFileURL(require.resolve('wrangler')).href)
      return read({ config: file, env }, { hideWarnings: true })
    },
  }
}

/**
 * Installs a version of wrangler in a folder, unless it is there, and returns it.
 * @param {string} folder
 * @param {string} version
 */
export function installWrangler(folder, version) {
  const installed = wranglerOf(folder)
  if (installed) return installed
  console.log(`Installing wrangler ${version} in ${folder} (once)`)
  mkdirSync(folder, { recursive: true })
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel', 'error', `wrangler@${version}`]
  const { status, error } = spawnSync('npm', args, { stdio: ['ignore', 'inherit', 'inherit'] })
  const wrangler = wranglerOf(folder)
  if (status !== 0 || !wrangler)
    throw new UserError(`wrangler could not be installed: ${error ?? `npm exited with ${status}`}`)
  return wrangler
}
