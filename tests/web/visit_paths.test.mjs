// The normal form of visited paths in web/client/visits.js; the service's is tested against the same vectors.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'

import { normalPath } from '../../web/client/visits.js'
import { randomSource } from './random.mjs'

const vectors = JSON.parse(readFileSync(new URL('../vectors/visit_paths.json', import.meta.url), 'utf8'))

it('paths have their normal form', () => {
  for (const { path, normal } of vectors) {
    assert.deepEqual([normalPath(path), normalPath(normal)], [normal, normal], JSON.stringify(path))
  }
})

it('text that is not a path stays', () => {
  for (const text of ['', 'a', 'https://example.com/a', '?a', '%2Fa']) assert.equal(normalPath(text), text)
})

// Parts in which escapes, invalid UTF-8, combining marks and dot segments meet.
const PARTS = [
  ...['/', '/', '\\', '.', '..', '%', '%2', '%e', '?', '#', ' ', '+', '|', '^', '<', 'a', 'F', '2', 'é', '中', '🌍'],
  ...['%2e', '%2E', '%2f', '%5C', '%25', '%3f', '%23', '%41', '%66', '%7f', '%00', '%20', '%3C', '%7c'],
  ...['%C2', '%85', '%A0', '%e4', '%b8', '%AD', '%cc', '%81', '%87', '%f0', '%9f', '%ed', '%a0', '%FF', '%C0', '%af'],
  ...['\u0301', '\u0307', '\u0323', '\u0338', '\u1100', '\u1161', '\u11a8', '\u00a0', '\u2028', '\ufeff', '\u212b'],
]

it('normal form of random paths is final', (t) => {
  const { seed, integer, pick } = randomSource()
  t.diagnostic(`SEED=${seed}`)
  for (let index = 0; index < 20_000; index += 1) {
    const path = `/${Array.from({ length: integer(12) }, () => pick(PARTS)).join('')}`
    const normal = normalPath(path)
    const message = `SEED=${seed} ${JSON.stringify(path)}`
    assert.equal(normalPath(normal), normal, message)
    assert.match(normal, /^(\/|(\/([!$&-.0-;=@-\]_a-z|~]|%[\dA-F]{2})+)+)$/, message)
    assert.equal(normalPath(`${normal}/?${path}#${path}`), normal, message)
    // The path that a page reads from `location` equals the path in a link to it.
    assert.equal(normalPath(new URL(`http://x${path.trim()}`).pathname), normal, message)
  }
})
