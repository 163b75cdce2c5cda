// `make deploy` with a wrangler that records its arguments.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('../../scripts/deploy.mjs', import.meta.url))

const database = (env, binding, id) => `[[env.${env}.d1_databases]]
binding = "${binding}"
database_name = "${id}"
database_id = "${id}"
`
const CONFIG = `name = "rank-dev"
main = "index.js"
compatibility_date = "2026-11-01"
[env.development]
name = "rank-dev"
${database('development', 'ARCHIVE', 'local')}
[env.preview]
name = "rank-preview"
[env.production]
name = "rank"
${database('production', 'ARCHIVE', 'archive')}
${database('production', 'JOURNAL', 'journal')}`

/** Deploys with this configuration. `failing` is a pattern of the shell: wrangler fails with arguments that begin so. */
function deploy(t, environment, config, failing = '') {
  const folder = mkdtempSync(join(tmpdir(), 'activity-rank-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const log = join(folder, 'log')
  writeFileSync(join(folder, 'wrangler.toml'), config)
  const script = `#!/bin/sh\necho "$*" >>"${log}"\ncase "$*" in ${failing || 'none'}*) exit 3 ;; esac\n`
  writeFileSync(join(folder, 'wrangler'), script, { mode: 0o755 })
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` }
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, environment], { cwd: folder, env, encoding: 'utf8' })
  const calls = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []
  return { status, stderr, calls }
}

it('migrations are applied before the upload', (t) => {
  const { status, calls } = deploy(t, 'production', CONFIG)
  const expected = [
    'd1 info ARCHIVE --env production',
    'd1 info JOURNAL --env production',
    'd1 migrations apply ARCHIVE --remote --env production',
    'd1 migrations apply JOURNAL --remote --env production',
    'deploy --env production',
  ]
  assert.deepEqual([status, calls], [0, expected])
})

/** wrangler creates databases without an id at the first upload. */
it('migrations of new databases are applied after the upload', (t) => {
  const { status, calls } = deploy(t, 'production', CONFIG, 'd1\\ info')
  const expected = [
    'd1 info ARCHIVE --env production',
    'deploy --env production',
    'd1 migrations apply ARCHIVE --remote --env production',
    'd1 migrations apply JOURNAL --remote --env production',
  ]
  assert.deepEqual([status, calls], [0, expected])
})

it('environment without databases is only uploaded', (t) => {
  assert.deepEqual(deploy(t, 'preview', CONFIG).calls, ['deploy --env preview'])
})

it('failed migration stops the deployment', (t) => {
  const { status, calls } = deploy(t, 'production', CONFIG, 'd1\\ migrations')
  assert.deepEqual([status, calls.at(-1)], [3, 'd1 migrations apply ARCHIVE --remote --env production'])
})

for (const environment of ['', 'staging']) {
  it(`environment "${environment}" is refused`, (t) => {
    const { status, stderr, calls } = deploy(t, environment, CONFIG)
    assert.deepEqual([status, calls], [1, []])
    assert.equal(stderr, `deploy: ENVIRONMENT must be preview or production, not "${environment}".\n`)
  })
}

for (const [name, config, shared] of [
  ['name', CONFIG.replace('"rank-preview"', '"rank"'), 'Worker rank'],
  ['name of make dev', CONFIG.replace('"rank-preview"', '"rank-dev"'), 'Worker rank-dev'],
  ['database', CONFIG + database('preview', 'ARCHIVE', 'archive'), 'D1 database archive'],
  ['database of make dev', CONFIG + database('preview', 'ARCHIVE', 'local'), 'D1 database local'],
]) {
  it(`preview with another ${name} is refused`, (t) => {
    const { status, stderr, calls } = deploy(t, 'preview', config)
    assert.deepEqual([status, calls], [1, []])
    assert.equal(stderr, `deploy: [env.preview] needs its own in wrangler.toml: ${shared}.\n`)
  })
}
