// <activity-like> on pages of Docusaurus, Starlight and Hugo: each site has the files of docs/embedding.md, is built, and opened
// in Chromium. The buttons are compared with the pictures in tests/web/pictures/sites.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, it } from 'node:test'

import { blocksOf, replace, run } from '../recipes/commands.mjs'
import { ROOT } from '../recipes/support.mjs'
import { compare, isTaken, otherLetters } from '../web/picture.mjs'
import { eventually, startApp } from '../web/support.mjs'
import { serveFolder } from './sites.mjs'

const DEPLOYMENT = 'https://activity-rank.example.com'
const INSTALL = 'npm install --no-audit --no-fund --no-progress'

/** Returns the block of the document that contains a text. */
function block(language, text) {
  const found = blocksOf('docs/embedding.md', language).find((block) => block.includes(text))
  assert.ok(found, `docs/embedding.md has no block with ${text}`)
  return found
}

/** Returns a block that begins with the name of its file, as an entry of files. */
function named(language, file) {
  const text = block(language, `// ${file}\n`)
  return { [file]: text }
}

const packageOf = (dependencies, fields) => JSON.stringify({ private: true, ...fields, dependencies })

const SITES = {
  docusaurus: {
    files: () => ({
      'package.json': packageOf(
        {
          '@docusaurus/core': '3.10.2',
          '@docusaurus/preset-classic': '3.10.2',
          react: '19.2.0',
          'react-dom': '19.2.0',
        },
        { scripts: { swizzle: 'docusaurus swizzle', build: 'docusaurus build' } },
      ),
      'document.config.js': block('js', '// docusaurus.config.js'),
      'docusaurus.config.js': `import document from './document.config.js'
        const presets = [['classic', { blog: false, docs: { routeBasePath: '/' } }]]
        const url = 'https://www.example.com'
        export default { title: 'Docs', url, baseUrl: '/', trailingSlash: true, presets, ...document }`,
      'docs/first.md': '---\nslug: /\n---\n# First\nText\n',
      'docs/日本.md': '# Second\nText\n',
    }),
    // The wrapper that the command writes is replaced by the file of the document.
    commands: [INSTALL, 'npm run swizzle @docusaurus/theme-classic DocItem/Footer -- --wrap --javascript --danger'],
    later: () => named('jsx', 'src/theme/DocItem/Footer/index.js'),
    build: 'npm run build',
    output: 'build',
    page: encodeURI('/日本/'),
    register: true,
    actions: ['Yes', 'No'],
  },
  starlight: {
    files: () => ({
      'package.json': packageOf({ '@astrojs/starlight': '0.42.4', astro: '7.3.5' }, { type: 'module' }),
      'astro.config.mjs': `import starlight from '@astrojs/starlight'
        import { defineConfig } from 'astro/config'
        export default defineConfig({ integrations: [${block('js', '// astro.config.mjs\n').replace(/^.*\n/, '')}] })`,
      ...named('astro', 'src/components/Footer.astro'),
      'src/content.config.js': `import { docsLoader } from '@astrojs/starlight/loaders'
        import { docsSchema } from '@astrojs/starlight/schema'
        import { defineCollection } from 'astro:content'
        export const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) }`,
      'src/content/docs/first.md': '---\ntitle: First\n---\nText\n',
    }),
    commands: [INSTALL],
    build: 'npx astro build',
    output: 'dist',
    page: '/first/',
    actions: ['Yes', 'No'],
  },
  hugo: {
    files: () => ({
      'hugo.toml':
        'baseURL = "https://www.example.com/"\ntitle = "Posts"\ndisableKinds = ["home", "section", "taxonomy", "term"]',
      'layouts/_default/single.html': `<!doctype html><link rel="icon" href="data:,"><title>Post</title>{{ .Content }}
        ${block('html', '{{ .RelPermalink }}')}`,
      'content/first.md': '---\ntitle: First\n---\nText\n',
    }),
    build: 'hugo --quiet',
    output: 'public',
    page: '/first/',
    actions: ['Like'],
  },
}

let app
before(async () => {
  app = await startApp({
    vars: {
      CONTENT_PERIODS: 'all',
      VISITORS: 'like,helpful,unhelpful',
      VISITOR_KEY: 'a secret of visitors with 32 bytes',
      RULES: { helpful: { points: 1 }, unhelpful: { points: 1 } },
      BOARD_MAX_AGE: 0,
    },
  })
  await app.request('PUT', '/v1/targets', [{ id: SITES.hugo.page, title: 'A page' }])
})
after(() => app?.stop())

function write(folder, files) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text.includes(DEPLOYMENT) ? replace(text, { [DEPLOYMENT]: app.url }) : text)
  }
}

it('document has the command of Docusaurus', () => {
  const [, command] = SITES.docusaurus.commands
  assert.ok(readFileSync(join(ROOT, 'docs/embedding.md'), 'utf8').includes(command))
})

/** Registers the pages of a site as the document does. */
async function register(folder) {
  const script = replace(block('js', '/sitemap.xml'), {
    'https://www.example.com/sitemap.xml': `${app.pages}/sitemap.xml`,
    [DEPLOYMENT]: app.url,
  })
  writeFileSync(join(folder, 'register.mjs'), script)
  const { status, output } = await run('node register.mjs', { ACTIVITY_RANK_KEY: app.serviceKey }, folder)
  assert.equal(status, 0, output)
}

for (const [name, site] of Object.entries(SITES)) {
  it(`${name} page has the button`, async (t) => {
    const {
      files,
      commands = [],
      later = () => ({}),
      build,
      output,
      page: path,
      actions,
      register: isRegistered,
    } = site
    const folder = mkdtempSync(join(tmpdir(), `${name}-`))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const env = { ASTRO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' }
    write(folder, files())
    for (const command of [...commands, build]) {
      if (command === build) write(folder, later())
      const { status, output: text } = await run(command, env, folder)
      assert.equal(status, 0, text)
    }
    serveFolder(app, join(folder, output))
    if (isRegistered) await register(folder)
    const page = await app.visit(t, app.pages + path, {
      reducedMotion: 'reduce',
      viewport: { width: 1280, height: 900 },
    })
    const like = page.locator('activity-like')
    await page.locator('activity-like section:not(.loading)').waitFor()
    assert.equal(await like.getAttribute('target'), path)
    const buttons = like.getByRole('button')
    await eventually(() => buttons.locator('[part=name]').allInnerTexts(), actions)
    const picture = await like.screenshot()
    await buttons.first().click()
    await eventually(() => buttons.first().getAttribute('aria-pressed'), 'true')
    const action = actions[0] === 'Like' ? 'like' : 'helpful'
    const query = new URLSearchParams({ actions: action, targets: path })
    const counts = async () => (await app.request('GET', `/v1/content/counts?${query}`)).targets[0].counts
    await eventually(counts, { [action]: 1 })
    assert.deepEqual(page.errors, [])
    const reason = await otherLetters(t, app)
    if (reason) return t.diagnostic(reason)
    const difference = compare(`sites/${name}`, picture)
    if (!isTaken) assert.equal(difference, undefined)
  })
}
