// The files for browsers in development, with a module that lets /try sign in any user.

import { copyFileSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SIGN_IN = fileURLToPath(new URL('sign_in.js', import.meta.url))
const QUIET = 50 // ms without a change
const MODULE = '<script type="module" src="/development.js"></script>\n'

/**
 * Assembles the files in a folder, again after each change of a watched folder.
 * @param {string} folder
 * @param {string} secret of user tokens
 * @param {(folder: string) => Promise<void>} assemble
 * @param {string} [watched]
 */
export async function developmentFiles(folder, secret, assemble, watched) {
  const update = async () => {
    await assemble(folder)
    writeFileSync(join(folder, 'try.html'), readFileSync(join(folder, 'try.html'), 'utf8') + MODULE)
    copyFileSync(SIGN_IN, join(folder, 'development.js'))
    writeFileSync(join(folder, 'development.json'), JSON.stringify({ secret }))
  }
  await update()
  // A module with an error stays as it was until the next change.
  if (watched) onChanges(watched, () => update().catch((error) => console.error(`dev: ${error.message}`)))
}

/**
 * Calls a function after each burst of changes below a folder, one call at a time.
 *
 * It watches each folder, and all of them anew after each change: `watch` with `recursive` watches the files of Linux by
 * their inodes, so it misses changes of a file that git or an editor has replaced.
 * @param {string} folder
 * @param {() => Promise<void>} call
 */
function onChanges(folder, call) {
  /** @type {import('node:fs').FSWatcher[]} */
  let watchers = []
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  let calls = Promise.resolve()
  const restart = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      start()
      calls = calls.then(call)
    }, QUIET).unref()
  }
  const start = () => {
    for (const watcher of watchers) watcher.close()
    watchers = []
    try {
      for (const path of foldersBelow(folder)) watchers.push(watch(path, restart).on('error', restart).unref())
    } catch {
      // A folder was removed after it was listed.
      restart()
    }
  }
  start()
}

/**
 * Returns a folder and the folders below it.
 * @param {string} folder
 */
function foldersBelow(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory())
  return [folder, ...folders.map(({ parentPath, name }) => join(parentPath, name))]
}
