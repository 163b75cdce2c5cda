// Redis for `make dev` and `make cluster`: one server, or a cluster of six.

/** @import { Server } from './server.mjs' */
/** @typedef {(name: string, command: string[]) => Server} Start */

/**
 * @typedef {object} Store
 * @property {string} folder data of Redis, wrangler's databases, logs and files; no other store uses it
 * @property {number} port default port
 * @property {string[]} vars flags for wrangler
 * @property {(port: number) => number[]} ports the ports in use
 * @property {(port: number) => string} url
 * @property {(start: Start, port: number) => Promise<void>} start
 */

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const program = process.env.REDIS_SERVER || 'redis-server'

/**
 * Returns the command of a redis-server.
 * @param {number} port
 * @param {string} folder
 * @param {string[]} options
 */
const serverCommand = (port, folder, options = []) => [
  program,
  ...['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder],
  ...['--appendonly', 'yes', '--save', '', '--maxmemory-policy', 'noeviction'],
  ...options,
]

/** @type {Record<string, Store>} */
export const stores = {
  dev: {
    folder: '.dev/single',
    port: 6390,
    ports: (port) => [port],
    url: (port) => `redis://127.0.0.1:${port}`,
    vars: [],
    async start(start, port) {
      const folder = `${this.folder}/redis`
      mkdirSync(folder, { recursive: true })
      start('redis', serverCommand(port, folder))
    },
  },
  cluster: {
    folder: '.dev/cluster',
    port: 6391,
    // The cluster bus of a node uses its port plus 10,000.
    ports: (port) => nodePorts(port).flatMap((node) => [node, node + 10_000]),
    url: (port) => `redis+cluster://${nodePorts(port).map((node) => `127.0.0.1:${node}`)}`,
    vars: ['--var', 'SHARDS:8'],
    async start(start, port) {
      const marker = `${this.folder}/formed`
      for (const [index, node] of nodePorts(port).entries()) {
        const folder = `${this.folder}/redis-${index}`
        // Nodes of an incomplete cluster cannot form a new one.
        if (!existsSync(marker)) rmSync(folder, { recursive: true, force: true })
        mkdirSync(folder, { recursive: true })
        const options = [
          ...['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'],
          // Slots stay available while others have no primary.
          ...['--cluster-require-full-coverage', 'no'],
        ]
        start(`redis-${node}`, serverCommand(node, folder, options))
      }
      await form(nodePorts(port), marker)
    },
  },
}

/** @param {number} port */
const nodePorts = (port) => [0, 1, 2, 3, 4, 5].map((index) => port + index)

/**
 * Forms a cluster, once per data folder, and waits until it is ready.
 * @param {number[]} ports
 * @param {string} marker a file with the first port that the nodes last used
 */
async function form(ports, marker) {
  /**
   * @param {number} port
   * @param {...string} words
   */
  const command = async (port, ...words) => (await run('redis-cli', ['-p', `${port}`, ...words])).stdout
  /**
   * Waits until the reply of every node to a CLUSTER subcommand meets a condition.
   * @param {string} subcommand
   * @param {(reply: string) => boolean} condition
   */
  const waitForAll = async (subcommand, condition) => {
    for (let attempt = 0; attempt < 600; attempt++, await pause(100)) {
      const replies = await Promise.all(ports.map((port) => command(port, 'CLUSTER', subcommand).catch(() => '')))
      if (replies.every(condition)) return
    }
    throw new Error('The Redis Cluster was not ready within a minute.')
  }
  await waitForAll('INFO', (reply) => reply.includes('cluster_state'))
  if (!existsSync(marker)) {
    const addresses = ports.map((port) => `127.0.0.1:${port}`)
    const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes']
    await run('redis-cli', create).catch((error) => {
      throw new Error(`redis-cli could not create the cluster:\n${error.stdout}${error.stderr}`)
    })
  } else if (readFileSync(marker, 'utf8').trim() !== `${ports[0]}`) {
    // Nodes have the other nodes' previous ports.
    const pairs = ports.flatMap((port) => ports.filter((other) => other !== port).map((other) => [port, other]))
    await Promise.all(pairs.map(([port, other]) => command(port, 'CLUSTER', 'MEET', '127.0.0.1', `${other}`)))
  }
  await waitForAll('NODES', (reply) => ports.every((port) => reply.includes(`:${port}@`)))
  await waitForAll('INFO', (reply) => reply.includes('cluster_state:ok'))
  writeFileSync(marker, `${ports[0]}\n`)
}
