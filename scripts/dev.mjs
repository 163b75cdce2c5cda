// `make dev` and `make cluster`: runs what this checkout builds. The argument is the target.

import { existsSync } from 'node:fs'

import { dev } from '../npm/dev/dev.mjs'
import { wranglerOf } from '../npm/wrangler.mjs'
import { DEVELOPMENT, readConfig } from './environments.mjs'
import { TARGETS } from './targets.mjs'
import { assemble } from './web.mjs'

const CONFIG = 'wrangler.toml'
const target = process.argv[2] || 'dev'
const { isCluster, folder, redisPort } = TARGETS[target]
const wrangler = wranglerOf('.')
if (!wrangler) throw new Error('wrangler is missing: run make tools')

const { triggers, vars } = readConfig(CONFIG, DEVELOPMENT)
const status = await dev({
  command: `make ${target}`,
  commandLine: 'target/debug/activity-rank',
  folder,
  isCluster,
  isEmpty: false,
  ports: {
    worker: Number(process.env.PORT || 8787),
    gateway: Number(process.env.GATEWAY_PORT || 8079),
    redis: Number(process.env.REDIS_PORT || redisPort),
  },
  config: CONFIG,
  environment: DEVELOPMENT,
  crons: triggers.crons ?? [],
  vars,
  secrets: ['dev.vars', '.dev.vars'].filter((file) => existsSync(file)),
  wrangler: wrangler.program,
  programs: 'target/debug',
  community: 'demo/community.jsonl',
  assemble,
  watched: 'web',
})
// A request that nothing waits for any more may be under way.
process.exit(status)
