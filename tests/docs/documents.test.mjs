// The commands of all documents: each is run as it is written, or is listed with what runs it.

import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'

import { transform } from 'esbuild'

import { Client } from '../../sdk/js/src/index.js'
import { freePort } from '../sdk/support.mjs'
import { blocksOf, documents, patternOf, ROOT, textOf } from './blocks.mjs'
import { startCloudflare } from './cloudflare.mjs'
import { checkout, startDevelopment } from './development.mjs'
import { ELSEWHERE, isRunElsewhere } from './elsewhere.mjs'
import { Runner } from './runner.mjs'

/** The service key, the secret and the token of `make dev`. */
const SECRETS = Object.fromEntries(
  [...textOf('dev.vars').matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
)

/**
 * Documents that another test runs.
 * @type {[documents: RegExp, test: string][]}
 */
const OWN_TESTS = [
  [/^docs\/tutorials\/(blog|forum|course|history)\.md$/, 'tests/docs/tutorials.test.mjs'],
  [/^docs\/troubleshooting\.md$/, 'tests/docs/troubleshooting.test.mjs'],
  [/^(npm|create)\//, 'tests/npm/create.test.mjs'],
  [
    /^recipes\/(README\.md$|(discord|discourse|generic|ghost|giscus|github|hono|receiver|slack|sync)\/)/,
    'tests/recipes/documents.test.mjs',
  ],
  [/^recipes\/(astro|hugo|next)\//, 'tests/ecosystem/pages.test.mjs'],
  [/^recipes\/wordpress\//, 'tests/ecosystem/wordpress.test.mjs'],
]

/**
 * The documents in the order of the run: the last ones replace data. `files` exist beforehand, `environment` is that of the
 * text, and `requests` are those of wrangler.
 * @type {[document: string, needs?: { files?: Record<string, string>, environment?: () => Record<string, string>, requests?: string[] }][]}
 */
const DOCUMENTS = [
  [
    'README.md',
    { requests: ['secrets', 'secrets', 'secrets'].map((name) => `PUT workers/scripts/activity-rank/${name}`) },
  ],
  ['CONTRIBUTING.md'],
  ['docs/tutorials/README.md'],
  ['sdk/js/README.md', { files: { 'package.json': '{"type":"module"}' } }],
  ['sdk/python/README.md'],
  ['crates/redis-rest/README.md'],
  ['docs/configuration.md', { requests: ['PUT workers/scripts/activity-rank/secrets'] }],
  ['docs/webhooks.md', { requests: ['PUT workers/scripts/activity-rank/secrets'] }],
  [
    'crates/cli/README.md',
    {
      files: {
        'log.csv': 'created,member_id,type,post\n2026-11-20T08:00:00Z,csv-reader,like,post-7\n',
        'new.toml': '[like]\npoints = 3\n',
      },
      environment: () => ({
        ACTIVITY_RANK_URL: app.url,
        ACTIVITY_RANK_KEY: SECRETS.SERVICE_KEYS,
        UPSTASH_REDIS_REST_URL: app.gateway,
        UPSTASH_REDIS_REST_TOKEN: SECRETS.UPSTASH_REDIS_REST_TOKEN,
      }),
    },
  ],
  [
    'docs/sync.md',
    {
      files: { 'forum.csv': 'user,action,target,at,on\n7,comment,comment:1,2026-11-20T08:00:00Z,post:1\n' },
      environment: () => ({ ACTIVITY_RANK_URL: app.url, ACTIVITY_RANK_KEY: SECRETS.SERVICE_KEYS }),
    },
  ],
  ['docs/api.md', { environment: () => ({ DEPLOYMENT: app.url, KEY: SECRETS.SERVICE_KEYS }) }],
  [
    'docs/operations.md',
    {
      requests: [...Array(7).fill('PUT workers/scripts/activity-rank/secrets'), 'POST queues', 'POST queues'],
    },
  ],
]

let app, cloudflare

/** Texts of documents with their replacements. */
const replacements = (ports) => [
  ['http://127.0.0.1:8787', app.url],
  ['http://127.0.0.1:8079', app.gateway],
  ['https://activity-rank.example.com', app.url],
  ['https://www.example.com', 'http://localhost:8080'],
  ['UPSTASH_REDIS_REST_URL=https://…', `UPSTASH_REDIS_REST_URL=${app.gateway}`],
  ['UPSTASH_REDIS_REST_TOKEN=…', `UPSTASH_REDIS_REST_TOKEN=${SECRETS.UPSTASH_REDIS_REST_TOKEN}`],
  ['ACTIVITY_RANK_URL=https://…', `ACTIVITY_RANK_URL=${app.url}`],
  ['ACTIVITY_RANK_KEY=…', `ACTIVITY_RANK_KEY=${SECRETS.SERVICE_KEYS}`],
  ['--from 2026-11-20', `--from ${today}`],
  ['cargo run -p activity-rank-cli --', 'activity-rank'],
  // A test has no terminal to confirm in.
  [' --apply\n', ' --apply --yes\n'],
  ['~/activity-rank', ROOT],
  ...ports,
]

describe('commands run as they are written:', { concurrency: 1 }, () => {
  before(async () => {
    app = await startDevelopment()
    cloudflare = await startCloudflare()
  })
  after(async () => {
    await cloudflare?.stop()
    await app?.stop()
  })

  for (const [document, { files = {}, environment = () => ({}), requests = [] } = {}] of DOCUMENTS) {
    it(document, async (t) => {
      /** @type {[string, string][]} */
      const ports = []
      // The gateway's own document starts one of its own.
      if (document === 'crates/redis-rest/README.md') {
        const [redis, gateway] = [await freePort(), await freePort()]
        ports.push(['redis-server', `redis-server --port ${redis}`])
        ports.push([
          'cargo run --release -p redis-rest',
          `REDIS_URL=redis://127.0.0.1:${redis} LISTEN=127.0.0.1:${gateway} redis-rest`,
        ])
        ports.push([app.gateway, `http://127.0.0.1:${gateway}`])
      }
      const folder = document === 'sdk/js/README.md' ? undefined : checkout()
      if (folder) t.after(() => rmSync(folder, { recursive: true }))
      const env = { ...cloudflare.env, ...environment() }
      const runner = new Runner(document, { replacements: replacements(ports), env, folder })
      t.after(() => runner.stop())
      for (const [name, text] of Object.entries(files)) runner.write(name, text)
      cloudflare.requests.splice(0)
      await runner.run()
      assert.deepEqual(cloudflare.requests, requests)
    })
  }
})

/** A date in a command may be too long ago. */
const today = new Date().toISOString().slice(0, 10)

const commandBlocks = () => documents().flatMap((path) => blocksOf(path).filter(({ language }) => language === 'sh'))

it('each document with commands is run', () => {
  const withCommands = [...new Set(commandBlocks().map(({ document }) => document))]
  const ran = new Set(DOCUMENTS.map(([path]) => path))
  const isRun = (path) => ran.has(path) || OWN_TESTS.some(([pattern]) => pattern.test(path))
  assert.deepEqual(
    withCommands.filter((path) => !isRun(path)),
    [],
  )
  for (const path of ran) assert.ok(withCommands.includes(path), `${path} has no commands`)
  for (const [pattern, test] of OWN_TESTS) {
    assert.ok(withCommands.some((path) => pattern.test(path)) && existsSync(join(ROOT, test)), `${pattern} ${test}`)
  }
})

/** The runner skips blocks of `bash` and `console`. */
it('commands are in blocks of sh', () => {
  const others = documents().flatMap((path) =>
    blocksOf(path).filter(({ language }) => ['', 'bash', 'shell', 'console', 'zsh'].includes(language)),
  )
  assert.deepEqual(
    others.map(({ document, line }) => `${document}:${line}`),
    [],
  )
})

/** The clients of the packages for servers are called `rank`. */
it('JavaScript of documents calls known methods', async () => {
  const examples = documents().flatMap((path) => blocksOf(path).filter(({ language }) => /^[jt]s$/.test(language)))
  assert.ok(examples.length > 10)
  const client = new Client({ url: 'http://127.0.0.1' })
  for (const { document, line, code } of examples) {
    await transform(code, { loader: 'ts', format: 'esm' }).catch((error) =>
      assert.fail(`${document}:${line}: ${error}`),
    )
    for (const [, name] of code.matchAll(/\brank\.(\w+)\(/g)) assert.ok(name in client, `${document}:${line}: ${name}`)
  }
})

it('each command listed as run elsewhere exists', () => {
  const lines = commandBlocks().flatMap(({ code }) => code.split('\n'))
  for (const [pattern, runner] of ELSEWHERE) {
    assert.ok(
      lines.some((line) => pattern.test(line.trim())),
      `${pattern} is in no document`,
    )
    assert.ok(existsSync(join(ROOT, runner)), runner)
  }
})

it('each target of make in a document exists', () => {
  const targets = new Set([...textOf('Makefile').matchAll(/^([a-z-]+):/gm)].map(([, name]) => name))
  const named = documents()
    .filter((path) => path !== 'CHANGELOG.md')
    .flatMap((path) => [...textOf(path).matchAll(/(?:`|^)make ([a-z-]+)/gm)].map(([, name]) => name))
  assert.ok(named.length > 20)
  assert.deepEqual(
    named.filter((name) => !targets.has(name)),
    [],
  )
})

it('each page of docs is in its index', () => {
  const index = textOf('docs/README.md')
  const pages = documents().filter(
    (path) => /^docs\/[^/]+\.md$|^docs\/tutorials\//.test(path) && !path.endsWith('README.md'),
  )
  assert.ok(pages.length > 10)
  assert.deepEqual(
    pages.filter((path) => !index.includes(`](${path.slice('docs/'.length)}`)),
    [],
  )
})

describe('blocks', () => {
  const text = [
    '# A document',
    'Save this as `page.html`:\n\n```html\n<p>\n```',
    'Start it, and leave it\nrunning:\n\n```sh\nnode server.mjs\n```',
    'Then:\n\n```sh\nmake dev\ncurl localhost\n```\n\n```text\n{"score":…}\n```',
    '```json\n{}\n```',
  ].join('\n\n')

  it('the text above a block says its role', () => {
    const roles = blocksOf('a.md', text).map(({ role, name, code }) => [role, name, code])
    assert.deepEqual(roles, [
      ['file', 'page.html', '<p>\n'],
      ['server', '', 'node server.mjs\n'],
      ['commands', '', 'make dev\ncurl localhost\n'],
      ['output', '', '{"score":…}\n'],
      ['example', '', '{}\n'],
    ])
  })

  it('output matches with its ellipses and dates', () => {
    const pattern = patternOf('{"day":"2026-11-20","week":"2026-W47",\n "rank":…,"at":"2026-11-20T08:00:00Z"}\n')
    assert.match('{"day":"2030-01-02","week":"2030-W01","rank":7,"at":"2030-01-02T00:00:00.001Z"}', pattern)
    assert.doesNotMatch('{"day":"2030-01-02","week":"2030-W01","rank":7,"at":"2030-01-02T00:00:00Z"} more', pattern)
    assert.doesNotMatch('{"day":"today","week":"2030-W01","rank":7,"at":"2030-01-02T00:00:00Z"}', pattern)
  })

  it('lines that are run elsewhere are listed one by one', () => {
    assert.deepEqual(['make dev', 'make deploy ENVIRONMENT=production', 'curl localhost'].map(isRunElsewhere), [
      true,
      true,
      false,
    ])
  })
})
