// The recipes for GitHub with the example payloads that the community has recorded: @octokit/webhooks-examples from npm.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'

import { run } from '../recipes/commands.mjs'
import { deliver, ONCE, startReceiver, thrice } from '../recipes/support.mjs'

const PACKAGE = '@octokit/webhooks-examples@7.6.1'
const SHA512 = 'De6U3XB6O3DtCa7bKgCMzTHdeopqqZ6SNivMYJnK65ierKL1AnNIA0tkRYCRS7lwGT792d+Ps1WbfHlso6MynQ=='

/** Payloads by the name of their event. */
let examples
before(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'payloads-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const { status, stdout, output } = await run(`npm pack --silent ${PACKAGE}`, {}, folder)
  assert.equal(status, 0, output)
  const archive = join(folder, stdout.trim())
  assert.equal(createHash('sha512').update(readFileSync(archive)).digest('base64'), SHA512)
  assert.equal((await run(`tar -xzf ${archive}`, {}, folder)).status, 0)
  const file = join(folder, 'package/api.github.com/index.json')
  const events = JSON.parse(readFileSync(file, 'utf8'))
  examples = events.flatMap(({ name, examples }) =>
    examples.map((payload) => [payload.action ? `${name}.${payload.action}` : name, payload]),
  )
})

let ids = 1_000_000
/** Returns a payload with new ids, in the same places. */
function withNewIds(payload) {
  const first = (ids += 1000)
  const known = new Map()
  return JSON.parse(JSON.stringify(payload), (name, value) => {
    if (name !== 'id' || typeof value !== 'number') return value
    if (!known.has(value)) known.set(value, first + known.size)
    return known.get(value)
  })
}

const RECIPES = {
  github: {
    'star.created': 2,
    'star.deleted': 1,
    'issues.opened': 4,
    'issues.deleted': 1,
    'issues.transferred': 1,
    'issue_comment.created': 5,
    'issue_comment.deleted': 2,
    'pull_request.closed': 2,
    'pull_request_review.submitted': 3,
  },
  giscus: {
    'discussion.created': 2,
    'discussion.answered': 1,
    'discussion.unanswered': 1,
    'discussion.transferred': 1,
    'discussion_comment.created': 2,
    'discussion_comment.deleted': 1,
  },
}

for (const [recipe, mapped] of Object.entries(RECIPES)) {
  it(`${recipe} counts recorded payloads once`, async (t) => {
    const rule = { points: 15, once: 'standing', undo: true, by: 'service' }
    const app = await startReceiver(recipe, { vars: { RULES: { solution: rule } } })
    t.after(() => app.stop())
    const found = {}
    const outcomes = new Set()
    for (const [event, payload] of examples) {
      if (!(event in mapped)) {
        assert.equal((await deliver(app, event, payload)).status, 204, event)
        continue
      }
      found[event] = (found[event] ?? 0) + 1
      const delivered = await thrice(app, event, withNewIds(payload))
      outcomes.add(delivered.join())
      const ignored = Array(3).fill(204)
      const expected = /\.(deleted|transferred|unanswered)$/.test(event)
        ? [Array(3).fill('nothing-to-undo')]
        : [ONCE, ignored]
      assert.ok(
        expected.some((outcomes) => outcomes.join() === delivered.join()),
        `${event}: ${delivered}`,
      )
    }
    assert.deepEqual(found, mapped)
    assert.ok(outcomes.has(ONCE.join()))
  })
}
