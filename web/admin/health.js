// Health of the deployment: store, circuit breaker, outbox, queue, warnings, bindings and commands.

/** @import { Content } from './parts.js' */
/** @import { Context, Health, Stats, Status } from './types.js' */

import { make } from '../page/dom.js'
import { estimate } from './commands.js'
import { attempt, badge, button, card, code, facts, heading, note, table } from './parts.js'
import { dayOf, hoursOf } from './zone.js'

const BINDINGS = /** @type {const} */ (['journal', 'archive', 'snapshots', 'queue', 'live', 'analytics'])
export const SLOW = 300 // ms of the store's latency

/**
 * @param {Context} context
 * @returns {Promise<HTMLElement>}
 */
export async function healthView(context) {
  const { api, texts, signal } = context
  const loading = api.health(signal)
  const [health, status] = await Promise.all([
    loading,
    attempt(context, async () => {
      /** @type {Status} */
      const status = await api.get('/v1/status', signal)
      return statusTiles(context, status, (await loading).configured?.bound ?? [])
    }),
  ])
  const commands = await attempt(context, () => commandsCard(context, health))
  const refresh = button(texts.refresh, () => context.reload())
  refresh.id = 'refresh'
  return make(
    'div',
    {},
    heading(texts.sections.health, refresh),
    summary(context, health),
    status,
    card(texts.health.warnings, warningList(context, health)),
    commands,
    ...(health.configured ? [card(texts.health.bindings, bindings(context, health.configured.bound))] : []),
    ...(health.configured ? [card(texts.health.configuration, configuration(context, health.configured))] : []),
  )
}

/**
 * @param {Context} context
 * @param {Health} health
 */
function summary({ texts }, { status, problem }) {
  const kind = status === 'ok' ? 'good' : 'bad'
  const detail = problem ? ` ${problem.detail ?? problem.title ?? ''}` : ''
  return make('p', { className: `state ${kind}` }, badge(texts.health.states[status], kind), detail)
}

/**
 * @param {Context} context
 * @param {Status} status
 * @param {string[]} bound
 */
function statusTiles({ texts, format }, { version, store, outbox, queue, commands }, bound) {
  const words = texts.health
  /** @param {string | null} instant */
  const age = (instant, now = Date.now()) =>
    instant ? format.duration(Math.max(0, now - Date.parse(instant)) / 1000) : words.nothing
  /** @type {[string, Content, Content][]} */
  const tiles = [
    [
      words.latency,
      store.latency_ms === null ? '–' : format.milliseconds(store.latency_ms),
      store.latency_ms !== null && store.latency_ms > SLOW ? badge(words.slow, 'warn') : '',
    ],
    [
      words.circuit,
      words.circuits[store.circuit],
      store.circuit === 'closed' ? badge(words.normal, 'good') : badge(words.failing, 'bad'),
    ],
    [
      words.outbox,
      outbox ? format.number(outbox.entries) : '–',
      outbox ? words.oldest(age(outbox.oldest)) : words.not_bound,
    ],
    [
      words.queue,
      queue ? words.waited(age(queue.oldest, Date.parse(queue.delivered))) : words.unused,
      queue ? words.emptied(age(queue.delivered)) : bound.includes('queue') ? words.no_outage : words.not_bound,
    ],
    [words.version, version, ''],
  ]
  if (commands) {
    const since = words.since_start(format.duration(commands.uptime_seconds))
    tiles.push([words.processed, format.number(commands.processed), since])
  }
  const items = tiles.map(([label, value, detail]) =>
    make(
      'div',
      {},
      make('dt', {}, label),
      make('dd', {}, make('b', {}, value), make('span', { className: 'muted' }, detail)),
    ),
  )
  return make('dl', { className: 'tiles' }, ...items)
}

/**
 * @param {Context} context
 * @param {Health} health
 */
function warningList({ texts }, { warnings }) {
  if (!warnings.length) return note(texts.health.no_warnings)
  return make('ul', { className: 'warnings' }, ...warnings.map((warning) => make('li', {}, warning)))
}

/**
 * @param {Context} context
 * @param {Health} health
 * @returns {Promise<Content>}
 */
async function commandsCard(context, { configured }) {
  const { api, texts, format, signal } = context
  if (!configured) return ''
  const now = Date.now()
  const date = dayOf(now, configured.timezone)
  /** @type {Stats} */
  const { days } = await api.get(`/v1/stats?from=${date}&to=${date}`, signal)
  const { actions, cron, total } = estimate(days[0], configured, hoursOf(now, configured.timezone))
  const rows = [...actions, { action: texts.health.cron, commands: cron }].map(({ action, commands }) => [
    texts.actions[action] ?? action,
    format.number(commands),
  ])
  rows.push([texts.health.total, format.number(total)])
  const title = make('h2', {}, texts.health.commands, ' ', badge(texts.health.estimate))
  const hint = days[0].actions ? texts.health.estimate_hint : texts.health.estimate_without_journal
  return make(
    'section',
    { className: 'card' },
    title,
    table(texts.health.commands, [texts.health.cause, `${texts.health.count}>`], rows),
    note(hint),
  )
}

/**
 * @param {Context} context
 * @param {string[]} bound
 */
function bindings({ texts }, bound) {
  return facts(
    BINDINGS.map((name) => {
      const isBound = bound.includes(name)
      return [
        texts.health.binding_names[name],
        badge(isBound ? texts.health.bound : texts.health.not_bound, isBound ? 'good' : ''),
      ]
    }),
  )
}

/**
 * @param {Context} context
 * @param {NonNullable<Health['configured']>} configured
 */
function configuration({ texts }, configured) {
  const settings = Object.entries(configured).filter(([name]) => name !== 'bound' && name !== 'rules')
  return facts(settings.map(([name, value]) => [name, code(textOf(value) || texts.health.nothing)]))
}

/**
 * @param {unknown} value
 * @returns {string}
 */
const textOf = (value) =>
  Array.isArray(value)
    ? value.map(textOf).join(', ')
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)
