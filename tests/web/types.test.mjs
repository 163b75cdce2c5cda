// The type declarations of the client.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

function run(command, ...args) {
  const { stdout, stderr, status } = spawnSync(`${ROOT}node_modules/.bin/${command}`, args, {
    cwd: ROOT,
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout + stderr)
}

it('client types match the OpenAPI document', () => {
  const strict = ['--strict', '--noEmit', '--noUncheckedIndexedAccess']
  const modern = ['--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2022,dom']
  run('tsc', ...strict, ...modern, 'tests/web/client.types.ts')
})
