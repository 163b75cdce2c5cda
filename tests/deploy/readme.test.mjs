// The steps of README.md that deploy from a clone, word for word. What only Cloudflare can do is done on this machine: the
// secrets are in the file of `wrangler dev`, which also stands for the deployment; the upload itself is left out.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { unstable_readConfig } from 'wrangler'

import { spawnTied, startGateway, stopTied, waitForLine } from '../sdk/support.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const ORIGIN = 'https://www.example.com'
const run = promisify(execFile)

const [, steps] = README.match(/\nFrom a clone of this repository:\n([\s\S]*?)\n\n(?=[A-Z])/) ?? []

/** The configuration with the changes of step 1, for a gateway, and without the command that compiles. */
function configuration(gateway) {
  const [section, ...assignments] = [...steps.split('\n2. ')[0].matchAll(/`([^`]+)`/g)].map(([, code]) => code)
  assert.deepEqual([section, assignments.shift()], ['[env.production.vars]', 'wrangler.toml'])
  assert.deepEqual(assignments, ['UPSTASH_REDIS_REST_URL = "https://…"', `ALLOWED_ORIGINS = "${ORIGIN}"`])
  const lines = assignments.join('\n').replace('https://…', gateway)
  const text = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')
  return text.replace(/\n\[build\]\n[^[]*/, '\n').replace(`\n${section}\n`, `\n${section}\n${lines}\n`)
}

it('README deploys from a clone', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'activity-rank-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const gateway = await startGateway()
  t.after(() => gateway.stop())
  for (const name of ['build', 'migrations']) symlinkSync(join(ROOT, name), join(folder, name))
  writeFileSync(join(folder, 'wrangler.toml'), configuration(gateway.url))
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' }

  const secrets = {
    UPSTASH_REDIS_REST_TOKEN: gateway.token,
    SERVICE_KEYS: 'a-service-key-of-production',
    JWT_SECRET: 'a secret of production, 32 bytes and more',
  }
  const commands = [...steps.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block]) => block.trim().split(/\n\s*/))
  const deploy = steps.match(/\n3\. Deploy: `(.*)`\./)?.[1]
  const doctor = commands.pop()
  const puts = Object.keys(secrets).map((name) => `npx wrangler secret put ${name} --env production`)
  assert.deepEqual(
    commands.map((command) => command.split(/ +#/)[0]),
    puts,
  )
  assert.equal(deploy, 'make deploy ENVIRONMENT=production')

  const lines = Object.entries(secrets).map((pair) => pair.join('='))
  writeFileSync(join(folder, '.dev.vars.production'), lines.join('\n'))
  // The secrets of another environment stay out of this one.
  cpSync(join(ROOT, 'dev.vars'), join(folder, '.dev.vars'))
  const worker = spawnTied(
    'wrangler',
    ['dev', '--cwd', folder, '--env', 'production', '--ip', '127.0.0.1', '--port', '0', '--inspector-port', '0'],
    { ...env, WRANGLER_LOG_PATH: join(folder, 'logs') },
  )
  t.after(() => stopTied(worker))
  const [, url] = await waitForLine(worker, /Ready on (http:\S+)/)
  const words = doctor.replace('https://activity-rank.example.com', url).split(' ')
  const program = words.splice(0, 5)
  assert.deepEqual(program, ['cargo', 'run', '-p', 'activity-rank-cli', '--'])
  const checked = await run(join(ROOT, 'target/debug/activity-rank'), words, {
    env: { ...env, ACTIVITY_RANK_KEY: secrets.SERVICE_KEYS },
  })
  assert.match(checked.stdout, /\n0 errors, \d+ warnings?\n$/)
  for (const check of ['store', 'service keys', 'user tokens', 'origins']) {
    assert.match(checked.stdout, new RegExp(`^ok +${check} `, 'm'))
  }
  const body = JSON.stringify({ user: '42', action: 'like', target: 'post-7' })
  const like = async (key) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    return (await fetch(`${url}/v1/activity`, { method: 'POST', headers, body })).status
  }
  assert.deepEqual([await like(secrets.SERVICE_KEYS), await like('dev-service-key')], [200, 401])
})

it('deploy button opens the template with everything that it asks for', () => {
  const [, link] = README.match(/\(https:\/\/deploy\.workers\.cloudflare\.com\/\?url=(\S+)\)/) ?? []
  const [, repository, path] = link.match(/^(https:\/\/github\.com\/[\w-]+\/[\w-]+)\/tree\/main\/(.+)$/) ?? []
  assert.ok(readFileSync(join(ROOT, 'Cargo.toml'), 'utf8').includes(`repository = "${repository}"\n`), link)
  const read = (name) => readFileSync(join(ROOT, path, name), 'utf8')
  const config = read('wrangler.toml')
  const section = config.match(/\n\[vars\]\n([\s\S]*?)\n\[/)?.[1] ?? ''
  const variables = [...section.matchAll(/^(\w+) = /gm)].map(([, name]) => name)
  const secrets = [...read('.dev.vars.example').matchAll(/^(\w+)=$/gm)].map(([, name]) => name)
  const resources = [...config.matchAll(/^binding = "(\w+)"$/gm)].map(([, name]) => name)
  const asked = [...variables, ...secrets, ...resources.filter((name) => name !== 'ASSETS')]
  const { cloudflare, scripts } = JSON.parse(read('package.json'))
  assert.deepEqual(Object.keys(cloudflare.bindings).sort(), asked.sort())
  for (const [name, { description }] of Object.entries(cloudflare.bindings)) assert.match(description, /\.$/, name)
  assert.equal(scripts.deploy, 'activity-rank deploy')
})

/** The page of the button reads names and ids from the configuration, and puts those of new resources in their place. */
it('template of the deploy button has a name or id for every binding', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'activity-rank-'))
  t.after(() => rmSync(folder, { recursive: true }))
  cpSync(join(ROOT, 'create/template'), folder, { recursive: true })
  const installed = join(folder, 'node_modules/activity-rank')
  mkdirSync(installed, { recursive: true })
  symlinkSync(join(ROOT, 'build'), join(installed, 'worker'))
  for (const name of ['build/web', 'migrations']) symlinkSync(join(ROOT, name), join(installed, basename(name)))
  const config = unstable_readConfig({ config: join(folder, 'wrangler.toml') }, { hideWarnings: true })
  const { kv_namespaces, d1_databases, queues, durable_objects, analytics_engine_datasets } = config
  const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
  for (const { database_name, database_id } of d1_databases) {
    assert.match(database_name ?? '', /^activity-rank-(archive|journal)$/)
    assert.match(database_id ?? '', uuid)
  }
  assert.equal(new Set(d1_databases.map(({ database_id }) => database_id)).size, 2)
  assert.match(kv_namespaces[0].id ?? '', /^[0-9a-f]{32}$/)
  assert.deepEqual(
    queues.producers?.map(({ queue }) => queue),
    ['activity-rank-held', 'activity-rank-dead'],
  )
  assert.deepEqual(
    durable_objects.bindings.map(({ name, class_name }) => [name, class_name]),
    [['LIVE', 'Live']],
  )
  // An account has it only after somebody has enabled it.
  assert.deepEqual(analytics_engine_datasets, [])
})
