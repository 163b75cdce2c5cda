import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'

import { scaled } from './slowness.mjs'

/** Reads until the value deeply equals what is expected. Fails with the last difference after `timeout` ms. */
export async function eventually(read, expected, timeout = scaled(60_000)) {
  for (const deadline = Date.now() + timeout; ; await pause(20)) {
    try {
      assert.deepEqual(await read(), expected)
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
  }
}
