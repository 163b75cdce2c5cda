#!/usr/bin/env node
// The program `activity-rank`: `dev` and `deploy` run here, every other command in the compiled command line.

import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { join } from 'node:path'

import { COMMANDS, requireNode } from './commands.mjs'
import { programs } from './programs.mjs'
import { UserError } from './user_error.mjs'

const [name = '--help', ...args] = process.argv.slice(2)

try {
  const command = Object.hasOwn(COMMANDS, name) && COMMANDS[name]
  if (command) requireNode()
  // A request that nothing waits for any more may be under way.
  process.exit(command ? await command.run(args) : await runProgram())
} catch (error) {
  if (!(error instanceof UserError)) throw error
  console.error(`activity-rank: ${error.message}`)
  process.exit(1)
}

/** Runs the command line with all arguments and returns its exit status. */
async function runProgram() {
  const child = spawn(join(programs(), 'activity-rank'), process.argv.slice(2), { stdio: 'inherit' })
  // The terminal sends Ctrl-C to both; this process waits for the other.
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
    process.on(signal, () => child.kill(signal))
  const [status, signal] = await new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (...end) => resolve(end))
  })
  if (['--help', '-h', 'help'].includes(name) && !args.length) {
    const lines = Object.entries(COMMANDS).map(([command, { summary }]) => `  ${command.padEnd(12)} ${summary}`)
    console.log(`\nCommands of this npm package (activity-rank COMMAND --help):\n${lines.join('\n')}`)
  }
  return status ?? 128 + constants.signals[/** @type {NodeJS.Signals} */ (signal)]
}
