// Redis for `make dev` and `make cluster`.

import assert from 'node:assert/strict'
import { it } from 'node:test'

import { stores } from '../../scripts/store.mjs'

/** With one journal for both, a rebuild of one Redis would replay the changes of the other. */
it('stores of one checkout share no state', () => {
  const folders = Object.values(stores).map(({ folder }) => `${folder}/`)
  for (const folder of folders)
    assert.deepEqual(
      folders.filter((other) => other.startsWith(folder)),
      [folder],
    )
})

it('stores of one checkout share no port', () => {
  const ports = Object.values(stores).flatMap(({ port, ports }) => ports(port))
  assert.equal(new Set(ports).size, ports.length)
})
