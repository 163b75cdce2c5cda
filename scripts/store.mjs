// Redis on this machine for `make dev` and `make cluster`: one server, or six as a cluster.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const program = process.env.REDIS_SERVER || 'redis-server'

/** A redis-server with its data in `folder`. */
const server = (port, folder, options = []) => [
  program,
  ...['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder],
  ...['--appendonly', 'yes', '--save', '', '--maxmemory-policy', 'noeviction'],
  ...options,
]

/** What to keep apart for each kind of store, and how it is started. */
export const stores = {
  dev: {
    folder: '.dev/redis',
    wrangler: '.dev/wrangler',
    port: 6390,
    ports: (port) => [port],
    url: (port) => `redis://127.0.0.1:${port}`,
    vars: [],
    async start(start, port) {
      mkdirSync(this.folder, { recursive: true })
      start('redis', server(port, this.folder))
    },
  },
  cluster: {
    folder: '.dev/redis-cluster',
    wrangler: '.dev/redis-cluster/wrangler',
    port: 6391,
    // Nodes talk among themselves 10,000 above the port of each.
    ports: (port) => nodes(port).flatMap((own) => [own, own + 10_000]),
    url: (port) => `redis+cluster://${nodes(port).map((own) => `127.0.0.1:${own}`)}`,
    // Users are spread over the nodes by shards.
    vars: ['--var', 'SHARDS:8'],
    async start(start, port) {
      const mark = `${this.folder}/formed`
      for (const [number, own] of nodes(port).entries()) {
        const folder = `${this.folder}/node-${number}`
        // Nodes that half know each other can't be made one cluster any more.
        if (!existsSync(mark)) rmSync(folder, { recursive: true, force: true })
        mkdirSync(folder, { recursive: true })
        start(`redis-${own}`, server(own, folder, [
          ...['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'],
          // The other slots go on while one has no primary.
          ...['--cluster-require-full-coverage', 'no'],
        ]))
      }
      await form(nodes(port), mark)
    },
  },
}

const nodes = (port) => [0, 1, 2, 3, 4, 5].map((number) => port + number)

/** Makes one cluster of the nodes, once per data folder. The mark says on which ports they last were. */
async function form(ports, mark) {
  const ask = async (port, ...words) => (await run('redis-cli', ['-p', `${port}`, ...words])).stdout
  const all = async (what, condition) => {
    for (let tries = 0; tries < 600; tries++, await pause(100)) {
      const told = await Promise.all(ports.map((port) => ask(port, 'CLUSTER', what).catch(() => '')))
      if (told.every(condition)) return
    }
    throw new Error('the nodes of the cluster did not come together within a minute')
  }
  await all('INFO', (told) => told.includes('cluster_state'))
  if (!existsSync(mark)) {
    const addresses = ports.map((port) => `127.0.0.1:${port}`)
    const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes']
    await run('redis-cli', create).catch((error) => {
      throw new Error(`the cluster could not be made:\n${error.stdout}${error.stderr}`)
    })
  } else if (readFileSync(mark, 'utf8').trim() !== `${ports[0]}`) {
    // Each knows its own new port, but the others' old ones.
    const pairs = ports.flatMap((port) => ports.filter((other) => other !== port).map((other) => [port, other]))
    await Promise.all(pairs.map(([port, other]) => ask(port, 'CLUSTER', 'MEET', '127.0.0.1', `${other}`)))
  }
  await all('NODES', (told) => ports.every((port) => told.includes(`:${port}@`)))
  await all('INFO', (told) => told.includes('cluster_state:ok'))
  writeFileSync(mark, `${ports[0]}\n`)
}
