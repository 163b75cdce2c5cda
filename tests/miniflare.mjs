// Serves a Worker in Miniflare, which is what `wrangler dev` runs, without wrangler's proxy, bundler and watching of files.
// wrangler brings Miniflare: a deployment uploads the names of the packages in package.json.
//
//   node tests/miniflare.mjs CONFIG STATE
//
// CONFIG is a configuration of wrangler as JSON, with variables, files, services, D1, KV, queues, rate limits, datasets and
// the Worker's own Durable Objects. STATE is the folder of persisted state.
// Prints "Ready on URL", then what the Worker logs and each batch of a queue.

import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'

// `import` would search its 6 MB for the names of exports: twice the processor time.
const { Log, LogLevel, Miniflare } = createRequire(import.meta.url)('miniflare')
const [file, state] = process.argv.slice(2)
const folder = dirname(file)
const config = JSON.parse(readFileSync(file, 'utf8'))
const workerd = new Miniflare({
  host: '127.0.0.1',
  port: 0,
  cf: false,
  log: new Log(LogLevel.INFO),
  logRequests: false,
  // wrangler's folder, for its migrations.
  resourcePersistencePath: join(state, 'v3'),
  telemetry: { enabled: false },
  // Its inspection tools cost two thirds of the processor time of the Worker itself.
  unsafeLocalExplorer: false,
  unsafeObservability: false,
  inspectorPort: process.env.INSPECTOR_PORT ? Number(process.env.INSPECTOR_PORT) : undefined,
  // Runs cron at /cdn-cgi/local/scheduled.
  unsafeTriggerHandlers: true,
  handleStructuredLogs: ({ message }) => console.log(message),
  workers: [{ config: worker(config), dev: { rootPath: folder, stripCfConnectingIp: true } }],
})
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await workerd.dispose()
    process.exit()
  })
}
const { origin } = await workerd.ready
for (const { binding, migrations_dir: migrations } of config.d1_databases ?? []) {
  if (migrations) await migrate(await workerd.getD1Database(binding), resolve(folder, migrations))
}
console.log(`Ready on ${origin}`)

/** Applies the files of a folder to a database, as `wrangler d1 migrations apply` does. */
async function migrate(database, migrations) {
  await database.exec('CREATE TABLE IF NOT EXISTS d1_migrations (name TEXT PRIMARY KEY)')
  const { results } = await database.prepare('SELECT name FROM d1_migrations').all()
  const applied = new Set(results.map(({ name }) => name))
  for (const name of readdirSync(migrations).sort()) {
    if (!name.endsWith('.sql') || applied.has(name)) continue
    await database.batch([
      database.prepare(readFileSync(join(migrations, name), 'utf8')),
      database.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(name),
    ])
  }
}

/** Returns the configuration of a Worker of wrangler in the terms of Miniflare. */
function worker({ name, compatibility_date, compatibility_flags = [], main, assets, ...config }) {
  return {
    name,
    compatibilityDate: compatibility_date,
    compatibilityFlags: compatibility_flags,
    manifest: manifest(resolve(folder, main)),
    env: Object.fromEntries(bindings(name, assets, config)),
    exports: Object.fromEntries(
      (config.durable_objects?.bindings ?? []).map(({ class_name }) => [
        class_name,
        { type: 'durable-object', storage: 'sqlite' },
      ]),
    ),
    triggers: (config.queues?.consumers ?? []).map((consumer) => ({
      type: 'queue',
      name: consumer.queue,
      deadLetterQueue: consumer.dead_letter_queue,
      maxBatchSize: consumer.max_batch_size,
      maxBatchTimeout: consumer.max_batch_timeout,
      maxRetries: consumer.max_retries,
    })),
    assets: assets && {
      directory: resolve(folder, assets.directory),
      hasUserWorker: true,
      htmlHandling: assets.html_handling,
      notFoundHandling: assets.not_found_handling,
      runWorkerFirst: assets.run_worker_first,
    },
  }
}

/** Returns the entry point and all other modules in its folder. */
function manifest(main) {
  const modulesRoot = dirname(main)
  const modules = {}
  for (const name of readdirSync(modulesRoot)) {
    const path = join(modulesRoot, name)
    if (name.endsWith('.js')) modules[name] = { type: 'esm', contents: readFileSync(path, 'utf8') }
    if (name.endsWith('.wasm')) modules[name] = { type: 'wasm', contents: new Uint8Array(readFileSync(path)) }
  }
  return { mainModule: basename(main), modulesRoot, modules }
}

function* bindings(name, assets, config) {
  for (const [name, value] of Object.entries(config.vars ?? {})) {
    yield [name, typeof value === 'string' ? { type: 'text', value } : { type: 'json', value }]
  }
  if (assets) yield [assets.binding, { type: 'assets' }]
  for (const { binding, service } of config.services ?? []) yield [binding, { type: 'worker', worker: service }]
  for (const { binding, database_id: id } of config.d1_databases ?? []) yield [binding, { type: 'd1', id }]
  for (const { binding, id } of config.kv_namespaces ?? []) yield [binding, { type: 'kv', id: id ?? binding }]
  for (const { binding, queue } of config.queues?.producers ?? []) yield [binding, { type: 'queue', name: queue }]
  for (const { name, namespace_id: namespace, simple } of config.ratelimits ?? []) {
    yield [name, { type: 'rate-limit', namespace, simple }]
  }
  for (const { binding, dataset } of config.analytics_engine_datasets ?? []) {
    yield [binding, { type: 'analytics-engine-dataset', name: dataset ?? binding }]
  }
  for (const object of config.durable_objects?.bindings ?? []) {
    yield [object.name, { type: 'durable-object', worker: name, exportName: object.class_name }]
  }
}
