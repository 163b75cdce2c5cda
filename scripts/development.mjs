// Copies web/ for `make dev`, with a module that lets the page sign in any user.

import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MODULE = '<script type="module" src="/development.js"></script>\n'

/**
 * Copies the files into a folder, again after each change, and returns the folder.
 * @param {string} folder
 * @param {string} secret of user tokens
 */
export function developmentFiles(folder, secret) {
  const copy = () => {
    cpSync('web', folder, { recursive: true })
    writeFileSync(join(folder, 'index.html'), readFileSync('web/index.html', 'utf8') + MODULE)
    copyFileSync('scripts/development.js', join(folder, 'development.js'))
    writeFileSync(join(folder, 'development.json'), JSON.stringify({ secret }))
  }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  copy()
  watch('web', { recursive: true }, copy).unref()
  return folder
}
