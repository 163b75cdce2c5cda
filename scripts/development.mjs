// Assembles the files for browsers for `make dev`, with a module that lets /try sign in any user.

import { copyFileSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { assemble } from './web.mjs'

const MODULE = '<script type="module" src="/development.js"></script>\n'

/**
 * Assembles the files in a folder, again after each change, and returns the folder.
 * @param {string} folder
 * @param {string} secret of user tokens
 */
export async function developmentFiles(folder, secret) {
  const update = async () => {
    await assemble(folder)
    writeFileSync(join(folder, 'try.html'), readFileSync(join(folder, 'try.html'), 'utf8') + MODULE)
    copyFileSync('scripts/development.js', join(folder, 'development.js'))
    writeFileSync(join(folder, 'development.json'), JSON.stringify({ secret }))
  }
  await update()
  // A module with an error stays as it was until the next change.
  const again = () => update().catch((error) => console.error(`dev: ${error.message}`))
  watch('web', { recursive: true }, again).unref()
  return folder
}
