// The scripts that a contributor runs first.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

function newFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'scripts-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Runs a script in a clone without node_modules, whose Node.js would come first, with these programs. */
function run(t, script, programs) {
  const folder = newFolder(t)
  cpSync(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true })
  for (const [name, code] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${code}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  const env = { PATH: `${folder}:/usr/bin:/bin` }
  return spawnSync(join(folder, 'scripts', script), { encoding: 'utf8', env })
}

for (const script of ['tools', 'dev']) {
  it(`scripts/${script} refuses an old Node.js first`, (t) => {
    const programs = { node: 'echo v18.19.0', npm: 'exit 1', cargo: 'exit 1' }
    const { status, stderr } = run(t, script, programs)
    const message = `${script}: Node.js 18.19.0 is too old: install Node.js 20 or newer (https://nodejs.org)\n`
    assert.deepEqual([status, stderr], [1, message])
  })
}

it('scripts/dev starts with the Node.js that it has installed', (t) => {
  const node = `case $1 in --version) echo v20.19.0 ;; scripts/dev.mjs) echo old ;;
    *) mkdir -p node_modules/.bin; ln -s /bin/echo node_modules/.bin/node ;; esac`
  const { status, stdout } = run(t, 'dev', { node, npm: '', 'scripts/tools': '', 'scripts/build': '' })
  assert.deepEqual([status, stdout], [0, 'scripts/dev.mjs\n'])
})

it('run of tests lists the skipped ones', (t) => {
  const folder = newFolder(t)
  const file = join(folder, 'some.test.mjs')
  writeFileSync(
    file,
    `import { describe, it } from 'node:test'
    it('a', (t) => t.skip('no printer'))
    describe('b', () => it('c', { skip: true }, () => {}))
    it('d', () => {})`,
  )
  // A test that runs tests must not look like a file of the outer run.
  const { NODE_TEST_CONTEXT, ...env } = process.env
  const { status, stdout } = spawnSync(join(ROOT, 'scripts/test-node'), [file], {
    encoding: 'utf8',
    env: { ...env, TEST_REPORTS: folder },
  })
  assert.equal(status, 0, stdout)
  assert.ok(stdout.endsWith('Skipped tests: 2\n  a: no printer\n  c: no reason\n'), stdout)
  const { seconds, slowest, ...report } = JSON.parse(readFileSync(join(folder, 'some.json'), 'utf8'))
  const skipped = [
    { name: 'a', reason: 'no printer' },
    { name: 'c', reason: 'no reason' },
  ]
  assert.deepEqual(report, { group: 'some', tests: 3, failed: 0, skipped })
  assert.deepEqual([slowest.length, slowest[0].seconds <= seconds], [1, true])
})
