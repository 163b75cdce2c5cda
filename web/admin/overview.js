// The first view: what needs attention, today and the last days, and the first members and targets of the week.

/** @import { Content } from './parts.js' */
/** @import { Kind } from './search.js' */
/** @import { Cases, Context, Delivery, Health, Status, Sync } from './types.js' */
/** @typedef {{ text: string, href?: string, kind: 'warn' | 'bad' }} Item */
/**
 * @template Value
 * @typedef {{ value: Value | null, code?: number }} Answer
 */

import { make } from '../page/dom.js'
import { ApiError } from './api.js'
import { fairnessTiles, readCases } from './cases.js'
import { SLOW } from './health.js'
import { comparison, tiles } from './numbers.js'
import {
  attempt,
  badge,
  button,
  card,
  code,
  columns,
  feed,
  heading,
  note,
  table,
  targetUrl,
  time,
  wide,
} from './parts.js'
import { boardOf, itemList } from './search.js'

const LATE = 1800 // seconds. Cron runs each five minutes, and records one run in a quarter of an hour.
const SYNC_LATE = 2 * 86_400 // seconds
const SYNC_KINDS = /** @type {const} */ ({ running: '', done: 'good', failed: 'bad' })
const FAILED = 100 // the most deliveries that a request returns
const OPEN = 100 // the most cases that a request returns
const TOP = 5
const ANSWERS = ['helpful', 'unhelpful'] // actions of `<activity-like type="helpful">`
const PAGES = 20

/**
 * @param {Context} context
 * @returns {Promise<HTMLElement>}
 */
export async function overviewView(context) {
  const { api, texts, signal } = context
  const health = await api.health(signal)
  const cases = optional(readCases(context, `state=open&limit=${OPEN}`)).then(({ value }) => value)
  const syncs = readSyncs(context, health)
  const [{ items, notes }, days, fairness, members, targets, answers] = await Promise.all([
    attention(context, health, cases, syncs),
    attempt(context, async () => numberTiles(context, await comparison(context, 7))),
    cases.then((cases) => (cases ? fairnessPart(context, cases) : '')),
    topCard(context, 'members', texts.overview.members, health.configured?.periods),
    topCard(context, 'targets', texts.overview.targets, health.configured?.content_periods),
    health.configured?.actions.includes(ANSWERS[0]) ? answersCard(context) : null,
  ])
  const refresh = button(texts.refresh, () => context.reload())
  refresh.id = 'refresh'
  /** @type {Content} */
  const list = items.length ? feed(items.map((item) => lineOf(context, item))) : allGood(context)
  return make(
    'div',
    { className: 'overview' },
    heading(texts.sections.overview, refresh),
    card(texts.overview.attention, list, ...notes.map(note)),
    syncsCard(context, await syncs),
    days,
    fairness,
    columns(...[members, targets].filter((part) => part !== null)),
    answers ?? '',
  )
}

/** @param {Context} context */
const allGood = ({ texts }) =>
  make('p', { className: 'note' }, badge(texts.overview.all_good, 'good'), ' ', texts.overview.no_items)

/**
 * @param {Context} context
 * @param {Item} item
 */
const lineOf = ({ texts }, { text, href, kind }) => ({
  line: [badge(texts.overview.kinds[kind], kind), ' ', href ? make('a', { href }, text) : text],
})

/**
 * Returns what the moderator or the operator should look at, worst first, and notes about what else is known or unknown.
 * @param {Context} context
 * @param {Health} health
 * @param {Promise<Cases | null>} cases that are open
 * @param {Promise<Sync[]>} syncs
 * @returns {Promise<{ items: Item[], notes: string[] }>}
 */
async function attention(context, health, cases, syncs) {
  const { api, texts, format, signal } = context
  const words = texts.overview
  /** @type {[Answer<Status>, Answer<{ deliveries: Delivery[], next: string | null }>, Answer<string>]} */
  const [{ value: status }, { value: failed }, { value: metrics, code }] = await Promise.all([
    optional(api.get('/v1/status', signal)),
    optional(api.get(`/v1/webhooks/deliveries?state=failed&limit=${FAILED}`, signal)),
    optional(api.request('GET', '/metrics', { signal, isText: true })),
  ])
  const now = Date.now()
  /** @type {Item[]} */
  const items = []
  const add = (/** @type {Item['kind']} */ kind, /** @type {string | undefined} */ href, /** @type {string} */ text) =>
    items.push({ kind, href, text })

  if (health.status !== 'ok') {
    const detail = health.problem?.detail ?? health.problem?.title
    add('bad', '#health', [texts.health.states[health.status], detail].filter(Boolean).join(': '))
  }
  if (status && status.store.circuit !== 'closed') add('bad', '#health', texts.health.failing)
  if (metricOf(metrics, 'journal_up') === 0) add('bad', '#health', words.journal_down)
  if (metricOf(metrics, 'cron_run_success') === 0) add('bad', '#health', words.cron_failed)
  if (failed?.deliveries.length) {
    const count = `${format.number(failed.deliveries.length)}${failed.next ? '+' : ''}`
    add('bad', '#webhooks/failed', words.deliveries(count))
  }
  for (const { source, state } of await syncs) if (state === 'failed') add('bad', undefined, words.sync_failed(source))
  for (const warning of health.warnings) add('warn', '#health', warning)
  const latency = status?.store.latency_ms ?? 0
  if (latency > SLOW) add('warn', '#health', `${texts.health.latency}: ${format.milliseconds(latency)}`)
  const ageOf = (/** @type {string} */ name) => now / 1000 - (metricOf(metrics, name) ?? Number.NaN)
  const age = ageOf('cron_run_timestamp_seconds')
  if (age > LATE) add('warn', '#health', words.cron_late(format.duration(age)))
  const { entries = 0, oldest } = status?.outbox ?? {}
  const waited = (now - Date.parse(oldest ?? '')) / 1000
  if (waited > LATE) add('warn', '#health', words.outbox(format.number(entries), format.duration(waited)))
  const delay = ageOf('webhook_oldest_timestamp_seconds')
  const messages = format.number(metricOf(metrics, 'webhook_messages') ?? 0)
  if (delay > LATE) add('warn', '#webhooks', words.messages(messages, format.duration(delay)))
  const changes = metricOf(metrics, 'pending_changes')
  if (changes) add('warn', '#audit', words.changes(format.number(changes)))
  for (const { source, differences, completed_at: completed } of await syncs) {
    if (differences) add('warn', undefined, words.sync_differs(source, format.number(differences)))
    const age = (now - Date.parse(completed ?? '')) / 1000
    if (age > SYNC_LATE) add('warn', undefined, words.sync_late(source, format.duration(age)))
  }
  const open = await cases
  if (open?.cases.length) add('warn', '#cases', openCases(context, open))

  const notes = []
  if (code === 403) notes.push(words.needs_metrics)
  if (metrics && !(age > LATE)) notes.push(age >= 0 ? words.cron_ran(format.duration(age)) : words.cron_never)
  if (health.configured?.bound.includes('queue')) notes.push(words.dead_letters)
  return { items, notes }
}

/**
 * Returns the status in place of the value of a request that the service refused or could not answer: the key may lack a
 * scope, or the deployment a binding.
 * @template Value
 * @param {Promise<Value>} answer
 * @returns {Promise<Answer<Value>>}
 */
async function optional(answer) {
  try {
    return { value: await answer }
  } catch (error) {
    if (error instanceof ApiError) return { value: null, code: error.status }
    throw error
  }
}

/**
 * Returns the results of sync runs; none without a journal.
 * @param {Context} context
 * @param {Health} health
 * @returns {Promise<Sync[]>}
 */
async function readSyncs({ api, signal }, { configured }) {
  if (!configured?.bound.includes('journal')) return []
  /** @type {Answer<{ syncs: Sync[] }>} */
  const { value } = await optional(api.get('/v1/syncs', signal))
  return value?.syncs ?? []
}

/**
 * Creates a table of the sources of sync runs; nothing without one.
 * @param {Context} context
 * @param {Sync[]} syncs
 */
function syncsCard(context, syncs) {
  const { texts, format } = context
  const words = texts.overview.syncs
  const number = (/** @type {number | null} */ value) => (value === null ? '–' : format.number(value))
  const rows = syncs.map(({ source, state, detail, completed_at: completed, differences, mended }) => [
    code(source),
    make(
      'div',
      {},
      badge(texts.rules.preview.states[state], SYNC_KINDS[state]),
      detail ? make('div', { className: 'hint' }, detail) : '',
    ),
    completed ? time(context, completed) : '–',
    number(differences),
    number(mended),
  ])
  const titles = [words.source, texts.state, words.completed, `${words.differences}>`, `${words.mended}>`]
  return rows.length ? card(words.title, wide(words.title, table(words.title, titles, rows))) : ''
}

/**
 * Returns the value of a metric without labels.
 * @param {string | null} text in the OpenMetrics format
 * @param {string} name
 */
function metricOf(text, name) {
  const value = new RegExp(`^activity_rank_${name} (\\S+)$`, 'm').exec(text ?? '')?.[1]
  return value === undefined ? undefined : Number(value)
}

/**
 * Creates the numbers of today, and those of the last whole days beside those before.
 * @param {Context} context
 * @param {Awaited<ReturnType<typeof comparison>>} numbers
 */
function numberTiles(context, { stats, whole, earlier }) {
  const { texts, format } = context
  const range = `${format.day(whole.at(-1)?.date ?? '')} – ${format.day(whole[0].date)}`
  return make(
    'div',
    {},
    make('h2', {}, texts.overview.today),
    tiles(context, stats.days.slice(0, 1), null),
    make('h2', {}, texts.overview.week, ' ', make('a', { href: '#numbers/7' }, range)),
    tiles(context, whole, earlier),
  )
}

/**
 * Creates the numbers of fairness, and a link to the open cases.
 * @param {Context} context
 * @param {Cases} cases
 */
function fairnessPart(context, cases) {
  const { texts } = context
  const link = make('a', { href: '#cases' }, openCases(context, cases))
  const numbers = cases.search ? fairnessTiles(context, cases.search.fairness) : note(texts.cases.no_search)
  return make('div', {}, make('h2', {}, texts.overview.fairness, ' ', link), numbers)
}

/**
 * Creates a table of the pages whose question was answered most. Returns null where the deployment does not count the answers.
 * @param {Context} context
 */
async function answersCard(context) {
  const { api, texts, format, signal } = context
  /** @type {Answer<{ targets: { target: string, counts: Record<string, number> }[] }>} */
  const { value } = await optional(api.get(`/v1/content/counts?actions=${ANSWERS}`, signal))
  if (!value) return null
  const words = texts.overview.answers
  const all = value.targets.map(({ target, counts }) => ({ target, numbers: ANSWERS.map((action) => counts[action]) }))
  const sum = (/** @type {{ numbers: number[] }} */ { numbers: [yes, no] }) => yes + no
  const most = all.sort((a, b) => sum(b) - sum(a)).slice(0, PAGES)
  const rows = most.map(({ target, numbers }) => [
    make('a', { href: targetUrl(target) }, target),
    ...numbers.map((number) => format.number(number)),
  ])
  const titles = [words.page, `${words.yes}>`, `${words.no}>`]
  return card(words.title, rows.length ? wide(words.title, table(words.title, titles, rows)) : note(words.none))
}

/**
 * @param {Context} context
 * @param {Cases} cases
 */
const openCases = ({ texts, format }, { cases, next }) =>
  texts.overview.cases(`${format.number(cases.length)}${next ? '+' : ''}`)

/**
 * Creates the first rows of the board of the week, or of the shortest period. Returns null without boards.
 * @param {Context} context
 * @param {Kind} kind
 * @param {string} title
 * @param {string[]} [periods]
 */
async function topCard(context, kind, title, periods = []) {
  const { texts } = context
  const period = periods.includes('week') ? 'week' : periods[0]
  if (!period) return null
  const content = await attempt(context, async () => {
    const items = await boardOf(context, kind, period, TOP)
    return items.length ? itemList(context, kind, items) : note(texts.points_page.none)
  })
  return card(texts.answered(title, texts.periods[/** @type {'day'} */ (period)]), content)
}
