// Levels of days, and where days are on a calendar.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { layoutOf } from '../../web/elements/calendar.js'
import { levelsOf } from '../../web/elements/levels.js'
import { randomSource } from './random.mjs'

const DAY = 864e5 // ms

/** Returns a number of dates up to one, in ascending order. */
const datesTo = (last, count) =>
  Array.from({ length: count }, (_, index) =>
    new Date(Date.parse(last) - (count - 1 - index) * DAY).toISOString().slice(0, 10),
  )

describe('levels', () => {
  for (const [name, points, levels] of /** @type {[string, number[], number[]][]} */ ([
    ['no days', [], []],
    ['inactive days', [0, 0], [0, 0]],
    ['one day', [0, 7, 0], [0, 4, 0]],
    ['two days', [1, 2], [1, 4]],
    ['three days', [2, 3, 5], [1, 2, 4]],
    ['equal days', [3, 0, 3, 3], [4, 0, 4, 4]],
    ['quartiles', [8, 7, 6, 5, 4, 3, 2, 1], [4, 4, 3, 3, 2, 2, 1, 1]],
    ['one exceptional day', [104, 1, 2, 3, 4, 5, 6, 7], [4, 1, 1, 2, 2, 3, 3, 4]],
    ['one exceptional day among equal days', [104, 1, 1, 1], [4, 1, 1, 1]],
    ['most days at a cap', [200, 200, 200, 1], [4, 4, 4, 1]],
    ['fractions', [0.5, 0.25, 0.01, 0.1], [4, 3, 1, 2]],
  ])) {
    it(`${name} have ${levels.join(', ') || 'none'}`, () => assert.deepEqual(levelsOf(points), levels))
  }

  it('follow the points, whatever they are', () => {
    const { seed, integer } = randomSource()
    for (let run = 0; run < 500; run++) {
      const most = 1 + integer(300)
      const points = Array.from({ length: 1 + integer(366) }, () => Math.max(0, integer(most) - integer(most)))
      const levels = levelsOf(points)
      const context = `SEED=${seed}: ${points}`
      const active = points.filter((value) => value > 0)
      const levelOf = new Map(points.map((value, index) => [value, levels[index]]))
      const values = [...levelOf.keys()].sort((a, b) => a - b)
      const ordered = values.map((value) => levelOf.get(value))
      assert.deepEqual(
        points.map((value) => levelOf.get(value)),
        levels,
        context,
      )
      assert.deepEqual(ordered, ordered.toSorted(), context)
      assert.equal(ordered.at(-1), active.length ? 4 : 0, context)
      if (values[0] === 0) assert.equal(ordered[0], 0, context)
      // Level n begins where n - 1 quarters of the active days have fewer points.
      for (const value of values.slice(0, -1).filter((value) => value > 0)) {
        const lower = active.filter((other) => other < value).length / active.length
        assert.ok(lower >= (levelOf.get(value) - 1) / 4 && lower < levelOf.get(value) / 4, context)
      }
    }
  })
})

describe('calendar', () => {
  const nameOf = (date) => ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'][new Date(date).getUTCDay()]

  it('year ends today and has 53 weeks on any weekday', () => {
    for (let day = 0; day < 800; day++) {
      const today = new Date(Date.UTC(2023, 11, 25) + day * DAY).toISOString().slice(0, 10)
      const { isYear, dates, offset, weeks, months } = layoutOf(datesTo(today, 366))
      assert.deepEqual([isYear, dates.at(-1), weeks], [true, today, 53])
      assert.ok(dates.length >= 365)
      // The first day is in the row of its weekday.
      assert.equal(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'][offset], nameOf(dates[0]))
      assert.equal(
        months.reduce((sum, { weeks }) => sum + weeks, 0),
        53,
      )
      const inner = months.slice(1, -1)
      assert.ok(inner.every(({ weeks }) => weeks === 4 || weeks === 5))
      assert.ok(months.length === 12 || months.length === 13, today)
    }
  })

  it('months begin in the week of their first day', () => {
    const { months } = layoutOf(datesTo('2026-11-24', 366))
    assert.deepEqual(
      months.map(({ date, weeks }) => [date.slice(0, 7), weeks]),
      [
        ['2025-11', 1],
        ['2025-12', 4],
        ['2026-01', 4],
        ['2026-02', 4],
        ['2026-03', 5],
        ['2026-04', 4],
        ['2026-05', 5],
        ['2026-06', 4],
        ['2026-07', 4],
        ['2026-08', 5],
        ['2026-09', 4],
        ['2026-10', 4],
        ['2026-11', 5],
      ],
    )
  })

  it('leap day is a day', () => {
    const { dates, months } = layoutOf(datesTo('2024-03-03', 366))
    assert.deepEqual(dates.slice(-5), ['2024-02-28', '2024-02-29', '2024-03-01', '2024-03-02', '2024-03-03'])
    // February 26 to March 3 is a week of March.
    assert.deepEqual(months.at(-1), { date: '2024-03-03', weeks: 1 })
  })

  it('365 days on a Monday begin 52 weeks before', () => {
    const { dates, offset } = layoutOf(datesTo('2026-11-30', 366))
    assert.deepEqual([dates.length, dates[0], offset], [365, '2025-12-01', 0])
  })

  it('calendar year has all its days and weeks', () => {
    for (const [last, count, offset, weeks, months] of /** @type {[string, number, number, number, number][]} */ ([
      ['2025-12-31', 365, 2, 53, 12],
      // It began on a Sunday and ended on a Monday.
      ['2012-12-31', 366, 6, 54, 12],
      ['2027-01-02', 2, 4, 53, 1],
    ])) {
      const dates = datesTo(last, count)
      const layout = layoutOf(dates, true)
      assert.deepEqual([layout.isYear, layout.dates, layout.offset, layout.weeks], [true, dates, offset, weeks])
      assert.equal(layout.months.length, months, last)
    }
  })

  it('31 days are a month', () => {
    const dates = datesTo('2026-11-24', 31)
    assert.deepEqual(layoutOf(dates), { isYear: false, dates, offset: 6, weeks: 6, months: [] })
    assert.deepEqual(layoutOf(['2026-11-24']), {
      isYear: false,
      dates: ['2026-11-24'],
      offset: 1,
      weeks: 1,
      months: [],
    })
  })
})
