// docs/alternatives.md: that its comparison shows what it says, and that its SQL counts once.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'

import { FAULTS, run } from '../../scripts/compare.mjs'
import { blocksOf, textOf } from './blocks.mjs'

const COUNT = 60

describe('activities count', { concurrency: 1 }, () => {
  it('once with activity-rank, whatever fails', async () => {
    const { faults, commands } = await run('ours', COUNT)
    assert.deepEqual(Object.keys(faults).toSorted(), Object.keys(FAULTS).toSorted())
    for (const [fault, found] of Object.entries(faults)) assert.deepEqual(found, { doubles: 0, losses: 0 }, fault)
    assert.ok(commands > 19 && commands < 35, `${commands} commands`)
  })

  /** Without doubles the faults would not reach the Worker. */
  it('several times with plain increments', async () => {
    const { faults } = await run('zincrby', COUNT)
    assert.deepEqual(faults.none, { doubles: 0, losses: 0 })
    for (const fault of ['client', 'store', 'doubled']) assert.ok(faults[fault].doubles >= COUNT / 10, fault)
  })
})

it('README has the measured table of the page', () => {
  const tables = ['README.md', 'docs/alternatives.md'].map(
    (path) => textOf(path).split('<!-- scripts/compare.mjs -->')[1]?.split('<!-- end -->')[0],
  )
  assert.match(tables[0], /\| activity-rank \|/)
  assert.equal(tables[0], tables[1])
})

it('SQL of the page counts once', () => {
  const [{ code }] = blocksOf('docs/alternatives.md').filter(({ language }) => language === 'sql')
  const database = new DatabaseSync(':memory:')
  const select = code.indexOf('SELECT member')
  database.exec(code.slice(0, select))
  const rows = database.prepare(code.slice(select)).all()
  assert.deepEqual(
    rows.map(({ member, score, rank }) => [member, score, rank]),
    [
      ['42', 2, 1],
      ['7', 2, 2],
    ],
  )
})
