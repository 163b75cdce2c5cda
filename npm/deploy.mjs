// Deploys with wrangler, with the migrations of the databases in the right order.

import { spawnSync } from 'node:child_process'

/**
 * @typedef {object} Wrangler
 * @property {string[]} wrangler the command, program and arguments
 * @property {string[]} flags of wrangler that select the configuration
 */
/**
 * @typedef {object} Deployment
 * @property {string[]} databases bindings of D1 databases with migrations
 * @property {string[]} upload further flags of `wrangler deploy`
 */

/** The secret without which no deployment works. */
export const STORE_TOKEN = 'UPSTASH_REDIS_REST_TOKEN'

/**
 * Returns what to do before a deployment because a variable is empty.
 * @param {Record<string, unknown>} vars
 * @param {string} table the name of their table in wrangler.toml
 */
export function emptyVariables(vars, table) {
  const needed = {
    UPSTASH_REDIS_REST_URL: 'the https:// address of your store',
    ALLOWED_ORIGINS: 'your site, such as "https://www.example.com"',
  }
  return Object.entries(needed)
    .filter(([name]) => !String(vars[name] ?? '').trim())
    .map(([name, value]) => `Set ${name} under ${table} in wrangler.toml to ${value}.`)
}

/**
 * Returns the names of the secrets that a deployment has: none before the first upload. Fails if wrangler does.
 * @param {Wrangler} wrangler
 */
export function deployedSecrets({ wrangler: [program, ...args], flags }) {
  const command = [...args, 'secret', 'list', ...flags]
  const list = () => spawnSync(program, command, { encoding: 'utf8', stdio: ['inherit', 'pipe', 'pipe'] })
  const isNew = (/** @type {string} */ text) => /Worker "[^"]*".* not found/.test(text)
  let listed = list()
  // In a terminal wrangler signs in and asks for the account, which it remembers.
  if (listed.status && !isNew(listed.stderr) && process.stdout.isTTY) {
    spawnSync(program, command, { stdio: 'inherit' })
    listed = list()
  }
  const { status, stdout, stderr, error } = listed
  if (error) throw error
  if (status && isNew(stderr)) return []
  if (status) throw new Error(`wrangler could not list the secrets of the deployment:\n${(stderr + stdout).trim()}`)
  return /** @type {{ name: string }[]} */ (JSON.parse(stdout)).map(({ name }) => name)
}

/**
 * Deploys, and returns the exit status of the first command that fails, or 0.
 *
 * Migrations come before the upload: new code may need them, and they leave the old code working. wrangler creates
 * databases without an id in the configuration at the first upload, so after that one they come after it.
 * @param {Wrangler & Deployment} deployment
 */
export function deploy({ wrangler: [program, ...args], flags, databases, upload }) {
  /**
   * @param {import('node:child_process').StdioOptions} stdio
   * @param {...string} command
   */
  const run = (stdio, ...command) => {
    const { status, error } = spawnSync(program, [...args, ...command, ...flags], { stdio })
    if (error) throw error
    return status ?? 1
  }
  const migrate = databases.map((binding) => () => run('inherit', 'd1', 'migrations', 'apply', binding, '--remote'))
  const uploadAll = () => run('inherit', 'deploy', ...upload)
  const exist = databases.every((binding) => run('ignore', 'd1', 'info', binding) === 0)
  for (const step of exist ? [...migrate, uploadAll] : [uploadAll, ...migrate]) {
    const status = step()
    if (status !== 0) return status
  }
  return 0
}
