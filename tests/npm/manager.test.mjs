// `create-activity-rank` as a package manager starts it: the steps that it prints, and what it refuses.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../../create/bin.mjs', import.meta.url))

/** Runs it in an empty folder, or with one that has a file. Returns its status, its output and the folder. */
function create(t, args, agent = '', file = undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'activity-rank-'))
  t.after(() => rmSync(folder, { recursive: true }))
  if (file) {
    mkdirSync(join(folder, dirname(file)))
    writeFileSync(join(folder, file), '')
  }
  const env = { ...process.env, npm_config_user_agent: agent }
  return { folder, ...spawnSync(process.execPath, [PROGRAM, ...args], { cwd: folder, env, encoding: 'utf8' }) }
}

for (const [agent, steps] of [
  ['npm/10.9.4 node/v22.23.3 linux x64', ['npm install', 'npm run dev', 'npx wrangler login', 'npm run deploy']],
  ['pnpm/10.2.0 npm/? node/v22.23.3', ['pnpm install', 'pnpm run dev', 'pnpm exec wrangler login', 'pnpm run deploy']],
  ['yarn/4.6.0 npm/? node/v22.23.3', ['yarn install', 'yarn run dev', 'yarn exec wrangler login', 'yarn run deploy']],
  ['bun/1.2.0 npm/? node/v22.23.3', ['bun install', 'bun run dev', 'bunx wrangler login', 'bun run deploy']],
  ['', ['npm install', 'npm run dev', 'npx wrangler login', 'npm run deploy']],
]) {
  it(`steps name the caller "${agent}"`, (t) => {
    const { stdout, status } = create(t, ['leaderboard', '--yes', '--no-install'], String(agent))
    assert.equal(status, 0, stdout)
    const lines = stdout.split('\n').map((line) => line.replace(/^│ +/, '').replace(/ {2,}.*$/, ''))
    assert.deepEqual(
      lines.filter((line) => /^(np|pnp|yarn|bun)/.test(line)),
      steps,
    )
  })
}

it('folder with files is refused', (t) => {
  const { status, stderr } = create(t, ['leaderboard', '--yes', '--no-install'], '', 'leaderboard/a.txt')
  assert.deepEqual([status, stderr], [1, 'create-activity-rank: FOLDER: leaderboard exists and is not empty.\n'])
})

for (const [option, problem] of [
  ['--store-url=http://redis.example.com', '--store-url: Must be an https:// address, without a path.'],
  ['--store-url=https://redis.example.com/path', '--store-url: Must be an https:// address, without a path.'],
  ['--origins=https://a.example,b.example', '--origins: b.example is not an origin such as'],
  ['--time-zone=Berlin', '--time-zone: Must be an IANA name such as Europe/Berlin.'],
  ['--color=red', "Unknown option '--color'"],
]) {
  it(`${option} is refused`, (t) => {
    const { status, stderr, folder } = create(t, ['other', '--yes', option])
    assert.equal(status, 1)
    assert.ok(stderr.startsWith(`create-activity-rank: ${problem}`), stderr)
    assert.deepEqual(readdirSync(folder), [])
  })
}
