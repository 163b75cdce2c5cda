// The compiled programs: `activity-rank`, the command line, and `redis-rest`, the gateway. A package of its own for each
// operating system and processor contains both; npm installs the one that fits.

import { createRequire } from 'node:module'
import { dirname } from 'node:path'

import { UserError } from './user_error.mjs'

/**
 * Returns the folder of the programs for this machine. Fails if there is no package for it.
 *
 * `ACTIVITY_RANK_PROGRAMS` selects another folder, such as one with programs that were compiled here.
 */
export function programs() {
  const folder = process.env.ACTIVITY_RANK_PROGRAMS
  if (folder) return folder
  const name = `@activity-rank/cli-${process.platform}-${process.arch}`
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
  } catch {
    throw new UserError(
      `The package ${name} is not installed. If it exists for this machine, install without --omit=optional; otherwise ` +
        'compile the programs (cargo build --release -p activity-rank-cli -p redis-rest) and set ACTIVITY_RANK_PROGRAMS to ' +
        'their folder.',
    )
  }
}
