// The preview of rules: its form, its progress, and what the changed rules would change.

/** @import { Content } from './parts.js' */
/** @import { Context, NumberChange, Rule, RulesPreview, RulesPreviewJob, RulesPreviewResult } from './types.js' */

import { make } from '../page/dom.js'
import { ApiError } from './api.js'
import { bars } from './bars.js'
import { openForm } from './dialog.js'
import { attempt, badge, button, card, facts, member, note, problem, table, time, wide } from './parts.js'
import { bodyOf, changeOf, changesOf, fieldsOf } from './rules_form.js'

const SPANS = [7, 30, 90] // days
const DAY = 86_400_000 // milliseconds
const POLL = 10_000 // milliseconds
const KINDS = /** @type {const} */ ({ running: 'warn', done: 'good', cancelled: '', failed: 'bad' })

/**
 * Opens the form of a preview, and starts it once the moderator has confirmed its cost.
 * @param {Context} context
 * @param {Record<string, Rule>} rules
 */
export async function startPreview(context, rules) {
  const { api, texts, format, announce } = context
  const words = texts.rules.preview
  /** @type {RulesPreview | null} */
  const answer = await openForm(context, {
    title: words.title,
    content: [make('p', {}, words.hint)],
    fields: [
      {
        ...{ name: 'span', label: words.span, type: 'select', pointer: '/from' },
        options: SPANS.map((days) => [String(days), texts.numbers.days(days)]),
      },
      ...Object.entries(rules).flatMap(([action, rule]) => fieldsOf(context, action, rule)),
    ],
    submit: words.check,
    send: async ({ span, ...values }) => {
      const changes = changesOf(rules, values)
      if (!changes.length) throw new ApiError(0, { detail: texts.rules.no_changes })
      const from = new Date(Date.now() - Number(span) * DAY).toISOString()
      const body = { rules: bodyOf(changes), from }
      /** @type {RulesPreview} */
      const { cost } = await api.request('POST', '/v1/rules/preview', { body })
      const { entries = 0, commands = 0, minutes = 0 } = cost ?? {}
      return openForm(context, {
        title: words.confirm,
        content: [
          make('ul', { className: 'changes' }, ...changes.map((change) => make('li', {}, changeOf(context, change)))),
          make('p', {}, words.cost(format.number(entries), format.number(commands), format.number(minutes))),
        ],
        fields: [],
        submit: words.start,
        send: () => api.request('POST', '/v1/rules/preview', { body: { ...body, confirm: true } }),
      })
    },
  })
  if (!answer) return
  announce(words.is_started)
  context.reload()
}

/**
 * Creates the card of the last preview, which follows its progress; nothing without a preview.
 * @param {Context} context
 */
export async function previewCard(context) {
  const { api, texts, signal } = context
  const frame = make('div', {})
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  signal.addEventListener('abort', () => clearTimeout(timer))
  const load = async () => {
    /** @type {RulesPreview} */
    const { preview } = await api.get('/v1/rules/preview', signal)
    if (!preview) return ''
    if (preview.state === 'running') timer = setTimeout(refresh, POLL)
    const cancel = button(texts.cancel, async () => {
      cancel.disabled = true
      try {
        await api.request('DELETE', '/v1/rules/preview')
        clearTimeout(timer)
        await refresh()
      } catch (error) {
        cancel.after(problem(context, error))
      }
    })
    cancel.id = 'cancel-preview'
    return card(texts.rules.preview.title, ...contentOf(context, preview, cancel))
  }
  const refresh = async () => {
    try {
      frame.replaceChildren(await attempt(context, load))
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
  await refresh()
  return frame
}

/**
 * @param {Context} context
 * @param {RulesPreviewJob} preview
 * @param {HTMLButtonElement} cancel
 * @returns {Content[]}
 */
function contentOf(context, preview, cancel) {
  const { texts, format } = context
  const words = texts.rules.preview
  const { state, from, to, changes, read, entries, started_at, updated_at, error, result } = preview
  const changed = changes.map((change) => make('li', {}, changeOf(context, change)))
  /** @type {Content[]} */
  const parts = [
    make('p', {}, badge(words.states[state], KINDS[state]), ' ', error ? words.errors[error] : ''),
    changed.length ? make('ul', { className: 'changes' }, ...changed) : note(words.no_changes),
    facts([
      [words.span, time(context, from), ' – ', time(context, to)],
      [words.started, time(context, started_at)],
      [words.updated, time(context, updated_at)],
    ]),
  ]
  if (state === 'running') {
    const label = words.read(format.number(read), format.number(entries))
    const bar = make('progress', { max: Math.max(entries, 1), value: read, ariaLabel: words.progress })
    parts.push(make('div', { className: 'progress' }, bar, make('span', {}, label), cancel))
  }
  return result ? [...parts, ...resultOf(context, result)] : parts
}

/**
 * @param {Context} context
 * @param {RulesPreviewResult} result
 * @returns {Content[]}
 */
function resultOf(context, result) {
  const { texts, format } = context
  const words = texts.rules.preview
  const nameOf = (/** @type {string} */ action) => texts.actions[action] ?? action
  const number = (/** @type {number | null} */ value) => (value === null ? '–' : format.number(value))
  /** @param {NumberChange} change */
  const pair = ({ before, after }) => (before === after ? number(before) : `${number(before)} → ${number(after)}`)
  /** @param {NumberChange} change in percent */
  const share = ({ before, after }) => {
    const [old, next] = [before, after].map((value) => format.number((value ?? 0) / 100, PERCENT))
    return old === next ? old : `${old} → ${next}`
  }
  /** @type {Content[]} */
  const parts = [
    note(words.activities(format.number(result.activities), format.number(result.changed_activities))),
    make('h3', {}, words.actions),
    bars(
      words.picture,
      [words.before, words.after],
      result.actions.map(({ action, points }) => ({
        label: nameOf(action),
        values: [points.before ?? 0, points.after ?? 0],
        text: pair(points),
      })),
    ),
    wide(
      words.actions,
      table(
        words.actions,
        [texts.audit.kind, `${texts.points}>`, `${words.share}>`, `${words.received}>`, `${words.counted}>`],
        result.actions.map((row) => [
          nameOf(row.action),
          pair(row.points),
          share(row.share),
          pair(row.received),
          pair(row.counted),
        ]),
      ),
    ),
  ]
  for (const { board, members, changed, moves } of result.boards) {
    const title = words.boards[board]
    parts.push(make('h3', {}, title), note(words.moved(format.number(changed), format.number(members))))
    if (!moves.length) continue
    const rows = moves.map(({ id, rank, points }) => [member({ id }), pair(rank), pair(points)])
    parts.push(wide(title, table(title, [words.member, `${words.rank}>`, `${texts.points}>`], rows)))
  }
  if (result.limits.length) {
    const rows = result.limits.map(({ action, limit, members, activities, first }) => [
      `${nameOf(action)}: ${words.limits[limit]}`,
      pair(members),
      pair(activities),
      make('span', {}, ...first.slice(0, NAMED).flatMap((id, index) => [index ? ' ' : '', member({ id })])),
    ])
    const titles = [words.limit, `${words.members}>`, `${words.refused}>`, words.first]
    parts.push(make('h3', {}, words.limited), wide(words.limited, table(words.limited, titles, rows)))
  }
  const unknown = result.unknown.map(({ kind, action = '', activities, days, points }) => {
    const bound = points === null || points === undefined ? words.no_bound : words.bound(format.number(points))
    if (kind === 'no-rule') return words.no_rule(format.number(activities ?? 0))
    if (kind === 'member-cap') return words.member_cap(nameOf(action))
    return kind === 'limit' ? words.unknown_limit(nameOf(action)) : words.daily_cap(nameOf(action), days ?? 0, bound)
  })
  if (unknown.length) {
    const items = unknown.map((text) => make('li', {}, text))
    parts.push(make('h3', {}, words.unknown), make('ul', { className: 'changes' }, ...items))
  }
  return [...parts, note(words.without_points)]
}

const NAMED = 10 // members of a limit
const PERCENT = /** @type {const} */ ({ style: 'percent', maximumFractionDigits: 1 })
