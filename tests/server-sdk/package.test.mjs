// The npm package as it is published: its files, its types, and the runtimes without Node's modules.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'

import { packages } from '../npm/packages.mjs'
import { startBundled } from '../sdk/worker.mjs'
import { KEY, startApp, visits } from './support.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MODULES = [
  'activity',
  'client',
  'errors',
  'http',
  'index',
  'live',
  'operations',
  'outbox',
  'retry',
  'sender',
  'token',
]
const FILE_OUTBOX = ['file-lock', 'file-outbox', 'file-records']

/** A project in which the packed package is installed, the folder of the package in it, and the archive. */
let project
let installed
let archive
before(async () => {
  project = mkdtempSync(join(tmpdir(), 'project-'))
  installed = join(project, 'node_modules/@activity-rank/server')
  archive = (await packages()).find((path) => path.includes('activity-rank-server-')) ?? ''
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', archive, '-C', installed, '--strip-components=1'])
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
})
after(() => rmSync(project, { recursive: true, force: true }))

function run(command, args = [], cwd = ROOT) {
  const { stdout, stderr, status } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
  return stdout
}

it('generated files match the OpenAPI document', () => {
  const folder = join(ROOT, 'target/sdk-js')
  run('scripts/sdk-js.mjs', [folder])
  for (const file of readdirSync(folder)) {
    const source = readFileSync(join(ROOT, 'sdk/js/src', file), 'utf8')
    assert.ok(source === readFileSync(join(folder, file), 'utf8'), `run scripts/sdk-js.mjs: ${file} has changed`)
  }
})

it('package has its files and no dependencies', () => {
  const files = run('tar', ['-tzf', archive]).trim().split('\n')
  const sources = [...MODULES, ...FILE_OUTBOX].flatMap((name) => [`src/${name}.d.ts`, `src/${name}.js`])
  assert.deepEqual(
    files.map((path) => path.replace('package/', '')).toSorted(),
    [
      'LICENSE-APACHE',
      'LICENSE-MIT',
      'README.md',
      'package.json',
      'src/openapi.d.ts',
      'src/types.d.ts',
      ...sources,
    ].toSorted(),
  )
  const { dependencies, version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  assert.equal(dependencies, undefined)
  assert.match(readFileSync(join(ROOT, 'Cargo.toml'), 'utf8'), new RegExp(`^version = "${version}"$`, 'm'))
})

it('links of the readme lead to the repository', () => {
  const text = readFileSync(join(installed, 'README.md'), 'utf8')
  const links = [...text.matchAll(/\]\(([^)#]+)/g)].map(([, link]) => link)
  assert.ok(links.length > 0)
  for (const link of links) assert.match(link, /^https:\/\/github\.com\/someone\/somewhere\/blob\/v\d/)
})

it('types describe every operation', () => {
  cpSync(join(ROOT, 'tests/server-sdk/consumer.ts'), join(project, 'consumer.ts'))
  const flags = [
    '--strict',
    '--noEmit',
    '--noUncheckedIndexedAccess',
    '--lib',
    'es2023,dom,dom.asynciterable,esnext.disposable',
  ]
  run(
    join(ROOT, 'node_modules/.bin/tsc'),
    [...flags, '--target', 'es2022', '--module', 'nodenext', 'consumer.ts'],
    project,
  )
})

it('main module imports nothing of Node', async () => {
  const { metafile } = await build({
    entryPoints: [join(project, 'node_modules/@activity-rank/server/src/index.js')],
    bundle: true,
    platform: 'neutral',
    metafile: true,
    write: false,
  })
  assert.equal(Object.keys(metafile.inputs).length, MODULES.length)
})

it('package runs in Node', () => {
  const code = `import * as main from '@activity-rank/server'
    import { FileOutbox } from '@activity-rank/server/file-outbox'
    console.log(Object.keys(main).join(), typeof FileOutbox.open)`
  writeFileSync(join(project, 'main.js'), code)
  assert.equal(
    run(process.execPath, ['main.js'], project).trim(),
    'ApiError,Client,ClosedError,ConnectionError,MemoryOutbox,OutboxFullError,userToken function',
  )
})

/** A Worker without Node's modules that sends 1,000 visits and reads their score. */
it('package runs in Workers', async (t) => {
  const app = await startApp()
  t.after(() => app.stop())
  writeFileSync(
    join(project, 'worker.js'),
    `import { Client, userToken } from '@activity-rank/server'
    export default {
      async fetch(request, { URL, KEY }) {
        const rank = new Client({ url: URL, key: KEY })
        for (const visit of await request.json()) await rank.track(visit)
        const isSent = await rank.close()
        const token = await userToken({ secret: 'x'.repeat(32), user: '42' })
        return Response.json([isSent, (await rank.getStanding({ period: 'all', user: '42' })).score, token.split('.').length])
      },
    }`,
  )
  const worker = await startBundled({
    name: 'consumer',
    main: join(project, 'worker.js'),
    compatibility_date: '2026-01-01',
    vars: { URL: app.url, KEY },
  })
  t.after(() => worker.stop())
  const response = await fetch(worker.url, { method: 'POST', body: JSON.stringify(visits('42', 1000)) })
  assert.deepEqual(await response.json(), [true, 1000, 3])
})
