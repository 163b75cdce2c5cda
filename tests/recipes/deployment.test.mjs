// The configuration with which a receiver reaches its deployment.

import assert from 'node:assert/strict'
import { it } from 'node:test'

import { connect } from '../../recipes/receiver/deployment.js'

const URL = 'https://rank.example.com'
for (const [name, env, detail] of [
  ['no key', { ACTIVITY_RANK_URL: URL }, 'The secret ACTIVITY_RANK_KEY is not set.'],
  ['no deployment', { ACTIVITY_RANK_KEY: 'key' }, 'Neither RANK nor ACTIVITY_RANK_URL is set.'],
  [
    'a key with a line break',
    { ACTIVITY_RANK_URL: URL, ACTIVITY_RANK_KEY: 'key\n' },
    'ACTIVITY_RANK_URL is not a URL, or ACTIVITY_RANK_KEY has white space.',
  ],
  [
    'an address that is no URL',
    { ACTIVITY_RANK_URL: 'rank', ACTIVITY_RANK_KEY: 'key' },
    'ACTIVITY_RANK_URL is not a URL, or ACTIVITY_RANK_KEY has white space.',
  ],
]) {
  it(`receiver with ${name} is misconfigured`, () => {
    assert.throws(
      () => connect(/** @type {any} */ (env)),
      ({ document }) => {
        assert.deepEqual([document.status, document.detail], [500, detail])
        return true
      },
    )
  })
}
