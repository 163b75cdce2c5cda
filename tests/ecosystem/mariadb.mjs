// A MariaDB of its own, without a network.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

import { spawnTied, stopTied, waitForLine } from '../sdk/support.mjs'

/** Starts MariaDB in a folder, with a database. Returns its socket; `cleanups` gets what stops it. */
export async function startMariadb(base, database, cleanups) {
  const data = join(base, 'data')
  const socket = join(base, 'mariadb.sock')
  const user = process.getuid?.() === 0 ? ['--user=root'] : []
  const flags = ['--no-defaults', ...user, `--datadir=${data}`]
  const install = ['--auth-root-authentication-method=normal', '--skip-test-db']
  execFileSync('mariadb-install-db', [...flags, ...install], { stdio: 'pipe' })
  const server = [...flags, `--socket=${socket}`, '--skip-networking', `--pid-file=${join(base, 'pid')}`]
  const mariadb = spawnTied('sh', ['-c', 'exec mariadbd "$@" 2>&1', 'mariadbd', ...server])
  cleanups.push(() => stopTied(mariadb))
  await waitForLine(mariadb, /ready for connections/)
  execute(socket, `CREATE DATABASE ${database}`)
  return socket
}

/** Runs statements. Returns the rows of the last one: objects of texts. */
export function execute(socket, statements, database) {
  const args = ['--no-defaults', '-uroot', `--socket=${socket}`, '--batch', '--raw', ...(database ? [database] : [])]
  const output = execFileSync('mariadb', args, { input: statements, encoding: 'utf8', maxBuffer: 1 << 26 })
  const [names = [], ...rows] = output
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t'))
  return rows.map((values) => Object.fromEntries(values.map((value, index) => [names[index], value])))
}
