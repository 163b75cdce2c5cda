// The outbox in a file: what is accepted survives SIGKILL, and with a disk that keeps its promises a power failure.
//
// The file has one JSON record a line. The first is a header, every other one adds an entry or removes entries:
//
//     {"format":"activity-rank-outbox","version":1}
//     {"id":1,"activity":{"user":"42","action":"like","target":"post-7","at":"2026-11-20T08:00:00.000Z"}}
//     {"removed":[1]}
//
// Appends that arrive during a write are written and synced together by the next one. Removals are not synced: if one is
// lost, its entries are sent again, which counts nothing twice. When most of the file is obsolete, it is written anew.

/** @import { FileHandle } from 'node:fs/promises' */
/** @import { Outbox, OutboxEntry, SentActivity } from './types.js' */
/** @typedef {{ activity: SentActivity, text: string, resolve: () => void, reject: (error: unknown) => void }} Append */

import { constants } from 'node:fs'
import { mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { ClosedError, OutboxFullError } from './errors.js'
import { LockedError, lockFile } from './file-lock.js'
import { HEADER, parseRecords } from './file-records.js'

const LIMIT = 1_000_000 // activities
const COMPACT_ABOVE = 1 << 20 // bytes
const MODE = 0o600 // activities say who did what
const FREE_ATTEMPTS = 5 // to lock a file of a folder; processes that start together repel each other

/** @implements {Outbox<number>} */
export class FileOutbox {
  durable = true
  #path
  /** @type {FileHandle} */
  #file
  #unlock
  #limit
  #compactAbove

  /** @type {Map<number, { activity: SentActivity, bytes: number }>} Entries by id, in the order of the file. */
  #entries = new Map()
  #lastId = 0
  /** Bytes of the file that are known to be whole records. */
  #length = 0
  /** Bytes of these that are entries. */
  #live = 0
  /** Whether a write has failed, so that the file may have more than `#length` bytes. */
  #isTorn = false
  /** @type {Append[]} */
  #appends = []
  /** The last write: each begins after the one before. */
  #tail = Promise.resolve()
  #isClosed = false

  /**
   * Opens the outbox in a file, and creates the file if it is missing; its folder must exist. Rejects if another client
   * uses the file, or if the file is damaged or not an outbox. An incomplete record at the end, which a killed process
   * leaves, is dropped: its call was not accepted.
   * @param {string} path on a local disk
   * @param {{ limit?: number, compactAbove?: number }} [options] `limit`: activities that may wait, 1,000,000 by default;
   *   they are also kept in memory. `compactAbove`: bytes from which a file that is mostly obsolete is written anew, 1 MiB
   *   by default
   */
  static open(path, options = {}) {
    return FileOutbox.#open(path, options)
  }

  /**
   * @param {string} path
   * @param {{ limit?: number, compactAbove?: number }} options
   * @param {number} [attempts] to lock the file
   */
  static async #open(path, options, attempts) {
    const file = join(await realpath(dirname(path)), basename(path))
    const unlock = await lockFile(file, attempts)
    /** @type {FileHandle | undefined} */
    let handle
    try {
      handle = await openPrivate(file)
      const outbox = new FileOutbox(file, handle, unlock, options)
      await outbox.#load()
      return outbox
    } catch (error) {
      await handle?.close()
      await unlock()
      throw error
    }
  }

  /**
   * Opens an outbox for one of several processes that share a folder: the first file there that no process uses. Creates the
   * folder if it is missing. What a process that has not returned left in other files is moved to this outbox. Rejects as
   * `open` does.
   * @param {string} path of the folder, on a local disk
   * @param {{ limit?: number, compactAbove?: number }} [options] as of `open`
   */
  static async openFolder(path, options = {}) {
    await mkdir(path, { mode: 0o700, recursive: true })
    const fileOf = (/** @type {number} */ number) => join(path, `${number}.outbox`)
    /** @type {FileOutbox | undefined} */
    let outbox
    for (let number = 1; !outbox; number++) outbox = await FileOutbox.#openFree(fileOf(number), options)
    const names = await readdir(path)
    try {
      for (let number = 1; number <= names.length; number++) {
        if (fileOf(number) === outbox.#path || !names.includes(`${number}.outbox`)) continue
        const other = await FileOutbox.#openFree(fileOf(number), options)
        if (other) await outbox.#adopt(other).finally(() => other.close())
      }
      return outbox
    } catch (error) {
      await outbox.close()
      throw error
    }
  }

  /**
   * Opens an outbox, or returns `undefined` if another process uses its file.
   * @param {string} path
   * @param {{ limit?: number, compactAbove?: number }} options
   */
  static #openFree(path, options) {
    return FileOutbox.#open(path, options, FREE_ATTEMPTS).catch((error) => {
      if (error instanceof LockedError) return undefined
      throw error
    })
  }

  /**
   * Use `FileOutbox.open`.
   * @private
   * @param {string} path
   * @param {FileHandle} file
   * @param {() => Promise<void>} unlock
   * @param {{ limit?: number, compactAbove?: number }} options
   */
  constructor(path, file, unlock, { limit = LIMIT, compactAbove = COMPACT_ABOVE }) {
    this.#path = path
    this.#file = file
    this.#unlock = unlock
    this.#limit = limit
    this.#compactAbove = compactAbove
  }

  /**
   * Stores an activity. Resolves once it is on the disk. Rejects with an `OutboxFullError` at the limit, and with the
   * error of the file system.
   * @param {SentActivity} activity that JSON can represent
   * @returns {Promise<void>}
   */
  async append(activity) {
    if (this.#isClosed) throw new ClosedError('The outbox')
    if (this.#entries.size + this.#appends.length >= this.#limit) throw new OutboxFullError(this.#limit)
    const text = JSON.stringify(activity)
    return new Promise((resolve, reject) => {
      // The first one begins a write, which takes all that have arrived by then.
      if (this.#appends.push({ activity, text, resolve, reject }) === 1) this.#inTurn(() => this.#commit())
    })
  }

  /**
   * Returns the oldest entries, which stay.
   * @param {number} limit
   * @returns {Promise<OutboxEntry<number>[]>}
   */
  async peek(limit) {
    const entries = []
    for (const [id, { activity }] of this.#entries) {
      if (entries.length >= limit) break
      entries.push({ id, activity })
    }
    return entries
  }

  /**
   * Removes entries.
   * @param {number[]} ids
   */
  async remove(ids) {
    const removed = ids.filter((id) => {
      this.#live -= this.#entries.get(id)?.bytes ?? 0
      return this.#entries.delete(id)
    })
    if (!removed.length) return
    await this.#inTurn(async () => {
      await this.#write(line({ removed }))
      if (this.#length > this.#compactAbove && this.#length > 2 * this.#live) await this.#compact()
    })
  }

  /** Closes the file and unlocks it, after the calls before. */
  async close() {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#tail
    await this.#file.close()
    await this.#unlock()
  }

  // Moves the entries of another outbox. If the process ends in between, they are sent twice and count once. At the limit
  // they stay where they are.
  /** @param {FileOutbox} other */
  async #adopt(other) {
    const entries = await other.peek(this.#limit - this.#entries.size)
    await Promise.all(entries.map(({ activity }) => this.append(activity)))
    await other.remove(entries.map(({ id }) => id))
  }

  async #load() {
    const { entries, length, size, lastId } = parseRecords(await this.#file.readFile(), this.#path)
    this.#lastId = lastId
    this.#length = length
    // Cuts off the incomplete record.
    this.#isTorn = length < size
    for (const [id, activity] of entries) this.#add(id, activity, line({ id, activity }))
    if (!length) {
      await this.#write(HEADER)
      await this.#file.sync()
      await syncFolder(this.#path)
    }
  }

  async #commit() {
    const appends = this.#appends.splice(0)
    const records = appends.map(({ activity, text }) => {
      const id = ++this.#lastId
      return { id, activity, text: `{"id":${id},"activity":${text}}\n` }
    })
    try {
      await this.#write(records.map(({ text }) => text).join(''), { sync: true })
    } catch (error) {
      for (const { reject } of appends) reject(error)
      return
    }
    for (const { id, activity, text } of records) this.#add(id, activity, text)
    for (const { resolve } of appends) resolve()
  }

  /**
   * @param {number} id
   * @param {SentActivity} activity
   * @param {string} text
   */
  #add(id, activity, text) {
    const bytes = Buffer.byteLength(text)
    this.#entries.set(id, { activity, bytes })
    this.#live += bytes
  }

  /**
   * Appends text to the file. If that fails, the next write first removes what this one has left.
   * @param {string} text
   * @param {{ sync?: boolean }} [options]
   */
  async #write(text, { sync = false } = {}) {
    if (this.#isTorn) await this.#file.truncate(this.#length)
    this.#isTorn = true
    const bytes = await writeAll(this.#file, text)
    if (sync) await this.#file.sync()
    this.#isTorn = false
    this.#length += bytes
  }

  // Writes the entries to a new file, which then replaces the old one.
  async #compact() {
    const path = `${this.#path}.new`
    await rm(path, { force: true })
    const file = await openPrivate(path, constants.O_EXCL)
    try {
      const records = [...this.#entries].map(([id, { activity }]) => line({ id, activity }))
      const length = await writeAll(file, HEADER + records.join(''))
      await file.sync()
      await rename(path, this.#path)
      const obsolete = this.#file
      this.#file = file
      this.#length = length
      await obsolete.close()
    } catch (error) {
      if (this.#file !== file) await file.close()
      throw error
    }
    await syncFolder(this.#path)
  }

  /**
   * Runs a write after the writes before it.
   * @param {() => Promise<void>} write
   */
  #inTurn(write) {
    const turn = this.#tail.then(write)
    this.#tail = turn.catch(() => {})
    return turn
  }
}

/**
 * Opens or creates a file that its owner alone may read. Rejects if the path is a symbolic link or not a file: what it
 * leads to is not the outbox.
 * @param {string} path
 * @param {number} [flags] further flags
 */
async function openPrivate(path, flags = 0) {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW } = constants
  const file = await open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | flags, MODE).catch((error) => {
    throw error.code === 'ELOOP' ? new Error(`${path} is a symbolic link: use the path of the file.`) : error
  })
  try {
    const status = await file.stat()
    if (!status.isFile()) throw new Error(`${path} is not a file: use another path.`)
    if (status.mode & 0o077) await file.chmod(MODE)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

/** @param {object} record */
const line = (record) => `${JSON.stringify(record)}\n`

/**
 * Returns the number of bytes written.
 * @param {FileHandle} file
 * @param {string} text
 */
async function writeAll(file, text) {
  const bytes = Buffer.from(text)
  for (let rest = bytes; rest.length; ) {
    const { bytesWritten } = await file.write(rest)
    rest = rest.subarray(bytesWritten)
  }
  return bytes.length
}

// Makes the name of a new file durable. Windows has no such call.
/** @param {string} path */
async function syncFolder(path) {
  if (process.platform === 'win32') return
  const folder = await open(dirname(path), 'r')
  await folder.sync().finally(() => folder.close())
}
