// The lock of a file: a socket beside it, on which the process that uses the file listens. The system closes the socket
// with the process, also after SIGKILL, so a socket that refuses connections has no owner. Process ids are no proof: in a
// container the next process has the same one.
//
// Each attempt listens on a socket of a new name first, and then looks for others. Of two attempts at once, at least one
// sees the other, and an attempt that sees another gives up. So a file never has two owners. Attempts that gave up are
// repeated after a random pause. A dead socket can be removed at any time, because its name is never used again.

import { randomUUID } from 'node:crypto'
import { access, readdir, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const ATTEMPTS = 20
const LONGEST_PAUSE = 50 // ms between attempts
const LONGEST_PATH = 103 // bytes of the path of a socket on macOS; Linux allows 107

/** Another process, or another call in this one, has locked the file. */
export class LockedError extends Error {
  name = 'LockedError'

  /** @param {string} path */
  constructor(path) {
    super(`${path} is in use: each process needs a file of its own, as \`FileOutbox.openFolder\` gives it.`)
  }
}

/**
 * Locks a file until the returned function is called or the process ends. Rejects with a `LockedError` within
 * a second if another process, or another call in this one, has locked it.
 * @param {string} path
 * @param {number} [attempts]
 * @returns {Promise<() => Promise<void>>}
 */
export async function lockFile(path, attempts = ATTEMPTS) {
  if (process.platform === 'win32')
    throw new Error('An outbox in a file needs the sockets of Unix: use another outbox.')
  for (let attempt = 0; attempt < attempts; attempt++) {
    const unlock = await tryLock(path)
    if (unlock) return unlock
    await pause(Math.random() * LONGEST_PAUSE)
  }
  throw new LockedError(path)
}

/** @param {string} path */
async function tryLock(path) {
  const prefix = `${basename(path)}.lock-`
  const name = prefix + randomUUID().slice(0, 8)
  const socket = join(dirname(path), name)
  if (Buffer.byteLength(socket) > LONGEST_PATH) {
    throw new RangeError(
      `${path} is too long for the socket beside it: use a path of at most ${LONGEST_PATH - 14} bytes.`,
    )
  }
  const unlock = await listen(socket)
  try {
    const names = await readdir(dirname(path))
    const rivals = names.filter((other) => other.startsWith(prefix) && other !== name)
    const alive = await Promise.all(rivals.map((other) => isAlive(join(dirname(path), other))))
    // Another attempt may have removed the socket of this one before it listened.
    if (!alive.includes(true) && (await exists(socket))) return unlock
  } catch (error) {
    await unlock()
    throw error
  }
  await unlock()
  return undefined
}

/**
 * Listens on a socket. Returns a function that closes and removes it.
 * @param {string} socket
 * @returns {Promise<() => Promise<void>>}
 */
function listen(socket) {
  return new Promise((resolve, reject) => {
    const server = createServer((connection) => connection.destroy())
    server.once('error', reject)
    // Workers of a cluster would share a socket that is not exclusive.
    server.listen({ path: socket, exclusive: true }, () => {
      // A connection that cannot be accepted changes nothing.
      server.on('error', () => {})
      server.unref()
      resolve(() => new Promise((resolve) => server.close(() => resolve())))
    })
  })
}

/**
 * Returns whether a process listens on a socket. Removes the socket if none does.
 * @param {string} socket
 */
async function isAlive(socket) {
  /** @type {string | undefined} */
  const code = await new Promise((resolve) => {
    const connection = connect(socket, () => {
      connection.destroy()
      resolve(undefined)
    })
    connection.once('error', (/** @type {NodeJS.ErrnoException} */ { code }) => resolve(code))
  })
  if (code === 'ECONNREFUSED') await rm(socket, { force: true })
  return code !== 'ECONNREFUSED' && code !== 'ENOENT'
}

/** @param {string} path */
const exists = (path) =>
  access(path).then(
    () => true,
    () => false,
  )
