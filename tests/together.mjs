// Runs test files in one process. They share a browser, and servers by their options: see `shareApp` in tests/web/support.mjs.

import { createRequire } from 'node:module'
import { describe } from 'node:test'

// Its servers end with the process: imported by the first file, they would end with that file.
import './web/support.mjs'

// `import` would evaluate a file outside of its suite. No module of a test may have an await at its top.
const load = createRequire(new URL('../', import.meta.url))

/** Registers the tests of files, each in a suite of its own, with the path of the file as its name. */
export function together(files) {
  for (const file of files) describe(file, () => void load(`./${file}`))
}
