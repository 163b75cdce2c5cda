// Every command in the documents of a recipe, in `make soak` of all, runs in an empty folder: npm installs the packed packages
// from a registry on this machine, and wrangler deploys to a stand-in for Cloudflare's API. Commands that need other software run
// in tests/ecosystem.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'

import { packages } from '../npm/packages.mjs'
import { startRegistry } from '../npm/registry.mjs'
import { depth, isSoak } from '../sdk/depth.mjs'
import { listen } from '../sdk/listen.mjs'
import { startWrangler } from '../sdk/worker.mjs'
import { startCloudflare } from './cloudflare.mjs'
import { blocksOf, replace, run } from './commands.mjs'
import { deliver, KEY, payload, ROOT, receiverConfig, SECRET, startReceiver } from './support.mjs'

const ECOSYSTEM = ['astro', 'hugo', 'next', 'wordpress']
const SECRETS = {
  github: ['GITHUB_SECRET', 'ACTIVITY_RANK_KEY'],
  giscus: ['GITHUB_SECRET', 'ACTIVITY_RANK_KEY'],
  discourse: ['DISCOURSE_SECRET', 'ACTIVITY_RANK_KEY'],
  ghost: ['GHOST_SECRET', 'ACTIVITY_RANK_KEY'],
  generic: ['WEBHOOK_SECRET', 'ACTIVITY_RANK_KEY'],
  sync: ['ACTIVITY_RANK_KEY', 'DISCOURSE_API_KEY', 'DISCOURSE_API_USERNAME'],
  hono: ['SESSION_SECRET', 'JWT_SECRET'],
  discord: ['DISCORD_TOKEN', 'WEBHOOK_SECRET', 'ACTIVITY_RANK_KEY', 'JWT_SECRET'],
  slack: ['SLACK_TOKEN', 'SLACK_SIGNING_SECRET', 'WEBHOOK_SECRET', 'ACTIVITY_RANK_KEY', 'JWT_SECRET'],
}
const NAMES = { generic: 'activity-rank-webhooks', hono: 'members' }
/** An event of each receiver that its mapping counts without a change, and the activity that it is. */
const EVENTS = {
  github: [
    'star.created',
    { user: 'github:101', action: 'like', target: 'github:repository:7001', at: '2025-11-03T10:20:30Z' },
  ],
  giscus: [
    'discussion_comment.created',
    {
      user: 'github:101',
      action: 'comment',
      target: 'github:discussion-comment:9209',
      on: '/posts/first-program',
      at: '2025-11-06T08:00:05Z',
    },
  ],
  discourse: [
    'post_destroyed',
    {
      action: 'comment',
      target: 'discourse:post:5002',
      undo: true,
      source_gone: true,
      at: '2025-11-03T12:30:00.000Z',
    },
  ],
  ghost: [
    'post.published',
    {
      user: 'ghost:63f5a1c2d3e4f5061728394a',
      action: 'publish',
      target: 'ghost:post:64a0b1c2d3e4f50617283950',
      at: '2025-11-03T10:00:00.000Z',
    },
  ],
  generic: ['photo.liked', { user: '42', action: 'like', target: 'photo-7', at: '2025-11-03T10:00:00Z' }],
}

const temporary = mkdtempSync(join(tmpdir(), 'packages-'))
const NPM = { npm_config_cache: join(temporary, 'cache'), npm_config_audit: 'false' }
let cloudflare
let registry
before(async () => {
  cloudflare = await startCloudflare()
  const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', temporary, './node_modules/hono']
  const hono = execFileSync('npm', pack, { cwd: ROOT, encoding: 'utf8' }).trim()
  registry = await startRegistry([...(await packages()), join(temporary, hono)])
})
after(async () => {
  await registry?.stop()
  await cloudflare?.stop()
  rmSync(temporary, { recursive: true, force: true })
})

/** Returns an empty folder for a test. */
function emptyFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'recipe-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const lastLine = (text) => text.trim().split('\n').at(-1)

/** Runs commands in a folder: npm with the registry, wrangler of this repository with a secret as its input. */
async function runCommands(commands, folder) {
  const npx = `npx() {
    if [ "$1" = wrangler ]; then printf %s "a secret of the operator" | "$@"; else command npx --yes "$@"; fi
  }\n`
  const { status, output } = await run(
    npx + commands,
    { ...NPM, npm_config_registry: registry.url, ...cloudflare.env },
    folder,
  )
  assert.equal(status, 0, output)
}

it('every recipe is tested', () => {
  const folders = readdirSync(join(ROOT, 'recipes'), { withFileTypes: true })
  const recipes = folders.filter((entry) => entry.isDirectory() && entry.name !== 'receiver').map(({ name }) => name)
  assert.deepEqual(recipes.toSorted(), [...ECOSYSTEM, ...Object.keys(SECRETS)].toSorted())
})

for (const [recipe, secrets] of depth(Object.entries(SECRETS))) {
  it(`commands of ${recipe} deploy from an empty folder`, async (t) => {
    const folder = emptyFolder(t)
    const blocks = blocksOf(`recipes/${recipe}/README.md`, 'sh').filter((block) => !block.includes('curl'))
    await runCommands(blocks.join(''), folder)
    const name = NAMES[recipe] ?? `activity-rank-${recipe}`
    assert.deepEqual(cloudflare.uploads.splice(0), [name])
    assert.deepEqual(
      cloudflare.secrets.splice(0),
      secrets.map((secret) => `${name}/${secret}`),
    )
    await runCommands('npx wrangler deploy --dry-run --outdir built', folder)
    const event = EVENTS[recipe]
    if (event) assert.deepEqual(await countedBy(t, recipe, folder, event[0]), event[1])
  })
}

/** Runs the built Worker of a folder with a stand-in for the deployment, and returns what an event makes it count. */
async function countedBy(t, source, folder, event) {
  const { url, bodies } = await startStandIn(t)
  const secret = SECRETS[source][0]
  const config = receiverConfig(source, { ACTIVITY_RANK_URL: url, ACTIVITY_RANK_KEY: KEY, [secret]: SECRET }, folder)
  const receiver = await startWrangler({ ...config, main: join(folder, 'built/worker.js'), no_bundle: true })
  t.after(() => receiver.stop())
  const name = source === 'giscus' ? 'github' : source
  const { status, body } = await deliver({ source, url: receiver.url }, event, payload(name, event))
  assert.deepEqual([status, body.results.length], [200, 1])
  return bodies.flat()[0]
}

/** A stand-in for a deployment: it knows no profile, accepts all targets, and records activity. */
async function startStandIn(t) {
  const bodies = []
  const { url, stop } = await listen(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const isActivity = request.url === '/v1/activity'
    assert.equal(request.headers.authorization, `Bearer ${KEY}`)
    if (isActivity) bodies.push(JSON.parse(text))
    const body = isActivity ? { results: [{ outcome: 'counted', points: 2 }] } : {}
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  t.after(stop)
  return { url, bodies }
}

if (isSoak) {
  it('commands of the package copy a recipe', async (t) => {
    const folder = emptyFolder(t)
    await runCommands(blocksOf('recipes/receiver/README.md', 'sh').join(''), folder)
    await runCommands(blocksOf('recipes/README.md', 'sh')[0], folder)
    const files = readdirSync(join(folder, 'my-receiver'))
    assert.deepEqual(files, ['README.md', 'mapping.json', 'package.json', 'worker.js', 'wrangler.toml'])
    assert.ok(readdirSync(join(folder, 'node_modules/@activity-rank')).includes('receiver'))
  })

  /** The folders of a clone, without a registry. */
  it('commands of a clone install offline', async (t) => {
    const folder = emptyFolder(t)
    const [, block] = blocksOf('recipes/README.md', 'sh')
    const commands = replace(block, { '~/activity-rank/': ROOT })
    const { status, output } = await run(commands, { ...NPM, npm_config_offline: 'true' }, folder)
    assert.equal(status, 0, output)
    await runCommands('npx wrangler deploy --dry-run --outdir built', folder)
  })
}

it('copy over files is refused', async (t) => {
  const folder = emptyFolder(t)
  const bin = join(ROOT, 'recipes/receiver/bin.js')
  cpSync(join(ROOT, 'recipes/github/mapping.json'), join(folder, 'mapping.json'))
  const { status, output } = await run(`node ${bin} github`, {}, folder)
  assert.deepEqual([status, lastLine(output)], [1, 'activity-rank: mapping.json exists. Choose an empty folder.'])
  assert.deepEqual(readdirSync(folder), ['mapping.json'])
})

it('unknown recipe is refused with the list', async (t) => {
  const { status, output } = await run(`node ${join(ROOT, 'recipes/receiver/bin.js')} reddit`, {}, emptyFolder(t))
  const recipes = Object.keys(SECRETS).toSorted().join(', ')
  assert.deepEqual([status, lastLine(output)], [1, `activity-rank: There is no recipe reddit. Recipes: ${recipes}`])
})

it('recipes have the versions of this repository', () => {
  const manifest = (path) => JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'))
  const { version } = manifest('sdk/js')
  const { hono } = manifest('.').devDependencies
  assert.deepEqual([manifest('recipes/receiver').dependencies], [{ '@activity-rank/server': version }])
  for (const recipe of Object.keys(SECRETS)) {
    const expected = { hono: { hono }, sync: { '@activity-rank/sync': version } }[recipe]
    assert.deepEqual(
      manifest(`recipes/${recipe}`).dependencies,
      expected ?? { '@activity-rank/receiver': version },
      recipe,
    )
  }
})

it('generic event of the document counts', async (t) => {
  const app = await startReceiver('generic')
  t.after(() => app.stop())
  const [block] = blocksOf('recipes/generic/README.md', 'sh').filter((block) => block.includes('curl'))
  const command = replace(block, { 'https://activity-rank-webhooks.example.workers.dev': app.url })
  const { status, stdout, output } = await run(command, { WEBHOOK_SECRET: SECRET })
  assert.equal(status, 0, output)
  const [expected] = blocksOf('recipes/generic/README.md', 'text')
  assert.deepEqual(JSON.parse(stdout), JSON.parse(expected))
})
