// The numbers of the site: active and new members and points by day.

/** @import { Context, Day, Stats } from './types.js' */
/** @import { Series } from './chart.js' */
/** @import { Content } from './parts.js' */

import { make } from '../page/dom.js'
import { chart } from './chart.js'
import { heading, note } from './parts.js'
import { addDays, dayOf } from './zone.js'

const RANGES = [7, 30, 90] // days
const COLORS = 6

/**
 * @param {Context} context
 * @param {string} argument days of the range
 * @returns {Promise<HTMLElement>}
 */
export async function numbersView(context, argument) {
  const { texts, format } = context
  const range = RANGES.find((days) => String(days) === argument) ?? 30
  const { stats, whole, earlier } = await comparison(context, range)
  const days = stats.days.slice(0, range)
  const ordered = [...days].reverse()
  const dates = ordered.map(({ date }) => date)
  const links = RANGES.map((days) => {
    const link = make('a', { href: `#numbers/${days}`, id: `range-${days}` }, texts.numbers.days(days))
    if (days === range) link.setAttribute('aria-current', 'true')
    return link
  })
  const ranges = make('nav', { className: 'segments', ariaLabel: texts.numbers.range }, ...links)
  /** @type {Content[]} */
  const parts = [
    heading(texts.sections.numbers, ranges),
    tiles(context, whole, earlier),
    note(texts.numbers.whole_days(format.day(whole[range - 1].date), format.day(whole[0].date))),
  ]
  const hasJournal = days.some(({ activities }) => activities !== undefined)
  if (days.some(({ active }) => active !== undefined)) {
    const values = ordered.map(({ active = null }) => active)
    parts.push(
      chart(context, {
        title: texts.numbers.active,
        kind: 'line',
        dates,
        series: [{ label: texts.numbers.active, values }],
      }),
    )
  }
  if (hasJournal) {
    const values = ordered.map((day) => day.new ?? null)
    parts.push(
      chart(context, { title: texts.numbers.points, kind: 'bars', dates, series: pointsByAction(context, ordered) }),
      chart(context, { title: texts.numbers.new, kind: 'bars', dates, series: [{ label: texts.numbers.new, values }] }),
    )
    if (stats.as_of) parts.push(note(texts.numbers.as_of(format.time(stats.as_of))))
  } else {
    parts.push(note(texts.numbers.no_journal))
  }
  return make('div', {}, ...parts)
}

/**
 * Returns the numbers of today, which is not over, of the whole days before it and of as many before them.
 * @param {Context} context
 * @param {number} range whole days
 */
export async function comparison({ api, signal }, range) {
  const { configured } = await api.health(signal)
  const to = dayOf(Date.now(), configured?.timezone ?? 'UTC')
  /** @type {Stats} */
  const stats = await api.get(`/v1/stats?from=${addDays(to, -2 * range)}&to=${to}`, signal)
  return { stats, whole: stats.days.slice(1, range + 1), earlier: stats.days.slice(range + 1) }
}

/**
 * Returns the points of each action, most first. The last series has all that are left.
 * @param {Context} context
 * @param {Day[]} days
 * @returns {Series[]}
 */
function pointsByAction({ texts }, days) {
  /** @type {Map<string, number>} */
  const totals = new Map()
  for (const { actions = {} } of days) {
    for (const [action, { points }] of Object.entries(actions)) totals.set(action, (totals.get(action) ?? 0) + points)
  }
  const actions = [...totals].sort(([, a], [, b]) => b - a).map(([action]) => action)
  const shown = actions.length > COLORS ? actions.slice(0, COLORS - 1) : actions
  const rest = actions.slice(shown.length)
  const series = shown.map((action) => ({
    label: texts.actions[action] ?? action,
    values: days.map(({ actions = {} }) => actions[action]?.points ?? 0),
  }))
  if (rest.length) {
    const sum = (/** @type {Day} */ { actions = {} }) => total(rest.map((action) => actions[action]?.points ?? 0))
    series.push({ label: texts.numbers.others, values: days.map(sum) })
  }
  return series.length ? series : [{ label: texts.points, values: days.map(() => 0) }]
}

/** @param {number[]} values */
const total = (values) => values.reduce((sum, value) => sum + value, 0)

/**
 * Creates the sums of days, compared with earlier days if there are some.
 * @param {Context} context
 * @param {Day[]} days
 * @param {Day[] | null} earlier
 */
export function tiles({ texts, format }, days, earlier) {
  /** @type {[string, (day: Day) => number | undefined, 'sum' | 'mean'][]} */
  const kinds = [
    [earlier ? texts.numbers.active_mean : texts.numbers.active, ({ active }) => active, 'mean'],
    [texts.numbers.activities, ({ activities }) => activities, 'sum'],
    [texts.points, ({ points }) => points, 'sum'],
    [texts.numbers.new, (day) => day.new, 'sum'],
  ]
  const items = kinds
    .filter(([, value]) => days.some((day) => value(day) !== undefined))
    .map(([label, value, kind]) => {
      const [now, before] = [days, earlier ?? []].map((list) => {
        const sum = total(list.map((day) => value(day) ?? 0))
        return kind === 'mean' && sum ? Math.round((10 * sum) / list.length) / 10 : sum
      })
      const percent = Math.round((100 * (now - before)) / before)
      const change = before ? format.percent(percent / 100) : ''
      const kindOfChange = percent > 0 ? 'up' : percent < 0 ? 'down' : ''
      const details = change
        ? [make('b', { className: kindOfChange }, change), ` ${texts.numbers.before}`]
        : [texts.numbers.no_before]
      return make(
        'div',
        {},
        make('dt', {}, label),
        make(
          'dd',
          {},
          make('b', {}, format.number(now)),
          earlier ? make('span', { className: 'muted' }, ...details) : '',
        ),
      )
    })
  return make('dl', { className: 'tiles' }, ...items)
}
