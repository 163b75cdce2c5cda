// How tests wait for the programs that they start.

import assert from 'node:assert/strict'
import { it } from 'node:test'

import { scaled } from './slowness.mjs'
import { spawnTied, stopTied, waitForLine } from './support.mjs'

// What wrangler does after an error of its bundle: it waits for a change of the files.
for (const [name, script, expected] of /** @type {[string, string, RegExp][]} */ ([
  [
    'waits for a change',
    'echo "no module" >&2; exec sleep 1000',
    /did not print \/ready\/ within 1 seconds:\nno module\n$/,
  ],
  ['ends', 'echo "no module" >&2', /ended without printing \/ready\/:\nno module\n$/],
])) {
  it(`program that ${name} fails with its errors`, { timeout: scaled(60_000) }, async (t) => {
    const child = spawnTied('sh', ['-c', script])
    t.after(() => stopTied(child))
    await assert.rejects(waitForLine(child, /ready/, 1), { message: expected })
  })
}

it('program that is ready in time keeps running', async (t) => {
  const child = spawnTied('sh', ['-c', 'echo starting; echo ready; exec sleep 1000'])
  t.after(() => stopTied(child))
  assert.equal((await waitForLine(child, /^(.*)ready$/))[1], '')
  assert.equal(child.exitCode, null)
})
