// The files for browsers in development, with a module that lets /try sign in any user.

import { copyFileSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SIGN_IN = fileURLToPath(new URL('sign_in.js', import.meta.url))
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
  const again = () => update().catch((error) => console.error(`dev: ${error.message}`))
  if (watched) watch(watched, { recursive: true }, again).unref()
}
