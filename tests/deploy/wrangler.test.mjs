// The environments of wrangler.toml as wrangler reads them, and again with their commented bindings.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { fileURLToPath } from 'node:url'

import { DEVELOPMENT, ENVIRONMENTS, readConfig, resources, sharedResources } from '../../scripts/environments.mjs'

const FILE = fileURLToPath(new URL('../../wrangler.toml', import.meta.url))
const CRONS = ['*/5 * * * *', '* * * * *']

const folder = mkdtempSync(join(tmpdir(), 'activity-rank-'))
after(() => rmSync(folder, { recursive: true }))

const text = readFileSync(FILE, 'utf8')
const environmentsAt = text.indexOf('[env.preview]')
const uncommented = join(folder, 'wrangler.toml')
const bindings = text.slice(environmentsAt).replace(/^# (?=\[|[a-z_]+ = )/gm, '')
writeFileSync(uncommented, text.slice(0, environmentsAt) + bindings)

const development = readConfig(FILE, DEVELOPMENT)

it('each configuration deploys a Worker of its own', () => {
  const names = [development, ...ENVIRONMENTS.map((env) => readConfig(FILE, env))].map(({ name }) => name)
  assert.deepEqual(names, ['activity-rank-dev', 'activity-rank-preview', 'activity-rank'])
})

/** A new environment deploys without any resource that must be created or paid for. */
it('environments bind only rate limits', () => {
  const found = ENVIRONMENTS.map((env) => resources(readConfig(FILE, env)))
  assert.deepEqual(found, [
    [
      ['rate limit', 'WRITE_LIMIT', '8103'],
      ['rate limit', 'READ_LIMIT', '8104'],
    ],
    [
      ['rate limit', 'WRITE_LIMIT', '8101'],
      ['rate limit', 'READ_LIMIT', '8102'],
    ],
  ])
})

it('make dev has all bindings', () => {
  const found = resources(development).map(([, name]) => name)
  const expected = 'SNAPSHOTS ARCHIVE JOURNAL HELD DEAD consumer dead letters LIVE ANALYTICS WRITE_LIMIT READ_LIMIT'
  assert.equal(found.join(' '), expected)
  assert.deepEqual(development.triggers.crons, CRONS)
})

/** Without a section of its own an environment would inherit the schedules of development. */
it('environments set their own schedules', () => {
  const sections = ENVIRONMENTS.map((env) => text.includes(`\n[env.${env}.triggers]\n`))
  assert.deepEqual(sections, [true, true])
  assert.deepEqual(
    ENVIRONMENTS.map((env) => readConfig(FILE, env).triggers.crons),
    [[], CRONS],
  )
})

it('environments log failures but not each request', () => {
  for (const env of ENVIRONMENTS) {
    const { enabled, logs } = readConfig(FILE, env).observability ?? {}
    assert.deepEqual([enabled, { ...logs }], [true, { enabled: true, invocation_logs: false }], env)
  }
})

it('commented bindings match make dev', () => {
  const kinds = (config) => resources(config).map(([kind, name]) => [kind, name])
  for (const env of ENVIRONMENTS) assert.deepEqual(kinds(readConfig(uncommented, env)), kinds(development), env)
})

it('commented settings match make dev', () => {
  const settings = ({ queues, d1_databases, ratelimits }) => [
    queues.consumers?.map(({ queue, dead_letter_queue, ...settings }) => settings),
    d1_databases.map(({ migrations_dir }) => migrations_dir),
    ratelimits.map(({ simple }) => simple),
  ]
  for (const env of ENVIRONMENTS) assert.deepEqual(settings(readConfig(uncommented, env)), settings(development), env)
})

it('environments share no resource', () => {
  // Their namespaces and databases have no ids until they are created.
  const expected = ['KV namespace …', 'D1 database …']
  for (const env of ENVIRONMENTS) {
    assert.deepEqual(sharedResources(FILE, env), [], env)
    assert.deepEqual(sharedResources(uncommented, env), expected, env)
  }
})

it('environments have no ids of make dev', () => {
  for (const env of ENVIRONMENTS) {
    const { kv_namespaces, d1_databases } = readConfig(uncommented, env)
    const ids = [...kv_namespaces.map(({ id }) => id), ...d1_databases.map(({ database_id }) => database_id)]
    assert.deepEqual(ids, ['…', '…', '…'], env)
  }
})

it('production can be placed near its store', () => {
  assert.equal(readConfig(FILE, 'production').placement, undefined)
  assert.deepEqual({ ...readConfig(uncommented, 'production').placement }, { region: 'aws:eu-central-1' })
})
