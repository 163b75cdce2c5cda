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

for (const script of ['tools', 'dev']) {
  it(`scripts/${script} refuses an old Node.js first`, (t) => {
    const folder = newFolder(t)
    for (const [name, code] of [
      ['node', 'echo v18.19.0'],
      ['npm', 'exit 1'],
      ['cargo', 'exit 1'],
    ]) {
      writeFileSync(join(folder, name), `#!/bin/sh\n${code}\n`)
      chmodSync(join(folder, name), 0o755)
    }
    // In a clone without node_modules, whose Node.js would come first.
    cpSync(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true })
    const { status, stderr } = spawnSync(join(folder, 'scripts', script), {
      encoding: 'utf8',
      env: { PATH: `${folder}:/usr/bin:/bin` },
    })
    const message = `${script}: Node.js 18.19.0 is too old: install Node.js 20 or newer (https://nodejs.org)\n`
    assert.deepEqual([status, stderr], [1, message])
  })
}

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
