// A new project from the packed npm packages, on a machine without Rust: made, run, shown in a page and deployed up to the
// upload, with the commands that a user types.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

import { chromium } from 'playwright-core'

import { isSoak } from '../sdk/depth.mjs'
import { eventually } from '../sdk/eventually.mjs'
import { scaled } from '../sdk/slowness.mjs'
import { freePort } from '../sdk/support.mjs'
import { packages } from './packages.mjs'
import { startRegistry } from './registry.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const STORE = 'https://rank-store.example.com'
const TOKEN = 'token-of-the-store'
/** The command of `npm run deploy`. */
const DEPLOY = 'node_modules/.bin/activity-rank deploy'

const folder = mkdtempSync(join(tmpdir(), 'activity-rank-'))
const project = join(folder, 'leaderboard')
const cleanups = []
let archives
let env

before(async () => {
  rmSync(join(ROOT, 'target/npm-cache/_npx'), { recursive: true, force: true })
  archives = await packages()
  const registry = await startRegistry(archives)
  cleanups.push(registry.stop)
  env = {
    ...process.env,
    PATH: programsOnly([
      'node',
      'npm',
      'npx',
      'redis-server',
      'sh',
      'bash',
      'env',
      'script',
      'stty',
      'kill',
      'uname',
      'cat',
    ]),
    npm_config_registry: registry.url,
    // Its downloads are used again, but no package that npx has installed.
    npm_config_cache: join(ROOT, 'target/npm-cache'),
    TERM: 'xterm',
    ...Object.fromEntries(await Promise.all(['PORT', 'GATEWAY_PORT', 'REDIS_PORT', 'PAGES_PORT'].map(portOf))),
    WRANGLER_SEND_METRICS: 'false',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  }
})

after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
  rmSync(folder, { recursive: true, force: true })
})

/** Returns a PATH on which only these programs are. */
function programsOnly(names) {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const path = process.env.PATH.split(delimiter)
  for (const name of names) {
    const found =
      name === 'node' ? process.execPath : path.map((entry) => join(entry, name)).find((file) => existsSync(file))
    symlinkSync(found, join(bin, name))
  }
  return bin
}

const portOf = async (name) => [name, `${await freePort()}`]

/** A program in a terminal of its own. */
class Terminal {
  text = ''

  constructor(command, cwd) {
    // A terminal without a window has no width.
    const sized = `stty cols 120 rows 40; ${command}`
    this.child = spawn('script', ['--quiet', '--return', '--flush', '--command', sized, '/dev/null'], { cwd, env })
    cleanups.push(() => this.child.kill())
    this.child.stdout.on('data', (bytes) => (this.text += bytes))
    this.ended = new Promise((resolve) => this.child.on('close', resolve))
  }

  async waitFor(part) {
    await Promise.race([
      this.ended.then((status) => assert.ok(this.text.includes(part), `ended with ${status}:\n${this.text}`)),
      eventually(() => this.text.includes(part), true, scaled(300_000)),
    ]).catch((error) => assert.fail(`no "${part}" in:\n${this.text}\n${error.message}`))
  }

  /** Waits for a question and types an answer. */
  async answer(question, text) {
    await this.waitFor(question)
    this.child.stdin.write(`${text}\r`)
  }

  async stop() {
    this.child.stdin.write('\x03')
    await this.ended
  }
}

/** Runs a command to its end and returns its exit status and output. */
async function run(command, cwd = project, more = {}) {
  const child = spawn('sh', ['-c', command], { cwd, env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (text += bytes))
  const status = await new Promise((resolve) => child.on('close', resolve))
  return { status, text }
}

describe('new project', () => {
  const start = Date.now()
  const seconds = () => ((Date.now() - start) / 1000).toFixed(1)

  it('machine has no Rust', async () => {
    const { status } = await run('command -v cargo || command -v rustc', folder)
    assert.notEqual(status, 0)
  })

  it('npm create asks and writes a project', async (t) => {
    const terminal = new Terminal('npm create --yes activity-rank', folder)
    await terminal.answer('Folder of the new project', 'leaderboard')
    await terminal.answer('REST URL of your Redis', STORE)
    await terminal.answer('Its token', TOKEN)
    await terminal.answer('Sites that show the board', 'https://www.example.com')
    await terminal.answer('Time zone', 'Europe/Berlin')
    await terminal.answer('Run npm install?', 'y')
    await terminal.waitFor('leaderboard is ready.')
    assert.equal(await terminal.ended, 0)
    t.diagnostic(`project after ${seconds()} s`)

    assert.equal(terminal.text.includes(TOKEN), false)
    const secrets = JSON.parse(readFileSync(join(project, '.secrets.json'), 'utf8'))
    const { UPSTASH_REDIS_REST_TOKEN, ...keys } = secrets
    assert.equal(UPSTASH_REDIS_REST_TOKEN, TOKEN)
    assert.deepEqual(Object.keys(keys), ['SERVICE_KEYS', 'JWT_SECRET', 'VISITOR_KEY'])
    for (const key of Object.values(keys)) assert.match(key, /^[0-9a-f]{64}$/)
    assert.equal(new Set(Object.values(keys)).size, 3)
    assert.equal(statSync(join(project, '.secrets.json')).mode & 0o777, 0o600)
    const ignored = readFileSync(join(project, '.gitignore'), 'utf8').split('\n')
    assert.ok(ignored.includes('.secrets.json'), ignored.join())
    const config = readFileSync(join(project, 'wrangler.toml'), 'utf8')
    for (const line of [
      'name = "leaderboard"',
      `UPSTASH_REDIS_REST_URL = "${STORE}"`,
      'ALLOWED_ORIGINS = "https://www.example.com"',
      'TIMEZONE = "Europe/Berlin"',
      'queue = "leaderboard-held"',
    ])
      assert.ok(config.includes(`\n${line}\n`), line)
    for (const secret of Object.values(secrets)) assert.equal(config.includes(secret), false)
    // wrangler creates what has no id.
    assert.equal(/^(database_name|database_id|id) = /m.test(config), false, config)
  })

  it('npm run dev shows a board on a page of another origin', async (t) => {
    const terminal = new Terminal('npm run dev', project)
    t.after(() => terminal.stop())
    await terminal.waitFor(`activity-rank runs at http://127.0.0.1:${env.PORT}`)
    t.diagnostic(`service after ${seconds()} s`)

    const page = join(project, 'example/index.html')
    writeFileSync(page, readFileSync(page, 'utf8').replaceAll(':8787/', `:${env.PORT}/`))
    const pages = new Terminal(`npx --yes serve --no-port-switching --listen ${env.PAGES_PORT} example`, project)
    t.after(() => pages.stop())
    await pages.waitFor('Serving!')
    const browser = await chromium.launch({ executablePath: join(ROOT, 'scripts/chromium'), args: ['--no-sandbox'] })
    t.after(() => browser.close())
    const tab = await browser.newPage()
    await tab.goto(`http://localhost:${env.PAGES_PORT}/`)
    // Early on a Monday, few members of the demo community are on the board of the week.
    await tab
      .locator('activity-rank [part~=row]')
      .first()
      .waitFor({ timeout: scaled(60_000) })
    t.diagnostic(`board in a page after ${seconds()} s`)

    const { status, text } = await run(
      `npx activity-rank doctor http://127.0.0.1:${env.PORT} --origin http://localhost:3000`,
    )
    assert.match(text, /\n0 errors, 0 warnings\n$/)
    assert.equal(status, 0)
    // Development uses no store and no secret of the deployment.
    const health = await fetch(`http://127.0.0.1:${env.PORT}/healthz`)
    assert.equal(health.status, 200)
    const key = readFileSync(join(project, '.secrets.json'), 'utf8').match(/"SERVICE_KEYS": "(\w+)"/)[1]
    const authorization = `Bearer ${key}`
    const refused = await fetch(`http://127.0.0.1:${env.PORT}/v1/activity`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: '{}',
    })
    assert.equal(refused.status, 401)
  })

  it('npm run deploy uploads all bindings without a warning', async () => {
    const { status, text } = await run('npm run deploy -- --dry-run')
    assert.equal(status, 0, text)
    const names = [...text.matchAll(/env\.(\w+)/g)].map(([, name]) => name)
    const resources = 'LIVE SNAPSHOTS HELD DEAD ARCHIVE JOURNAL WRITE_LIMIT READ_LIMIT ASSETS'
    const variables = 'UPSTASH_REDIS_REST_URL ALLOWED_ORIGINS TIMEZONE CONTENT_PERIODS'
    assert.equal(
      names.join(' '),
      `${resources} ${variables} UPSTASH_REDIS_REST_TOKEN SERVICE_KEYS JWT_SECRET VISITOR_KEY`,
    )
    assert.equal(/warning/i.test(text), false, text)
    assert.equal(text.includes(TOKEN), false)
  })

  for (const [file, value, remedy] of [
    [
      'wrangler.toml',
      STORE,
      'Set UPSTASH_REDIS_REST_URL under [vars] in wrangler.toml to the https:// address of your store.',
    ],
    [
      'wrangler.toml',
      'https://www.example.com',
      'Set ALLOWED_ORIGINS under [vars] in wrangler.toml to your site, such as "https://www.example.com".',
    ],
    ['.secrets.json', TOKEN, 'Set UPSTASH_REDIS_REST_TOKEN in .secrets.json to the token of your store.'],
  ]) {
    it(`npm run deploy without ${value} is refused`, async () => {
      const path = join(project, file)
      const before = readFileSync(path, 'utf8')
      writeFileSync(path, before.replace(`"${value}"`, '""'))
      const { status, text } = await run(`${DEPLOY} --dry-run`)
      writeFileSync(path, before)
      assert.deepEqual([status, text], [1, `activity-rank: ${remedy}\n`])
    })
  }

  /** Whoever rotates a key leaves the old one in the file. */
  it('npm run deploy uploads only secrets that are missing', async (t) => {
    const log = join(folder, 'uploaded')
    const program = join(project, 'node_modules/wrangler/bin/wrangler.js')
    const original = readFileSync(program)
    t.after(() => writeFileSync(program, original))
    const deployWith = async (/** @type {string[]} */ names) => {
      const listed = JSON.stringify(names.map((name) => ({ name, type: 'secret_text' })))
      writeFileSync(
        program,
        `const { appendFileSync, readFileSync } = require('node:fs')
const args = process.argv.slice(2)
if (args[0] === 'secret') console.log(${JSON.stringify(listed)})
const file = args[args.indexOf('--secrets-file') + 1]
if (args[0] === 'deploy') appendFileSync(${JSON.stringify(log)}, args.includes('--secrets-file') ? readFileSync(file) : 'none')
`,
      )
      writeFileSync(log, '')
      const { status, text } = await run(DEPLOY)
      assert.equal(status, 0, text)
      return { uploaded: readFileSync(log, 'utf8'), text }
    }
    const secrets = JSON.parse(readFileSync(join(project, '.secrets.json'), 'utf8'))
    const { JWT_SECRET, VISITOR_KEY } = secrets
    const first = await deployWith([])
    assert.deepEqual(JSON.parse(first.uploaded), secrets)
    const second = await deployWith(['UPSTASH_REDIS_REST_TOKEN', 'SERVICE_KEYS'])
    assert.deepEqual(JSON.parse(second.uploaded), { JWT_SECRET, VISITOR_KEY })
    const kept =
      'The deployment keeps its secrets UPSTASH_REDIS_REST_TOKEN, SERVICE_KEYS. To change one: npx wrangler secret put NAME'
    assert.ok(second.text.startsWith(`${kept}\n`), second.text)
    assert.equal((await deployWith(Object.keys(secrets))).uploaded, 'none')
  })

  /** The page of the deploy button has asked for variables and secrets, which the repository may not have. */
  it('Workers Builds deploys without settings in files', async (t) => {
    const [config, secrets] = [join(project, 'wrangler.toml'), join(project, '.secrets.json')]
    const before = [readFileSync(config, 'utf8'), readFileSync(secrets, 'utf8')]
    t.after(() => {
      writeFileSync(config, before[0])
      writeFileSync(secrets, before[1])
    })
    writeFileSync(config, before[0].replace(STORE, '').replace('https://www.example.com', ''))
    rmSync(secrets)
    const { status, text } = await run('npm run --silent deploy -- --dry-run', project, { WORKERS_CI: '1' })
    assert.equal(status, 0, text)
    assert.equal(text.includes('env.SERVICE_KEYS'), false, text)
  })
})

if (isSoak) {
  it('activity-rank dev runs without a project', async (t) => {
    const elsewhere = join(folder, 'elsewhere')
    mkdirSync(elsewhere)
    const terminal = new Terminal('npx --yes activity-rank dev --empty', elsewhere)
    t.after(() => terminal.stop())
    await terminal.waitFor(`activity-rank runs at http://127.0.0.1:${env.PORT}`)
    const response = await fetch(`http://127.0.0.1:${env.PORT}/v1/ranking/week`)
    const { total, entries } = await response.json()
    assert.deepEqual([response.status, total, entries], [200, 0, []])
  })

  /** The commands of README, with the programs that the tests have compiled, and without a registry that has the packages. */
  it('packed files make a project that runs', async (t) => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
    const [, block] = readme.match(/\nUntil then, a clone packs the same files\.[^`]*```sh\n([^`]*)```/) ?? []
    const commands = block.trim().split('\n')
    assert.deepEqual(commands.splice(0, 4), [
      'make build',
      'cargo build --release -p activity-rank-cli -p redis-rest',
      'scripts/pack-npm ../packages target/release',
      'cd ..',
    ])
    const [create, ...others] = commands
    assert.equal(others.pop(), 'npm run dev')
    const elsewhere = join(folder, 'tried')
    mkdirSync(elsewhere)
    symlinkSync(dirname(archives[0]), join(elsewhere, 'packages'))
    const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
    const script = [`${create} --yes`, ...others].join(' && ')
    const { status, text } = await run(script, elsewhere, { npm_config_registry: registry })
    assert.equal(status, 0, text)
    const terminal = new Terminal('npm run dev -- --empty', join(elsewhere, 'leaderboard'))
    t.after(() => terminal.stop())
    await terminal.waitFor(`activity-rank runs at http://127.0.0.1:${env.PORT}`)
  })
}

it('template and package have the versions of this repository', () => {
  const manifest = (path) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
  const { wrangler } = manifest('package.json').devDependencies
  const { version, devDependencies, optionalDependencies, peerDependencies } = manifest('npm/package.json')
  const template = manifest('create/template/package.json')
  assert.deepEqual(
    [devDependencies, optionalDependencies, template.dependencies, template.devDependencies],
    [{ wrangler }, { '@activity-rank/cli-linux-x64': version }, { 'activity-rank': version }, { wrangler }],
  )
  // The first version that creates queues.
  assert.deepEqual(peerDependencies, { wrangler: '^4.113.0' })
})
