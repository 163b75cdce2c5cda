// Redis for development: one server, or a cluster of six nodes.

/** @import { Server } from './server.mjs' */
/** @typedef {(name: string, command: string[]) => Server} Start */

/**
 * @typedef {object} Store
 * @property {string[]} variables of the Worker, as `NAME:value`
 * @property {(port: number) => number[]} ports the ports in use
 * @property {(port: number) => string} url
 * @property {(folder: string, start: Start, port: number) => Promise<void>} start with its data in a folder
 */

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

import { UserError } from '../user_error.mjs'

const run = promisify(execFile)

/** Returns the program `redis-server`. Fails if it is not installed. */
async function program() {
  const path = process.env.REDIS_SERVER || 'redis-server'
  await run(path, ['--version']).catch((error) => {
    const remedy = 'Install Redis 6.2 or newer (Debian: apt-get install redis-server, macOS: brew install redis)'
    throw new UserError(`${path} could not be started (${error.code}). ${remedy}, or set REDIS_SERVER to its path.`)
  })
  return path
}

/**
 * Returns the command of a redis-server.
 * @param {string} path
 * @param {number} port
 * @param {string} folder
 * @param {string[]} options
 */
const serverCommand = (path, port, folder, options = []) => [
  path,
  ...['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder],
  ...['--appendonly', 'yes', '--save', '', '--maxmemory-policy', 'noeviction'],
  ...options,
]

/** @type {Store} */
export const single = {
  variables: [],
  ports: (port) => [port],
  url: (port) => `redis://127.0.0.1:${port}`,
  async start(folder, start, port) {
    const data = join(folder, 'redis')
    mkdirSync(data, { recursive: true })
    start('redis', serverCommand(await program(), port, data))
  },
}

/** @type {Store} */
export const cluster = {
  variables: ['SHARDS:8'],
  // The cluster bus of a node uses its port plus 10,000.
  ports: (port) => nodePorts(port).flatMap((node) => [node, node + 10_000]),
  url: (port) => `redis+cluster://${nodePorts(port).map((node) => `127.0.0.1:${node}`)}`,
  async start(folder, start, port) {
    const marker = join(folder, 'formed')
    const path = await program()
    for (const [index, node] of nodePorts(port).entries()) {
      const data = join(folder, `redis-${index}`)
      // Nodes of an incomplete cluster cannot form a new one.
      if (!existsSync(marker)) rmSync(data, { recursive: true, force: true })
      mkdirSync(data, { recursive: true })
      const options = [
        ...['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'],
        // Slots stay available while others have no primary.
        ...['--cluster-require-full-coverage', 'no'],
        // A primary that waits for further replicas delays the first one by 5 seconds.
        ...['--repl-diskless-sync-delay', '0'],
      ]
      start(`redis-${node}`, serverCommand(path, node, data, options))
    }
    await form(nodePorts(port), marker)
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
   * Waits until the reply of every node to a command meets a condition.
   * @param {string[]} words
   * @param {(reply: string) => boolean} condition
   */
  const waitForAll = async (words, condition) => {
    for (let attempt = 0; attempt < 600; attempt++, await pause(100)) {
      const replies = await Promise.all(ports.map((port) => command(port, ...words).catch(() => '')))
      if (replies.every(condition)) return
    }
    throw new Error('The Redis Cluster was not ready within a minute.')
  }
  await waitForAll(['CLUSTER', 'INFO'], (reply) => reply.includes('cluster_state'))
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
  await waitForAll(['CLUSTER', 'NODES'], (reply) => ports.every((port) => reply.includes(`:${port}@`)))
  await waitForAll(['CLUSTER', 'INFO'], (reply) => reply.includes('cluster_state:ok'))
  // A replica that is not in sync could not replace its primary, or would lose data.
  await waitForAll(['INFO', 'replication'], (reply) => /master_link_status:up|state=online/.test(reply))
  writeFileSync(marker, `${ports[0]}\n`)
}
