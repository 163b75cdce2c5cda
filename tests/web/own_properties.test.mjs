// Names that come from outside, such as `constructor`: no table returns what objects inherit.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'

import { LANGUAGES } from '../../web/languages/index.js'

const ROOT = new URL('../../', import.meta.url)
const FOLDERS = ['web', 'npm', 'src']
const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty']

/** @param {string} folder */
function files(folder) {
  const found = readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
  return found
    .filter((file) => /\.m?js$/.test(file) && !file.includes('node_modules'))
    .map((file) => `${folder}/${file}`)
}

describe('own properties', () => {
  it('texts of actions inherit nothing', async () => {
    for (const language of LANGUAGES) {
      const { activity, admin, pages } = await import(`../../web/languages/${language}.js`)
      for (const table of [pages.actions, pages.why.activities, admin.actions, admin.audit.actions]) {
        for (const name of NAMES) assert.equal(table[name], undefined, `${language}: ${name}`)
      }
      for (const name of NAMES) {
        assert.ok(activity.done(name, 2, '2', 4, '4').includes(name), `${language}: ${name}`)
      }
    }
  })

  // `in` also finds what an object inherits. Loops have no parenthesis or operator after the object.
  it('no code looks up names with `in`', () => {
    const found = FOLDERS.flatMap(files).flatMap((file) => {
      const code = readFileSync(new URL(file, ROOT), 'utf8').replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, '')
      const matches = code.matchAll(/(?<!const |let |["'`].*)\b([\w.]+ in \w+)(?=\)| &&| \?| \|\|)/g)
      return [...matches].map(([, match]) => `${file}: ${match}`)
    })
    // Names of this code, and keys of the keyboard.
    assert.deepEqual(found, ['web/elements/grid.js: event.key in steps', 'web/page/mine.js: name in profile'])
  })

  it('inherited names are no commands of the npm package', () => {
    for (const name of NAMES) {
      const bin = new URL('npm/bin.mjs', ROOT).pathname
      const { stderr } = spawnSync(process.execPath, [bin, name], { encoding: 'utf8' })
      assert.ok(!stderr.includes('TypeError'), stderr)
    }
  })
})
