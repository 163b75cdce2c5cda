// The files of web/ as `make dev` serves them: with a module more, by which the page makes tokens.

import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MODULE = '<script type="module" src="/development.js"></script>\n'

/** Puts them into a folder, and again whenever one of them changes; returns the folder. */
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
