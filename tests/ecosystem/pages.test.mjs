// Pages of Hugo, Astro and Next.js with the leaderboard: each site is built by the commands of its document, and opened in
// Chromium.

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'

import { blocksOf, replace, run } from '../recipes/commands.mjs'
import { ROOT } from '../recipes/support.mjs'
import { eventually, names, startApp } from '../web/support.mjs'
import { serveFolder } from './sites.mjs'

const DEPLOYMENT = 'https://activity-rank.example.com'
const SITES = [
  { recipe: 'hugo', output: 'public', configuration: 'hugo.toml' },
  { recipe: 'astro', output: 'dist' },
  { recipe: 'next', output: 'out' },
]

let app
before(async () => {
  app = await startApp()
  await app.count([
    { user: 'ada', action: 'publish', target: 'post-1' },
    { user: 'grace', action: 'comment', target: 'comment-1' },
  ])
})
after(() => app?.stop())

for (const { recipe, output, configuration } of SITES) {
  it(`${recipe} page shows the board`, async (t) => {
    const copy = mkdtempSync(join(tmpdir(), 'recipe-'))
    t.after(() => rmSync(copy, { recursive: true, force: true }))
    const folder = join(copy, 'recipes', recipe)
    cpSync(join(ROOT, 'recipes', recipe), folder, {
      recursive: true,
      filter: (file) => !/\/(node_modules|dist|out|public|\.next|\.astro)$/.test(file),
    })
    const commands = blocksOf(`recipes/${recipe}/README.md`, 'sh').join('')
    const placeholders = { [DEPLOYMENT]: app.url }
    if (configuration) {
      const file = join(folder, configuration)
      writeFileSync(file, replace(readFileSync(file, 'utf8'), placeholders))
    }
    const env = { ASTRO_TELEMETRY_DISABLED: '1', NEXT_TELEMETRY_DISABLED: '1' }
    const script = configuration ? commands : replace(commands, placeholders)
    const built = await run(script, env, copy)
    assert.equal(built.status, 0, built.output)

    serveFolder(app, join(folder, output))
    const page = await app.visit(t, `${app.pages}/`)
    await eventually(() => names(page), ['ada', 'grace'])
    assert.deepEqual(page.errors, [])
    const plain = await app.visit(t, `${app.pages}/`, { javaScriptEnabled: false })
    assert.equal(await plain.locator('activity-rank').textContent(), 'The most active members')
  })
}

it('documents quote the files of the sites', () => {
  const read = (file) => readFileSync(join(ROOT, 'recipes', file), 'utf8')
  for (const [document, language, file] of [
    ['hugo', 'md', 'hugo/content/_index.md'],
    ['hugo', 'toml', 'hugo/hugo.toml'],
    ['astro', 'astro', 'astro/src/pages/index.astro'],
    ['next', 'jsx', 'next/app/page.jsx'],
  ]) {
    const [example] = blocksOf(`recipes/${document}/README.md`, language)
    assert.ok(read(file).includes(example.trim()), `${file} does not contain ${example}`)
  }
})
