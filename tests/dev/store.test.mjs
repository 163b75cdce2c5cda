// Redis for `make dev` and `make cluster`.

import assert from 'node:assert/strict'
import { it } from 'node:test'

import { cluster, single } from '../../npm/dev/store.mjs'
import { TARGETS } from '../../scripts/targets.mjs'

/** With one journal for both, a rebuild of one Redis would replay the changes of the other. */
it('stores of one checkout share no state', () => {
  const folders = Object.values(TARGETS).map(({ folder }) => `${folder}/`)
  for (const folder of folders)
    assert.deepEqual(
      folders.filter((other) => other.startsWith(folder)),
      [folder],
    )
})

it('stores of one checkout share no port', () => {
  const ports = Object.values(TARGETS).flatMap(({ isCluster, redisPort }) =>
    (isCluster ? cluster : single).ports(redisPort),
  )
  assert.equal(new Set(ports).size, ports.length)
})
