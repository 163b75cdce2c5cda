// Mapping files: what is refused before a receiver is deployed, and how templates are filled.

import assert from 'node:assert/strict'
import { it } from 'node:test'

import { changesOf, checkMapping } from '../../recipes/receiver/mapping.js'
import { blocksOf } from './commands.mjs'

const RULE = { action: 'like', user: '{id}', target: 'post-7' }
const apply = (rule, payload, mapping = {}) =>
  changesOf({ ...mapping, events: { liked: { ...RULE, ...rule } } }, 'liked', payload)

for (const [name, mapping, message] of [
  ['without events', {}, 'mapping.json: `events` must be an object of rules by event.'],
  [
    'with an unknown field',
    { events: { liked: { ...RULE, undoes: true } } },
    'mapping.json: liked: unknown field `undoes`.',
  ],
  [
    'without a user',
    { events: { liked: [RULE, { ...RULE, user: undefined }] } },
    'mapping.json: liked: `user` is missing.',
  ],
  [
    'with a number for a user',
    { events: {}, users: { 'github:1': 42 } },
    'mapping.json: users: the value of `github:1` must be a string.',
  ],
]) {
  it(`mapping ${name} is refused`, () => {
    assert.throws(() => checkMapping(/** @type {any} */ (mapping)), { message })
  })
}

it('listed user replaces the id, keeps the profile', () => {
  const mapping = { users: { 'github:1': '42', 'github:2': '43' } }
  const rule = { user: 'github:{id}', profile: { name: '{name}' }, about: { author: 'github:{owner}' } }
  const { activities, profiles, targets } = apply(rule, { id: 1, name: 'ada', owner: 2 }, mapping)
  assert.deepEqual(activities, [{ user: '42', action: 'like', target: 'post-7' }])
  assert.deepEqual([profiles.size, targets.get('post-7')], [0, { author: '43' }])
})

it('first complete template of several is used', () => {
  const user = ['{sso.id}', 'forum:{id}']
  const userOf = (payload) => apply({ user }, payload).activities[0].user
  assert.deepEqual([userOf({ id: 1, sso: { id: 'a' } }), userOf({ id: 1, sso: null })], ['a', 'forum:1'])
})

it('fields are found by path, and no methods', () => {
  assert.throws(() => apply({ user: '{toString.name}' }, {}), /has no/)
  assert.equal(apply({ user: '{list.1.id}' }, { list: [{ id: 1 }, { id: 2 }] }).activities[0].user, '2')
})

it('event named as a method of objects is unmapped', () => {
  assert.deepEqual(changesOf({ events: {} }, 'constructor', {}).activities, [])
})

it('titles are cut to what the API accepts', () => {
  const payload = { id: 1, title: ` a\n${'💡'.repeat(300)}`, url: 'http://example.com' }
  const { targets } = apply({ about: { title: '{title}', url: '{url}' } }, payload)
  assert.deepEqual(targets.get('post-7'), { title: `a ${'💡'.repeat(198)}` })
})

it('example of the document is a mapping', () => {
  const [example] = blocksOf('recipes/README.md', 'json')
  const mapping = JSON.parse(example)
  checkMapping(mapping)
  const payload = { starred_at: '2025-11-03T10:20:30Z', sender: { id: 583231, type: 'User' }, repository: { id: 7 } }
  assert.deepEqual(changesOf(mapping, 'star.created', payload).activities, [
    { user: '42', action: 'like', target: 'github:repository:7', at: '2025-11-03T10:20:30Z' },
  ])
})
