// Every command in the documents of recipes runs, in a copy of the folder of the recipe: wrangler deploys to a stand-in for
// Cloudflare's API. Commands
// that need other software run in tests/ecosystem.

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, before, it } from 'node:test'

import { eventually, names, startApp } from '../web/support.mjs'
import { startCloudflare } from './cloudflare.mjs'
import { blocksOf, replace, run } from './commands.mjs'
import { ROOT, SECRET, startReceiver } from './support.mjs'

const HONO = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).devDependencies.hono
const ECOSYSTEM = ['astro', 'hugo', 'next', 'wordpress']
const SECRETS = {
  github: ['GITHUB_SECRET', 'ACTIVITY_RANK_KEY'],
  giscus: ['GITHUB_SECRET', 'ACTIVITY_RANK_KEY'],
  discourse: ['DISCOURSE_SECRET', 'ACTIVITY_RANK_KEY'],
  ghost: ['GHOST_SECRET', 'ACTIVITY_RANK_KEY'],
  generic: ['WEBHOOK_SECRET', 'ACTIVITY_RANK_KEY'],
  hono: ['SESSION_SECRET', 'JWT_SECRET'],
}
const NAMES = { generic: 'activity-rank-webhooks', hono: 'members' }

let cloudflare
before(async () => {
  cloudflare = await startCloudflare()
})
after(() => cloudflare?.stop())

it('every recipe is tested', () => {
  const folders = readdirSync(join(ROOT, 'recipes'), { withFileTypes: true })
  const recipes = folders.filter((entry) => entry.isDirectory() && entry.name !== 'receiver').map(({ name }) => name)
  assert.deepEqual(recipes.toSorted(), [...ECOSYSTEM, ...Object.keys(SECRETS)].toSorted())
})

for (const [recipe, secrets] of Object.entries(SECRETS)) {
  it(`copy of ${recipe} is deployed by its commands`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'recipe-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    cpSync(join(ROOT, 'recipes', recipe), folder, { recursive: true })
    const blocks = blocksOf(`recipes/${recipe}/README.md`, 'sh').filter((block) => !block.includes('curl'))
    assert.ok(blocks.length > 0)
    const install = `mkdir node_modules; ln -s ${join(ROOT, 'node_modules/hono')} node_modules`
    const commands = replace(blocks.join(''), recipe === 'hono' ? { [`npm install hono@${HONO}`]: install } : {})
    const withSecret = 'npx() { printf %s "a secret of the operator" | "$@"; }\n'
    const { status, output } = await run(withSecret + commands, cloudflare.env, folder)
    assert.equal(status, 0, output)
    const name = NAMES[recipe] ?? `activity-rank-${recipe}`
    assert.deepEqual(cloudflare.uploads.splice(0), [name])
    assert.deepEqual(
      cloudflare.secrets.splice(0),
      secrets.map((secret) => `${name}/${secret}`),
    )
  })
}

it('generated files match their sources', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'recipes-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { status, output } = await run(`scripts/recipes.mjs ${folder}`)
  assert.equal(status, 0, output)
  for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue
    const path = join(file.parentPath, file.name)
    const made = readFileSync(join(ROOT, 'recipes', relative(folder, path)), 'utf8')
    assert.ok(made === readFileSync(path, 'utf8'), `run scripts/recipes.mjs: ${relative(folder, path)} has changed`)
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

it('page with giscus shows the board', async (t) => {
  const app = await startApp()
  t.after(() => app.stop())
  await app.count([{ user: 'ada', action: 'comment', target: 'comment-1' }])
  const [html] = blocksOf('recipes/giscus/README.md', 'html')
  const url = app.serveHtml('/posts/1', replace(html, { 'https://activity-rank.example.com': app.url }))
  const page = await app.visit(t, url, {
    before: (page) => page.route('https://giscus.app/**', (route) => route.abort()),
  })
  await eventually(() => names(page), ['ada'])
  assert.deepEqual(page.errors, [])
})
