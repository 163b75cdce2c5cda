// Assembles the files that a deployment serves to browsers, from web/ into a folder: build/web by default.
//
//   node scripts/web.mjs [folder]
//
// Files are copied as they are, so all modules can be imported; pages include the parts in web/includes. Each embedded element is one minified file with a source
// map besides: under its own name, and under immutable/ with a hash of its content, which never changes.
// elements/integrity.json names the latter with its subresource integrity. web/immutable/ keeps those of released versions.

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { build, transform } from 'esbuild'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const WEB = join(ROOT, 'web')
const LANGUAGES = join(WEB, 'languages')
/** Files of other packages that pages load, with their licences: a package, the folder in it, where it goes, and which files. */
const VENDOR = [
  {
    package: join(ROOT, '.tools/npm/@scalar/api-reference'),
    from: 'dist/browser',
    to: 'vendor/scalar',
    files: /^(standalone\.esm\.js|chunks\/[^/]+\.js)$/,
    licence: 'README.md',
  },
  {
    package: join(ROOT, 'node_modules/uplot'),
    from: 'dist',
    to: 'vendor/uplot',
    files: /^uPlot\.(esm\.js|min\.css)$/,
    licence: 'LICENSE',
  },
]
/** The texts of each element in the language files. */
const TEXTS = {
  'activity-rank.js': 'elements, board',
  'activity-heatmap.js': 'elements, activity',
  'activity-card.js': 'elements, card',
  'activity-climb.js': 'elements, climb',
  'activity-like.js': 'like',
}
const ELEMENT = /^activity-[a-z]+\.js$/

/**
 * Keeps of a language file the texts of an element: others and pages have theirs in the same file.
 * @param {string} file below web/elements
 * @returns {import('esbuild').Plugin}
 */
const elementTexts = (file) => ({
  name: 'element-texts',
  /** @param {import('esbuild').PluginBuild} bundle */
  setup(bundle) {
    const names = TEXTS[/** @type {keyof TEXTS} */ (file)]
    bundle.onLoad({ filter: /\/web\/languages\/[^/]+\.js$/ }, async ({ path }) => {
      if (basename(path) === 'index.js') return
      const stdin = { contents: `export { ${names} } from './${basename(path)}'`, resolveDir: dirname(path) }
      const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', write: false })
      return { contents: outputFiles[0].text }
    })
  },
})

/** Minifies the styles of the elements, which are texts of modules. */
const elementStyles = {
  name: 'element-styles',
  /** @param {import('esbuild').PluginBuild} bundle */
  setup(bundle) {
    bundle.onLoad({ filter: /\/web\/elements\/[a-z-]*style\.js$/ }, async ({ path }) => {
      const [before, css, after] = readFileSync(path, 'utf8').split('`')
      const { code } = await transform(css, { loader: 'css', minify: true })
      return { contents: `${before}${JSON.stringify(code)}${after}` }
    })
  },
}

/**
 * Bundles an embedded element. Returns its code and its source map.
 * @param {string} file below web/elements
 */
export async function bundleElement(file) {
  const { outputFiles } = await build({
    entryPoints: [join(WEB, 'elements', file)],
    outdir: join(WEB, 'elements'),
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    sourcemap: 'external',
    write: false,
    // Its path is right from both names of the element.
    external: ['*/turnstile.js'],
    plugins: [elementTexts(file), elementStyles],
  })
  const text = (/** @type {string} */ end) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? ''
  return { code: text('.js'), map: text('.map') }
}

/** Writes the list of languages for the modules, from the files in the folder. */
function listLanguages() {
  const files = readdirSync(LANGUAGES).filter((file) => /^[a-z]{2,3}(-[A-Z][a-z]{3})?\.js$/.test(file))
  const names = files.map((file) => `'${basename(file, '.js')}'`).sort()
  const text = `// Made by \`make build\` from the files of this folder.\n\nexport const LANGUAGES = [${names.join(', ')}]\n`
  writeIfChanged(join(LANGUAGES, 'index.js'), text)
}

/**
 * Writes all files into a folder, and removes others from it.
 * @param {string} folder
 */
export async function assemble(folder) {
  listLanguages()
  /** @type {Map<string, string | Buffer>} */
  const files = new Map()
  mkdirSync(folder, { recursive: true })
  for (const path of filesBelow(WEB)) {
    if (path.startsWith('includes/')) continue
    const file = join(WEB, path)
    files.set(path, path.endsWith('.html') ? pageOf(file) : readFileSync(file))
  }
  for (const { package: name, from, to, files: wanted, licence } of VENDOR) {
    const paths = filesBelow(join(name, from)).filter((path) => wanted.test(path))
    // Their source maps are not served.
    const content = (/** @type {string} */ path) =>
      readFileSync(join(name, from, path), 'utf8').replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n')
    for (const path of paths) files.set(`${to}/${path}`, content(path))
    files.set(`${to}/${licence}`, readFileSync(join(name, licence)))
  }
  /** @type {Record<string, { file: string, integrity: string }>} */
  const integrity = {}
  for (const file of readdirSync(join(WEB, 'elements')).filter((file) => ELEMENT.test(file))) {
    const { code, map } = await bundleElement(file)
    const hash = createHash('sha256').update(code).digest('hex').slice(0, 12)
    const named = `immutable/${basename(file, '.js')}.${hash}.js`
    for (const path of [`elements/${file}`, named]) {
      files.set(path, `${code}//# sourceMappingURL=${basename(path)}.map\n`)
      files.set(`${path}.map`, map)
    }
    const digest = createHash('sha384')
      .update(files.get(named) ?? '')
      .digest('base64')
    integrity[file] = { file: `/${named}`, integrity: `sha384-${digest}` }
  }
  files.set('elements/integrity.json', `${JSON.stringify(integrity, null, 2)}\n`)

  // Files that are the same stay as they are: a running server reloads after a change.
  for (const [path, content] of files) writeIfChanged(join(folder, path), content)
  for (const path of filesBelow(folder)) if (!files.has(path)) rmSync(join(folder, path))
}

/**
 * Returns a page with the parts that it has in common with others: `<!-- include header.html -->`.
 * @param {string} file
 */
function pageOf(file) {
  const include = (/** @type {string} */ _, /** @type {string} */ name) =>
    readFileSync(join(WEB, 'includes', name), 'utf8')
  return readFileSync(file, 'utf8').replace(/<!-- include ([a-z]+\.html) -->\n/g, include)
}

/**
 * Returns the files of a folder, by their paths below it.
 * @param {string} folder
 */
function filesBelow(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
}

/**
 * @param {string} path
 * @param {string | Buffer} content
 */
function writeIfChanged(path, content) {
  mkdirSync(dirname(path), { recursive: true })
  try {
    if (readFileSync(path).equals(Buffer.from(content))) return
  } catch {
    // It does not exist yet.
  }
  writeFileSync(path, content)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) void assemble(join(ROOT, process.argv[2] ?? 'build/web'))
