// The environments of wrangler.toml as wrangler reads them, and again with their commented bindings.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { fileURLToPath } from 'node:url'

import { unstable_readConfig } from 'wrangler'

const FILE = fileURLToPath(new URL('../../wrangler.toml', import.meta.url))
const ENVIRONMENTS = ['preview', 'production']
const CRONS = ['*/5 * * * *', '* * * * *']

const folder = mkdtempSync(join(tmpdir(), 'activity-rank-'))
after(() => rmSync(folder, { recursive: true }))

const text = readFileSync(FILE, 'utf8')
const environmentsAt = text.indexOf('[env.preview]')
const uncommented = join(folder, 'wrangler.toml')
const bindings = text.slice(environmentsAt).replace(/^# (?=\[|[a-z_]+ = )/gm, '')
writeFileSync(uncommented, text.slice(0, environmentsAt) + bindings)

const read = (config, env = undefined) => unstable_readConfig({ config, env }, { hideWarnings: true })
const shared = read(FILE)

/** Returns the resources of a configuration as `[kind, binding, resource]`. */
const resources = ({ kv_namespaces, d1_databases, queues, durable_objects, ratelimits }) => [
  ...kv_namespaces.map(({ binding, id }) => ['kv', binding, id]),
  ...d1_databases.map(({ binding, database_name }) => ['d1', binding, database_name]),
  ...(queues.producers ?? []).map(({ binding, queue }) => ['producer', binding, queue]),
  ...(queues.consumers ?? []).map(({ queue, dead_letter_queue }) => ['consumer', queue, dead_letter_queue]),
  ...durable_objects.bindings.map(({ name, class_name }) => ['object', name, class_name]),
  ...(ratelimits ?? []).map(({ name, namespace_id }) => ['limit', name, namespace_id]),
]

it('each configuration deploys a Worker of its own', () => {
  const names = [shared, ...ENVIRONMENTS.map((env) => read(FILE, env))].map(({ name }) => name)
  assert.deepEqual(names, ['activity-rank-dev', 'activity-rank-preview', 'activity-rank'])
})

/** A new environment deploys without any resource that must be created or paid for. */
it('environments bind only rate limits', () => {
  const found = ENVIRONMENTS.map((env) => resources(read(FILE, env)))
  assert.deepEqual(found, [
    [
      ['limit', 'WRITE_LIMIT', '8103'],
      ['limit', 'READ_LIMIT', '8104'],
    ],
    [
      ['limit', 'WRITE_LIMIT', '8101'],
      ['limit', 'READ_LIMIT', '8102'],
    ],
  ])
})

it('make dev has all bindings', () => {
  const found = resources(shared).map(([, name]) => name)
  const expected = 'SNAPSHOTS ARCHIVE JOURNAL HELD DEAD activity-rank-held LIVE WRITE_LIMIT READ_LIMIT'
  assert.deepEqual(found, expected.split(' '))
  assert.deepEqual(shared.triggers.crons, CRONS)
})

/** Without a section of its own an environment would inherit the schedules of development. */
it('environments set their own schedules', () => {
  const sections = ENVIRONMENTS.map((env) => text.includes(`\n[env.${env}.triggers]\n`))
  assert.deepEqual(sections, [true, true])
  assert.deepEqual(
    ENVIRONMENTS.map((env) => read(FILE, env).triggers.crons),
    [[], CRONS],
  )
})

it('environments log failures but not each request', () => {
  for (const env of ENVIRONMENTS) {
    const { enabled, logs } = read(FILE, env).observability ?? {}
    assert.deepEqual([enabled, { ...logs }], [true, { enabled: true, invocation_logs: false }], env)
  }
})

it('commented bindings are those of make dev', () => {
  const kinds = (config) => resources(config).map(([kind, name]) => [kind, kind === 'consumer' ? '' : name])
  for (const env of ENVIRONMENTS) assert.deepEqual(kinds(read(uncommented, env)), kinds(shared), env)
})

it('commented bindings have the settings of make dev', () => {
  const settings = ({ queues, d1_databases, ratelimits }) => [
    queues.consumers?.map(({ queue, dead_letter_queue, ...settings }) => settings),
    d1_databases.map(({ migrations_dir }) => migrations_dir),
    ratelimits.map(({ simple }) => simple),
  ]
  for (const env of ENVIRONMENTS) assert.deepEqual(settings(read(uncommented, env)), settings(shared), env)
})

it('no resource belongs to two environments', () => {
  const [preview, production] = ENVIRONMENTS.map((env) => {
    const own = resources(read(uncommented, env)).filter(([kind]) => kind !== 'object' && kind !== 'kv')
    return own.flatMap(([kind, name, resource]) => (kind === 'consumer' ? [name, resource] : [resource]))
  })
  assert.deepEqual(
    preview.filter((resource) => production.includes(resource)),
    [],
  )
})

it('environments have no ids of make dev', () => {
  for (const env of ENVIRONMENTS) {
    const { kv_namespaces, d1_databases } = read(uncommented, env)
    const ids = [...kv_namespaces.map(({ id }) => id), ...d1_databases.map(({ database_id }) => database_id)]
    assert.deepEqual(ids, ['…', '…', '…'], env)
  }
})

it('production can be placed near its store', () => {
  assert.equal(read(FILE, 'production').placement, undefined)
  assert.deepEqual({ ...read(uncommented, 'production').placement }, { region: 'aws:eu-central-1' })
})
