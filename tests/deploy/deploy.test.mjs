// `make deploy` with a wrangler that records its arguments.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'

import { sharedResources } from '../../scripts/environments.mjs'

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
[env.preview.vars]
UPSTASH_REDIS_REST_URL = "https://redis-preview.example.com"
ALLOWED_ORIGINS = "https://preview.example.com"
[env.production]
name = "rank"
[env.production.vars]
UPSTASH_REDIS_REST_URL = "https://redis.example.com"
ALLOWED_ORIGINS = "https://www.example.com"
${database('production', 'ARCHIVE', 'archive')}
${database('production', 'JOURNAL', 'journal')}`

const SECRETS = '[{"name":"UPSTASH_REDIS_REST_TOKEN","type":"secret_text"}]'

/**
 * Deploys with this configuration. `failing` is a pattern of the shell: wrangler fails with arguments that begin so, and
 * `secrets` is what it prints as the secrets of the deployment.
 */
function deploy(t, environment, config, { failing = 'none', secrets = `echo '${SECRETS}'` } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'activity-rank-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const log = join(folder, 'log')
  writeFileSync(join(folder, 'wrangler.toml'), config)
  const script = `#!/bin/sh
echo "$*" >>"${log}"
case "$*" in
${failing}*) exit 3 ;;
secret\\ list*) ${secrets} ;;
esac
`
  writeFileSync(join(folder, 'wrangler'), script, { mode: 0o755 })
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` }
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, environment], { cwd: folder, env, encoding: 'utf8' })
  const calls = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []
  return { status, stderr, calls }
}

it('migrations are applied before the upload', (t) => {
  const { status, calls } = deploy(t, 'production', CONFIG)
  const expected = [
    'secret list --env production',
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
  const { status, calls } = deploy(t, 'production', CONFIG, { failing: 'd1\\ info' })
  const expected = [
    'secret list --env production',
    'd1 info ARCHIVE --env production',
    'deploy --env production',
    'd1 migrations apply ARCHIVE --remote --env production',
    'd1 migrations apply JOURNAL --remote --env production',
  ]
  assert.deepEqual([status, calls], [0, expected])
})

it('environment without databases is only uploaded', (t) => {
  assert.deepEqual(deploy(t, 'preview', CONFIG).calls, ['secret list --env preview', 'deploy --env preview'])
})

it('failed migration stops the deployment', (t) => {
  const { status, calls } = deploy(t, 'production', CONFIG, { failing: 'd1\\ migrations' })
  assert.deepEqual([status, calls.at(-1)], [3, 'd1 migrations apply ARCHIVE --remote --env production'])
})

it('unknown environment is refused', (t) => {
  const { status, stderr, calls } = deploy(t, 'staging', CONFIG)
  assert.deepEqual([status, calls], [1, []])
  assert.equal(stderr, 'deploy: ENVIRONMENT must be preview or production, not "staging".\n')
})

const SHARING = [
  [CONFIG.replace('"rank-preview"', '"rank"'), 'Worker rank'],
  [CONFIG.replace('"rank-preview"', '"rank-dev"'), 'Worker rank-dev'],
  [CONFIG + database('preview', 'ARCHIVE', 'archive'), 'D1 database archive'],
  [CONFIG + database('preview', 'ARCHIVE', 'local'), 'D1 database local'],
]

it('resources of other environments are found', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'activity-rank-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [config, shared] of SHARING) {
    writeFileSync(join(folder, 'wrangler.toml'), config)
    assert.deepEqual(sharedResources(join(folder, 'wrangler.toml'), 'preview'), [shared])
  }
})

it('preview with a resource of production is refused', (t) => {
  const [[config, shared]] = SHARING
  const { status, stderr, calls } = deploy(t, 'preview', config)
  assert.deepEqual([status, calls], [1, []])
  assert.equal(stderr, `deploy: [env.preview] needs its own in wrangler.toml: ${shared}.\n`)
})

it('empty settings are refused', (t) => {
  const config = CONFIG.replaceAll(/(UPSTASH_REDIS_REST_URL|ALLOWED_ORIGINS) = .*/g, '$1 = " "')
  const { status, stderr, calls } = deploy(t, 'production', config)
  assert.deepEqual([status, calls], [1, []])
  const set = (name) => `Set ${name} under [env.production.vars] in wrangler.toml to`
  const [store, site] = [set('UPSTASH_REDIS_REST_URL'), set('ALLOWED_ORIGINS')]
  const lines = [
    `${store} the https:// address of your store.`,
    `${site} your site, such as "https://www.example.com".`,
  ]
  assert.equal(stderr, `deploy: ${lines.join('\n')}\n`)
})

const REMEDY =
  'deploy: Store the token of your store first: npx wrangler secret put UPSTASH_REDIS_REST_TOKEN --env production\n'
for (const [name, secrets] of [
  ['other secrets', `echo '[{"name":"JWT_SECRET","type":"secret_text"}]'`],
  ['no Worker', `echo 'X [ERROR] Worker "rank" (env: production) not found.' >&2; exit 1`],
]) {
  it(`deployment with ${name} needs the token`, (t) => {
    const { status, stderr, calls } = deploy(t, 'production', CONFIG, { secrets })
    assert.deepEqual([status, stderr, calls], [1, REMEDY, ['secret list --env production']])
  })
}

it('failure to list the secrets stops the deployment', (t) => {
  const { status, stderr, calls } = deploy(t, 'production', CONFIG, { secrets: "echo 'not signed in' >&2; exit 1" })
  assert.deepEqual([status, calls], [1, ['secret list --env production']])
  assert.equal(stderr, 'deploy: wrangler could not list the secrets of the deployment:\nnot signed in\n')
})
