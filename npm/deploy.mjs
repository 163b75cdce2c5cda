// Deploys with wrangler, with the migrations of the databases in the right order.

import { spawnSync } from 'node:child_process'

/**
 * @typedef {object} Deployment
 * @property {string[]} wrangler the command, program and arguments
 * @property {string[]} flags of wrangler that select the configuration
 * @property {string[]} databases bindings of D1 databases with migrations
 * @property {string[]} upload further flags of `wrangler deploy`
 */

/**
 * Deploys, and returns the exit status of the first command that fails, or 0.
 *
 * Migrations come before the upload: new code may need them, and they leave the old code working. wrangler creates
 * databases without an id in the configuration at the first upload, so after that one they come after it.
 * @param {Deployment} deployment
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
