// The texts of all languages.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, it } from 'node:test'

import { LANGUAGES } from '../../web/languages/index.js'
import { shapeOf } from './support.mjs'

const FOLDER = new URL('../../web/languages/', import.meta.url)

describe('languages', () => {
  it('list has every file', () => {
    const files = readdirSync(FOLDER).filter((file) => file !== 'index.js')
    assert.deepEqual(
      files,
      LANGUAGES.map((name) => `${name}.js`),
    )
  })

  it('all have the same texts as English', async () => {
    const [english, ...others] = await Promise.all(
      LANGUAGES.map(async (name) => [name, await import(`../../web/languages/${name}.js`)]),
    )
    assert.equal(english[0], 'en')
    for (const [name, texts] of others) assert.deepEqual(shapeOf(texts), shapeOf(english[1]), name)
  })
})
