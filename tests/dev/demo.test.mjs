// The community of `make dev`.

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'

import { ACHIEVEMENTS, profiles, targets } from '../../npm/dev/community.mjs'
import { LANGUAGES } from '../../web/languages/index.js'
import { ICONS } from '../../web/page/icons.js'

const COMMUNITY = fileURLToPath(new URL('../../demo/community.jsonl', import.meta.url))

const parse = (lines) => lines.map((line) => JSON.parse(line))

it('each member has a name of its own', () => {
  const members = parse(profiles(COMMUNITY))
  assert.equal(members.length, 555)
  assert.equal(new Set(members.map(({ name }) => name)).size, 555)
})

it('each post has a title and a known author', () => {
  const known = new Set(parse(profiles(COMMUNITY)).map(({ id }) => id))
  const posts = parse(targets(COMMUNITY))
  assert.equal(posts.length, 1670)
  assert.deepEqual(
    posts.filter(({ title, author }) => !/^[A-Z].+\?$/.test(title) || !known.has(author)),
    [],
  )
})

it('achievements have every language and an icon', () => {
  for (const [id, { name, description, icon }] of Object.entries(ACHIEVEMENTS)) {
    assert.deepEqual([Object.keys(name), Object.keys(description)], [LANGUAGES, LANGUAGES], id)
    assert.ok(Object.hasOwn(ICONS, icon), id)
  }
})
