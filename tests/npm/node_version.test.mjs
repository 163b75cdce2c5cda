// The version of Node.js that the npm packages need.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'

/** Runs a program with another version of Node.js, as it sees it. */
function run(version, program, args) {
  const claim = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`
  const path = fileURLToPath(new URL(`../../${program}`, import.meta.url))
  const load = ['--import', `data:text/javascript,${encodeURIComponent(claim)}`, path]
  const { status, stderr } = spawnSync(process.execPath, [...load, ...args], { encoding: 'utf8' })
  return { status, stderr }
}

for (const [version, refusal] of [
  ['20.20.2', 'activity-rank: Node.js 20.20.2 is too old: install Node.js 22.12 or newer (https://nodejs.org)\n'],
  ['22.9.0', 'activity-rank: Node.js 22.9.0 is too old: install Node.js 22.12 or newer (https://nodejs.org)\n'],
  ['22.12.0', ''],
  ['100.0.0', ''],
]) {
  it(`Node.js ${version} is ${refusal ? 'refused' : 'accepted'} before anything else`, () => {
    assert.deepEqual(run(version, 'npm/bin.mjs', ['deploy', '--help']), { status: refusal ? 1 : 0, stderr: refusal })
  })
}

it('new project is refused with Node.js 20', () => {
  const stderr =
    'create-activity-rank: Node.js 20.20.2 is too old: install Node.js 22.12 or newer (https://nodejs.org)\n'
  assert.deepEqual(run('20.20.2', 'create/bin.mjs', ['--yes']), { status: 1, stderr })
})
