// Redis for `make dev` and `make cluster`.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'

import { cluster, single } from '../../npm/dev/store.mjs'
import { TARGETS } from '../../scripts/targets.mjs'
import { scaled } from '../sdk/slowness.mjs'

/** With one journal for both, a rebuild of one Redis would replay the changes of the other. */
it('stores of one checkout share no state', () => {
  const folders = Object.values(TARGETS).map(({ folder }) => `${folder}/`)
  for (const folder of folders)
    assert.deepEqual(
      folders.filter((other) => other.startsWith(folder)),
      [folder],
    )
})

it('stores of one checkout share no port', () => {
  const ports = Object.values(TARGETS).flatMap(({ isCluster, redisPort }) =>
    (isCluster ? cluster : single).ports(redisPort),
  )
  assert.equal(new Set(ports).size, ports.length)
})

/** Returns whether nothing listens on a port. */
const isFree = (/** @type {number} */ port) =>
  new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

/** Returns the first of the ports of a cluster, all of them free. */
async function freeClusterPort() {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 20_000)
    const free = await Promise.all(cluster.ports(port).map(isFree))
    if (free.every(Boolean)) return port
  }
}

/** Otherwise a primary that fails soon after the start loses what it has acknowledged. */
it('cluster is ready once its replicas are in sync', { timeout: scaled(120_000) }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-'))
  /** @type {import('node:child_process').ChildProcess[]} */
  const servers = []
  try {
    const port = await freeClusterPort()
    const start = (/** @type {string} */ _name, /** @type {string[]} */ [program, ...options]) => {
      servers.push(spawn(program, options, { stdio: 'ignore' }))
      return /** @type {any} */ (undefined)
    }
    await cluster.start(folder, start, port)
    const states = [0, 1, 2, 3, 4, 5].map((index) => {
      const reply = execFileSync('redis-cli', ['-p', `${port + index}`, 'INFO', 'replication'], { encoding: 'utf8' })
      return /master_link_status:\w+|state=\w+/.exec(reply)?.[0]
    })
    assert.deepEqual(states.sort(), [...Array(3).fill('master_link_status:up'), ...Array(3).fill('state=online')])
  } finally {
    for (const server of servers) server.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
})
