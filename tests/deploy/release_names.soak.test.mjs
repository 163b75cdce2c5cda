// Names that only a release publishes, in documents.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'

import { NAMES, unmarkedNames } from '../../scripts/release-names.mjs'

const ROOT = new URL('../../', import.meta.url)
const MARK = 'from the first release on'
const usesOf = (text) => unmarkedNames(text).map(({ line, use }) => [line, use])

it('each name stands in the file that publishes it', () => {
  for (const { name, source } of NAMES) assert.ok(readFileSync(new URL(source, ROOT), 'utf8').includes(name), source)
})

/** @type {[text: string, uses: string[] | undefined][]} */
const USES = [
  ['npx activity-rank dev', ['npx activity-rank']],
  ['npm create --yes activity-rank', ['npm create --yes activity-rank']],
  ['npm install -g activity-rank@latest', ['npm install -g activity-rank']],
  ['npm install @activity-rank/server', ['@activity-rank/server']],
  ['npx @activity-rank/receiver github', ['npx @activity-rank/receiver']],
  ['import { Client } from "@activity-rank/server"', []],
  ['https://www.npmjs.com/package/activity-rank', ['npmjs.com/package/activity-rank']],
  ['pip install "activity-rank[crypto]"', ['pip install "activity-rank']],
  ['cargo binstall --git https://github.com/activity-rank/activity-rank activity-rank-cli', undefined],
  ['https://github.com/activity-rank/activity-rank/issues', ['github.com/activity-rank']],
  ['docker pull ghcr.io/someone/redis-rest', ['ghcr.io/']],
  ['sudo apt-get install ./activity-rank_0.1.0_amd64.deb', ['activity-rank_0.1.0_amd64.deb']],
  ['cargo install --path crates/cli', []],
  ['npx ./packages/create-activity-rank-0.1.0.tgz leaderboard', []],
  ['activity-rank doctor, cargo run -p activity-rank-cli', []],
]
for (const [text, uses] of USES) {
  it(`found: ${text}`, () => {
    const found = unmarkedNames(text).map(({ use }) => use)
    if (uses) assert.deepEqual(found, uses)
    else assert.ok(found.length)
    assert.deepEqual(usesOf(`${text} (${MARK})`), [])
  })
}

it('mark of a section holds for its subsections', () => {
  const use = '```sh\nnpx activity-rank dev\n```'
  assert.deepEqual(usesOf(`# A\n\n${use}\n`), [[4, 'npx activity-rank']])
  assert.deepEqual(usesOf(`# A, ${MARK}\n\n## B\n\n${use}\n`), [])
  assert.deepEqual(usesOf(`# A\n\nThese are there\n${MARK}.\n\n## B\n\n${use}\n`), [])
  assert.deepEqual(usesOf(`# A, ${MARK}\n\n# B\n\n${use}\n`), [[6, 'npx activity-rank']])
  assert.deepEqual(usesOf(`# A\n\nText.\n\nMore, ${MARK}.\n\n## B\n\n${use}\n`), [[10, 'npx activity-rank']])
})

it('mark of a paragraph holds for the code below it', () => {
  assert.deepEqual(usesOf(`# A\n\nText.\n\nRun, ${MARK}:\n\n\`\`\`sh\nnpx activity-rank dev\n\`\`\``), [])
})

it('mark of a row or line holds for it alone', () => {
  const row = '| `npx activity-rank dev` |'
  assert.deepEqual(usesOf(`| a |\n|---|\n| \`npx activity-rank\` ${MARK} |\n${row}`), [[4, 'npx activity-rank']])
  const lines = `npx activity-rank dev # ${MARK}\nnpx activity-rank top`
  assert.deepEqual(usesOf(`\`\`\`sh\n${lines}\n\`\`\``), [[3, 'npx activity-rank']])
})
