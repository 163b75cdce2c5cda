// The version of Node.js that the commands of the npm package need.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../../npm/bin.mjs', import.meta.url))

for (const [version, refusal] of [
  ['20.20.2', 'activity-rank: Node.js 20.20.2 is too old: install Node.js 22.12 or newer (https://nodejs.org)\n'],
  ['22.9.0', 'activity-rank: Node.js 22.9.0 is too old: install Node.js 22.12 or newer (https://nodejs.org)\n'],
  ['22.12.0', ''],
  ['100.0.0', ''],
]) {
  it(`Node.js ${version} is ${refusal ? 'refused' : 'accepted'} before anything else`, () => {
    const claim = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`
    const args = ['--import', `data:text/javascript,${encodeURIComponent(claim)}`, PROGRAM, 'deploy', '--help']
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.deepEqual({ status, stderr }, { status: refusal ? 1 : 0, stderr: refusal })
  })
}
