// The rate-limit key of a client's IP address.

import assert from 'node:assert/strict'
import { test } from 'node:test'

// Imported by URL, which tsc does not follow: the Worker's modules have the types of another platform.
const { networkOf: keyOf } = await import(new URL('../../src/platform/rate_limit.js', import.meta.url).href)

test('IPv6 addresses of one /64 network share a key', () => {
  const key = keyOf('2001:db8:1:2::1')
  assert.equal(key, '2001:db8:1:2')
  assert.equal(keyOf('2001:db8:1:2:ffff:ffff:ffff:ffff'), key)
  assert.equal(keyOf('2001:0DB8:0001:0002:0::7'), key)
  for (const other of ['2001:db8:1:3::1', '2001:db8::1', '::1', '203.0.113.7']) {
    assert.notEqual(keyOf(other), key, other)
  }
  assert.equal(keyOf('2001:db8::1'), '2001:db8:0:0')
  assert.equal(keyOf('::1'), '0:0:0:0')
  assert.equal(keyOf('::'), '0:0:0:0')
})

test('IPv4 addresses have one key in any notation', () => {
  assert.equal(keyOf('203.0.113.7'), '203.0.113.7')
  assert.equal(keyOf('::ffff:203.0.113.7'), '203.0.113.7')
  assert.equal(keyOf('::FFFF:cb00:7107'), '203.0.113.7')
  assert.notEqual(keyOf('203.0.113.7'), keyOf('203.0.113.8'))
})

test('text that is not an address is its own key', () => {
  for (const text of ['unknown', '', '[::1]', '1:2']) assert.equal(keyOf(text), text)
})
