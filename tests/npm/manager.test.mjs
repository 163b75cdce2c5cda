// The package manager that starts `create-activity-rank`.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../../create/bin.mjs', import.meta.url))

for (const [agent, steps] of [
  ['npm/10.9.4 node/v22.23.3 linux x64', ['npm install', 'npm run dev', 'npx wrangler login', 'npm run deploy']],
  ['pnpm/10.2.0 npm/? node/v22.23.3', ['pnpm install', 'pnpm run dev', 'pnpm exec wrangler login', 'pnpm run deploy']],
  ['yarn/4.6.0 npm/? node/v22.23.3', ['yarn install', 'yarn run dev', 'yarn exec wrangler login', 'yarn run deploy']],
  ['bun/1.2.0 npm/? node/v22.23.3', ['bun install', 'bun run dev', 'bunx wrangler login', 'bun run deploy']],
  ['', ['npm install', 'npm run dev', 'npx wrangler login', 'npm run deploy']],
]) {
  it(`steps name the caller "${agent}"`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'activity-rank-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const env = { ...process.env, npm_config_user_agent: String(agent) }
    const args = [PROGRAM, 'leaderboard', '--yes', '--no-install']
    const { stdout, status } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' })
    assert.equal(status, 0, stdout)
    const lines = stdout.split('\n').map((line) => line.replace(/^│ +/, '').replace(/ {2,}.*$/, ''))
    assert.deepEqual(
      lines.filter((line) => /^(np|pnp|yarn|bun)/.test(line)),
      steps,
    )
  })
}
