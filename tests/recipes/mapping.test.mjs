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
    'with an unknown undo',
    { events: { liked: { ...RULE, undo: 'everyone' } } },
    'mapping.json: liked: `undo` must be true, false or "all".',
  ],
  ['with a text for private', { events: {}, private: 'yes' }, 'mapping.json: `private` must be true or false.'],
  [
    'with names of categories',
    { events: {}, categories: ['general'] },
    'mapping.json: `categories` must be a list of integers.',
  ],
  [
    'with an inexact number',
    { events: { liked: { ...RULE, if: { id: [1, 2 ** 53] } } } },
    'mapping.json: liked: write integers from 2^53 on as text.',
  ],
  ['with a number for a label', { events: {}, labels: [1] }, 'mapping.json: `labels` must be a list of names.'],
  [
    'with an unknown change of a member',
    { events: { gone: { member: 'delete', user: '{id}' } } },
    'mapping.json: gone: `member` must be "hide", "show" or "erase".',
  ],
  ['with a change of no member', { events: { gone: { member: 'erase' } } }, 'mapping.json: gone: `user` is missing.'],
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

for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
  it(`user named ${name} is a user as any other`, () => {
    const users = Object.fromEntries([[`${name}`, 'a member']])
    const rule = { author: '{id}', about: { author: '{id}', title: '{title}' }, profile: { name: '{id}' } }
    for (const [mapping, user] of [
      [{ users: { other: '42' } }, name],
      [{}, name],
      [{ users }, 'a member'],
    ]) {
      const changes = apply(rule, { id: name }, mapping)
      assert.deepEqual(changes.activities, [{ user, action: 'like', target: 'post-7', author: user }])
      assert.deepEqual(changes.targets.get('post-7'), { author: user })
    }
    assert.throws(() => apply({ user: `{${name}}` }, {}), /has no/)
    assert.throws(() => apply({ user: `{list.${name}}` }, { list: [] }), /has no/)
  })
}

it('private content is left out, its undo is not', () => {
  const options = { isPrivate: true }
  const mapping = { events: { liked: RULE, unliked: { ...RULE, undo: true } } }
  assert.deepEqual(changesOf(mapping, 'liked', { id: 1 }, options).activities, [])
  assert.equal(changesOf(mapping, 'unliked', { id: 1 }, options).activities.length, 1)
  assert.equal(changesOf({ ...mapping, private: true }, 'liked', { id: 1 }, options).activities.length, 1)
  assert.deepEqual(changesOf({ ...mapping, private: true }, 'liked', { id: 1 }, { isBot: true }).activities, [])
})

it('undo for all needs no user', () => {
  const rule = { undo: 'all', at: '{at}' }
  const { activities, undos } = apply(rule, { at: '2025-11-03T10:00:00Z' })
  assert.deepEqual([activities, undos], [[], [{ action: 'like', target: 'post-7', at: '2025-11-03T10:00:00Z' }]])
  assert.equal(apply(rule, { id: 1 }).undos[0].user, '1')
  assert.equal(apply({ ...rule, source_gone: true }, { id: 1 }).undos[0].source_gone, true)
})

it('listed user is not erased with the account', () => {
  const mapping = { users: { 'forum:1': '42' }, events: { gone: { member: 'erase', user: 'forum:{id}' } } }
  assert.deepEqual(changesOf(mapping, 'gone', { id: 1 }).members, [])
  const { activities, members } = changesOf(mapping, 'gone', { id: 2 })
  assert.deepEqual([activities, members], [[], [{ user: 'forum:2', change: 'erase', event: 'gone' }]])
  assert.throws(() => changesOf(mapping, 'gone', {}), /has no `forum:\{id\}`/)
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
