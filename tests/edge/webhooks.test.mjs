// Texts for channels of Discord and Slack: src/platform/webhooks.js.

import assert from 'node:assert/strict'
import { it } from 'node:test'

import { format } from '../../src/platform/webhooks.js'

const DISCORD = 'https://discord.com/api/webhooks/1/secret'
const SLACK = 'https://hooks.slack.com/services/T/B/secret'

/** A final event with so many entries, whose names and prizes have characters that both escape. */
function finalEvent(count) {
  const name = '*<&>@everyone_`~|'.repeat(4)
  const entries = Array.from({ length: count }, (_, index) => ({
    rank: index + 1,
    score: 9,
    user: { id: `u${index}`, name },
  }))
  const event = { title: 'A [title](https://example.com)', prizes: [{ ranks: '1-60', title: '**Prize**' }] }
  return JSON.stringify({ type: 'event.final', data: { event, entries } })
}

it('long messages are cut at a row', () => {
  for (const { url, limit, field } of [
    { url: DISCORD, limit: 2000, field: 'content' },
    { url: SLACK, limit: 4000, field: 'text' },
  ]) {
    const text = JSON.parse(format(url, finalEvent(60)))[field]
    assert.ok(text.length <= limit && text.length > limit / 2, `${text.length}`)
    const lines = text.split('\n')
    const more = /^… and (\d+) more\.$/.exec(lines.at(-1))
    const rows = lines.slice(1, -1)
    assert.equal(rows.length + Number(more?.[1]), 60)
    assert.equal(new Set(rows.map((row) => row.replace(/^\d+/, ''))).size, 1)
  }
})

it('one long line is cut too', () => {
  const body = JSON.stringify({ type: 'level.reached', data: { user: { id: 'a' }, level: { name: '*'.repeat(3000) } } })
  assert.equal(JSON.parse(format(DISCORD, body)).content.length, 2000)
})

it('short messages are complete', () => {
  const text = JSON.parse(format(SLACK, finalEvent(2))).text
  assert.equal(text.split('\n').length, 3)
})

it('texts of users have no formatting', () => {
  const discord = JSON.parse(format(DISCORD, finalEvent(1)))
  assert.ok(!/(?<!\\)[*<>@_`~|[\]()]/.test(discord.content.split('\n').slice(1).join('')), discord.content)
  assert.deepEqual(discord.allowed_mentions, { parse: [] })
  const slack = JSON.parse(format(SLACK, finalEvent(1)))
  assert.equal(slack.mrkdwn, false)
  assert.ok(!/[<>]|&(?!amp;|lt;|gt;)/.test(slack.text), slack.text)
})

it('decided case names its moderator', () => {
  const text = (state, actor) => {
    const data = { case: { id: 'case_1', kind: 'ring', before: 'open', state }, actor, members: ['42'], reason: 'r' }
    return JSON.parse(format(SLACK, JSON.stringify({ type: 'case.decided', data }))).text
  }
  assert.equal(text('excluded', { key: 'anna' }), 'Fair play: case case_1 (ring) was excluded by anna.')
  assert.equal(text('open', null), 'Fair play: case case_1 (ring) was opened again.')
})
