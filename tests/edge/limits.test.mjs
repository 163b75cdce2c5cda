// By what readers are counted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { place } from '../../src/http/limits.js'

test('addresses of one network of IPv6 are one place', () => {
  const one = place('2001:db8:1:2::1')
  assert.equal(one, '2001:db8:1:2')
  assert.equal(place('2001:db8:1:2:ffff:ffff:ffff:ffff'), one)
  assert.equal(place('2001:0DB8:0001:0002:0::7'), one)
  for (const other of ['2001:db8:1:3::1', '2001:db8::1', '::1', '203.0.113.7']) {
    assert.notEqual(place(other), one, other)
  }
  assert.equal(place('2001:db8::1'), '2001:db8:0:0')
  assert.equal(place('::1'), '0:0:0:0')
  assert.equal(place('::'), '0:0:0:0')
})

test('addresses of IPv4 are places of their own however written', () => {
  assert.equal(place('203.0.113.7'), '203.0.113.7')
  assert.equal(place('::ffff:203.0.113.7'), '203.0.113.7')
  assert.equal(place('::FFFF:cb00:7107'), '203.0.113.7')
  assert.notEqual(place('203.0.113.7'), place('203.0.113.8'))
})

test('what is no address is taken as it is', () => {
  for (const text of ['unknown', '', '[::1]', '1:2']) assert.equal(place(text), text)
})
