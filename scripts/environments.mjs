// The environments of wrangler.toml, as wrangler reads them.

import { unstable_readConfig } from 'wrangler'

/**
 * @typedef {object} Config
 * @property {string} [name]
 * @property {Record<string, unknown>} vars
 * @property {{ binding: string, id?: string }[]} kv_namespaces
 * @property {{ binding: string, database_id?: string, migrations_dir?: string }[]} d1_databases
 * @property {{ producers?: { binding: string, queue: string }[], consumers?: Consumer[] }} queues
 * @property {{ bindings: { name: string, class_name: string }[] }} durable_objects
 * @property {{ binding: string, dataset?: string }[]} analytics_engine_datasets
 * @property {{ name: string, namespace_id: string, simple: object }[]} ratelimits
 * @property {{ crons?: string[] }} triggers
 * @property {{ enabled?: boolean, logs?: object }} [observability]
 * @property {object} [placement]
 */
/** @typedef {{ queue: string, dead_letter_queue?: string }} Consumer */

/** The environments of `make deploy`. */
export const ENVIRONMENTS = ['preview', 'production']

/** The environment of `make dev`. */
export const DEVELOPMENT = 'development'

/**
 * Reads the configuration of an environment.
 * @param {string} file
 * @param {string} env
 * @returns {Config}
 */
export const readConfig = (file, env) => unstable_readConfig({ config: file, env }, { hideWarnings: true })

/**
 * Returns the resources of a configuration, each as its kind, the name by which the Worker knows it, and the resource.
 * @param {Config} config
 * @returns {[kind: string, name: string, resource: string][]}
 */
export function resources(config) {
  const { kv_namespaces, d1_databases, queues, durable_objects, analytics_engine_datasets, ratelimits } = config
  return [
    ...kv_namespaces.map(({ binding, id }) => row('KV namespace', binding, id)),
    ...d1_databases.map(({ binding, database_id }) => row('D1 database', binding, database_id)),
    ...(queues.producers ?? []).map(({ binding, queue }) => row('queue', binding, queue)),
    ...(queues.consumers ?? []).map(({ queue }) => row('queue', 'consumer', queue)),
    ...(queues.consumers ?? []).map(({ dead_letter_queue }) => row('queue', 'dead letters', dead_letter_queue)),
    ...durable_objects.bindings.map(({ name, class_name }) => row('Durable Object', name, class_name)),
    ...analytics_engine_datasets.map(({ binding, dataset }) => row('dataset', binding, dataset)),
    ...(ratelimits ?? []).map(({ name, namespace_id }) => row('rate limit', name, namespace_id)),
  ]
}

/**
 * @param {string} kind
 * @param {string} name
 * @param {string | undefined} resource
 * @returns {[string, string, string]}
 */
const row = (kind, name, resource) => [kind, name, resource ?? '']

/**
 * Returns the names and resources that an environment shares with the others or with `make dev`.
 * @param {string} file
 * @param {string} environment
 */
export function sharedResources(file, environment) {
  const names = (/** @type {string} */ env) => {
    const config = readConfig(file, env)
    // Objects belong to their Worker. Development has no resources but ids, which must not be deployed.
    const kinds = ['KV namespace', 'D1 database', 'dataset', ...(env === DEVELOPMENT ? [] : ['queue', 'rate limit'])]
    const own = resources(config).filter(([kind]) => kinds.includes(kind))
    return [`Worker ${config.name}`, ...own.map(([kind, , resource]) => `${kind} ${resource}`)]
  }
  const taken = [DEVELOPMENT, ...ENVIRONMENTS.filter((name) => name !== environment)].flatMap(names)
  return [...new Set(names(environment))].filter((name) => taken.includes(name))
}
