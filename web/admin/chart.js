// Charts of days, drawn by uPlot in the colours of the scheme, each with the same numbers as a table.

/** @import { Content } from './parts.js' */
/** @import { Context } from './types.js' */
/** @typedef {{ label: string, values: (number | null)[] }} Series one value for each day */

import './tag.js'

import uPlot from '/vendor/uplot/uPlot.esm.js'
import { make } from '../page/dom.js'
import { table, wide } from './parts.js'

const HEIGHT = 200
const SECONDS = 86_400 // of a day of UTC
const schemes = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((query) => matchMedia(query))

/**
 * Creates a chart. Bars of several series are stacked. The last day is today, which is not over: it is lighter and dashed.
 * @param {Context} context
 * @param {object} options
 * @param {string} options.title
 * @param {'line' | 'bars'} options.kind
 * @param {string[]} options.dates oldest first
 * @param {Series[]} options.series
 */
export function chart({ texts, format, signal }, { title, kind, dates, series }) {
  const frame = make('div', { className: 'chart', role: 'img', ariaLabel: texts.numbers.chart(title) })
  const reading = make('p', { className: 'reading' })
  const legend = series.map(({ label }, index) => make('li', { className: `series-${index + 1}` }, label))
  const titles = [texts.numbers.date, ...series.map(({ label }) => `${label}>`)]
  /** @param {number} day */
  const nameOf = (day) => {
    const name = format.day(dates[day], 'full')
    return day === dates.length - 1 ? texts.numbers.so_far(name) : name
  }
  const rows = dates.map((_, day) => [
    nameOf(day),
    ...series.map(({ values }) => (values[day] === null ? '–' : format.number(values[day] ?? 0))),
  ])
  const numbers = wide(title, table(title, titles, rows.reverse()))
  const details = make('details', {}, make('summary', {}, texts.numbers.table(title)), numbers)

  const values = kind === 'bars' ? stacked(series) : series.map(({ values }, index) => ({ index, values }))
  const layers = values.flatMap((layer) => split(layer, kind))
  /** @param {number | null} day */
  const read = (day) => {
    const values = series.map(({ label, values }) => ({ label, value: day === null ? null : (values[day] ?? null) }))
    const found = values.filter(({ value }) => value)
    const list = found.map(({ label, value }) => `${series.length > 1 ? `${label} ` : ''}${format.number(value ?? 0)}`)
    reading.textContent = day === null ? '' : `${nameOf(day)}: ${list.join(' · ') || format.number(0)}`
  }
  /** @param {number} width */
  const draw = (width) =>
    new uPlot(optionsOf(width), [dates.map(secondsOf), ...layers.map(({ values }) => values)], frame)
  /** @param {number} width */
  const optionsOf = (width) => ({
    width,
    height: HEIGHT,
    tzDate: (/** @type {number} */ seconds) =>
      new Date((seconds + new Date(seconds * 1000).getTimezoneOffset() * 60) * 1000),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === 'line' } },
    scales: {
      x: {
        range: (/** @type {unknown} */ _, /** @type {number} */ min, /** @type {number} */ max) => [
          min - SECONDS / 2,
          max + SECONDS / 2,
        ],
      },
      y: {
        range: (/** @type {unknown} */ _, /** @type {number} */ min, /** @type {number} */ max) => [
          Math.min(0, min),
          Math.max(max * 1.1, 4),
        ],
      },
    },
    axes: [
      {
        stroke: () => color('muted'),
        grid: { show: false },
        ticks: { show: false },
        size: 28,
        values: (/** @type {unknown} */ _, /** @type {number[]} */ marks) =>
          marks.map((mark) => format.day(new Date(mark * 1000).toISOString().slice(0, 10))),
        incrs: [1, 2, 5, 7, 14, 28].map((days) => days * SECONDS),
        space: 64,
        font: FONT,
      },
      {
        stroke: () => color('muted'),
        grid: { stroke: () => color('line'), width: 1 },
        ticks: { show: false },
        size: 44,
        values: (/** @type {unknown} */ _, /** @type {number[]} */ marks) => marks.map((mark) => format.compact(mark)),
        incrs: INCREMENTS,
        font: FONT,
      },
    ],
    series: [{}, ...layers.map((layer) => styleOf(kind, layer))],
    hooks: { setCursor: [(/** @type {uPlot} */ { cursor }) => read(cursor.idx)] },
  })

  /** @type {uPlot | undefined} */
  let plot
  const observer = new ResizeObserver(([{ contentRect }]) => {
    const width = Math.floor(contentRect.width)
    if (!width) return
    if (plot) plot.setSize({ width, height: HEIGHT })
    else plot = draw(width)
  })
  observer.observe(frame)
  const recolor = () => plot?.redraw(false)
  for (const scheme of schemes) scheme.addEventListener('change', recolor, { signal })
  const theme = new MutationObserver(recolor)
  theme.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  signal.addEventListener('abort', () => {
    observer.disconnect()
    theme.disconnect()
    plot?.destroy()
  })
  /** @type {Content[]} */
  const parts = [make('div', { className: 'title' }, make('h2', {}, title), reading), frame]
  if (series.length > 1) parts.push(make('ul', { className: 'legend' }, ...legend))
  return make('section', { className: 'card' }, ...parts, details)
}

const FONT = '12px system-ui, sans-serif'
// Counts are whole.
const INCREMENTS = [1, 2, 5]
  .flatMap((step) => [0, 1, 2, 3, 4, 5, 6].map((zeros) => step * 10 ** zeros))
  .sort((a, b) => a - b)

/** @param {string} date */
const secondsOf = (date) => Date.parse(`${date}T00:00:00Z`) / 1000

/**
 * Returns the layers of stacked bars, the highest first, so that each covers the lower part of the one before. Negative
 * values are bars below zero.
 * @param {Series[]} series
 */
function stacked(series) {
  /** @type {number[]} */
  const sums = []
  return series
    .map(({ values }, index) => ({
      index,
      values: values.map((value, day) => {
        if (!value || value < 0) return value || null
        return (sums[day] = (sums[day] ?? 0) + value)
      }),
    }))
    .reverse()
}

/**
 * Splits a layer into the days that are over and today, to which a line leads from the day before.
 * @param {{ index: number, values: (number | null)[] }} layer
 * @param {'line' | 'bars'} kind
 */
function split({ index, values }, kind) {
  const today = values.length - 1
  const first = kind === 'line' ? today - 1 : today
  return [
    { index, isPartial: false, values: values.map((value, day) => (day < today ? value : null)) },
    { index, isPartial: true, values: values.map((value, day) => (day < first ? null : value)) },
  ]
}

/**
 * @param {'line' | 'bars'} kind
 * @param {{ index: number, isPartial: boolean }} layer
 */
function styleOf(kind, { index, isPartial }) {
  const own = () => color(`series-${index + 1}`)
  const points = { show: false }
  const dash = isPartial ? [4, 4] : undefined
  if (kind === 'bars')
    return {
      fill: isPartial ? () => `color-mix(in srgb, ${own()} 40%, ${color('card')})` : own,
      stroke: own,
      width: isPartial ? 1 : 0,
      dash,
      paths: uPlot.paths.bars({ size: [0.7, 40], radius: 0.15 }),
      points,
    }
  return { stroke: own, width: 2, dash, fill: isPartial ? undefined : () => color('area'), points }
}

/** @type {HTMLElement | undefined} */
let probe

/**
 * Returns a colour of the style sheet as the canvas needs it: resolved for the scheme.
 * @param {string} name
 */
function color(name) {
  if (!probe) {
    probe = make('span', { hidden: true })
    document.body.append(probe)
  }
  probe.className = `color-${name}`
  return getComputedStyle(probe).color
}
