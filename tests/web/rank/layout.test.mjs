// <activity-rank> in each layout: what is where, sizes, overflow and accessibility.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { PNG } from 'pngjs'

import { depth } from '../../sdk/depth.mjs'
import { eventually, layoutShift, SCHEMES, scrollWidth, violations } from '../support.mjs'
import { answer, app, attribute, boardOf, box, element, members, rowCount, targets, text, useApp } from './support.mjs'

useApp()

/** Widths of the viewport with the layout that follows from them; in `make test` each layout once. */
const LAYOUTS = depth(
  /** @type {const} */ ([
    [240, 'compact'],
    [390, 'list'],
    [768, 'full'],
    [1280, 'full'],
  ]),
  3,
)
// Before the element is defined, the page has to reserve its space.
const STYLE = '<style>body { margin: 0 } h1, :not(:defined) ~ #below { display: none }</style>'
const WINNERS = { boards: [boardOf(members(3), { closed: true })] }
const STANDING = {
  ...boardOf([], { total: 128 }),
  user: { id: 'you', name: 'Chien-Shiung Wu' },
  rank: 23,
  score: 1041,
  next: { rank: 22, score: 1043, points: 3 },
}

/**
 * Opens an element that shows a week of ten members.
 * @param {Record<string, any>} options other entries, other content of the page, and options of the page
 */
const open = (t, width, attributes, options = {}) => {
  const { entries = members(10), gate = undefined, content = '', ...others } = options
  const board = boardOf(entries, { total: 128 })
  const before = (page) => answer(page, { board, standing: STANDING, winners: WINNERS, gate })
  const body = `${STYLE}${content || element(`period="week" ${attributes}`)}<p id="below">Below</p>`
  return app.open(t, body, { before, viewport: { width, height: 1000 }, reducedMotion: 'reduce', ...others })
}

const row = (number) => `tbody tr:nth-child(${number})`

/** Returns the layout that a page's element has. */
async function layoutOf(page) {
  if (await page.locator('[part=menu]').isVisible()) return 'compact'
  const [first, second] = await Promise.all([1, 2].map((number) => box(page, row(number))))
  if (first.x === second.x) return 'list'
  return (await rowCount(page)) > 3 ? 'full' : 'podium'
}

describe('layouts', () => {
  it('attribute layout overrides the width', async (t) => {
    const page = await open(t, 600, '', { entries: members(3) })
    await eventually(() => rowCount(page), 3)
    const setLayout = (layout) =>
      page.evaluate((layout) => (document.querySelector('activity-rank').layout = layout), layout)
    for (const [layout, expected] of [
      ['list', 'list'],
      ['compact', 'compact'],
      ['podium', 'podium'],
      ['full', 'podium'],
      ['other', 'podium'],
    ]) {
      await setLayout(layout)
      await eventually(() => layoutOf(page), expected)
    }
  })

  it('podium has the first in the middle and higher', async (t) => {
    const page = await open(t, 768, '')
    await eventually(() => rowCount(page), 10)
    const [first, second, third, fourth] = await Promise.all([1, 2, 3, 4].map((number) => box(page, row(number))))
    assert.ok(second.x < first.x && first.x < third.x)
    assert.ok(first.y < second.y && second.y <= third.y && third.y < fourth.y)
    const sizes = await Promise.all([1, 2, 4].map(async (n) => (await box(page, `${row(n)} [part=avatar]`)).width))
    assert.ok(sizes[0] > sizes[1] && sizes[1] > sizes[2], `${sizes}`)
    assert.equal(await page.locator(`${row(1)} [part=unit]`).innerText(), 'points')
  })

  it('podium begins below the heading at all widths', async (t) => {
    for (const width of [240, 320, 390, 600]) {
      const page = await open(t, width, 'layout="podium"', { entries: members(3) })
      await eventually(() => rowCount(page), 3)
      const [rows, first] = await Promise.all(['[part=rows]', row(1)].map((selector) => box(page, selector)))
      assert.ok(first.y - rows.y < 24, `${width}: ${first.y - rows.y}`)
    }
  })

  it('layout podium requests three rows and no winners', async (t) => {
    let urls = []
    const before = async (page) => (urls = await answer(page, { board: boardOf(members(3)), winners: WINNERS }))
    const page = await open(t, 390, 'layout="podium" limit="10" refresh="0"', { before })
    await eventually(() => rowCount(page), 3)
    assert.deepEqual(
      urls.map((url) => new URL(url).search),
      [`?limit=3&group=${app.group}&movement=true`],
    )
  })

  it('compact layout has a menu of periods', async (t) => {
    const page = await open(t, 240, 'of="content"')
    await eventually(() => rowCount(page), 10)
    const menu = page.getByRole('combobox', { name: 'Period' })
    assert.equal(await menu.inputValue(), 'week')
    assert.deepEqual(await menu.locator('option').allTextContents(), [
      'Hot',
      'Day',
      'Week',
      'Month',
      'Year',
      'All time',
    ])
    assert.equal(await page.getByRole('tab').count(), 0)
    await menu.focus()
    await page.keyboard.press('ArrowDown')
    await eventually(() => attribute(page, 'period'), 'month')
    assert.equal(await text(page, 'title'), 'Nov 23 – 29')
  })

  it('table keeps its roles and its order in all layouts', async (t) => {
    for (const [width] of LAYOUTS) {
      const page = await open(t, width, '')
      await eventually(() => rowCount(page), 10)
      const headings = await page.getByRole('columnheader').allInnerTexts()
      assert.deepEqual(headings, ['Rank', 'Member', 'Points'])
      assert.equal(await page.getByRole('row').count(), 11)
      const snapshot = await page.locator(row(1)).ariaSnapshot()
      assert.match(snapshot, /^- row "1 Ada Lovelace Expert Up 2 since the last period 100":/)
    }
  })
})

describe('sizes', () => {
  for (const [width, layout, attributes] of /** @type {[number, string, string][]} */ ([
    ...LAYOUTS.map(([width, layout]) => [width, layout, '']),
    [390, 'podium', 'layout="podium"'],
    [768, 'content', 'of="content"'],
  ])) {
    it(`${layout} at ${width} pixels loads without a shift`, async (t) => {
      const { promise: gate, resolve: release } = Promise.withResolvers()
      const entries = layout === 'content' ? targets(10) : members(layout === 'podium' ? 3 : 10)
      const page = await open(t, width, `user="you" ${attributes}`, { gate, entries })
      await page.locator('section.loading').waitFor()
      const before = [await box(page, 'activity-rank'), await box(page, '#below')]
      release(undefined)
      await eventually(() => rowCount(page), entries.length)
      if (layout !== 'content') await eventually(() => text(page, 'details'), '3 points to rank 22')
      if (width !== 390 && layout !== 'content') await page.locator('[part~=winner]').nth(2).waitFor()
      assert.deepEqual([await box(page, 'activity-rank'), await box(page, '#below')], before)
      const shift = await layoutShift(page)
      assert.ok(shift < 0.001, `${shift}`)
      assert.equal(await scrollWidth(page), width)
      if (layout !== 'content') assert.equal(await layoutOf(page), layout)
    })
  }

  /** The heights that docs/embedding.md names. */
  it('height follows from layout, rows and user', async (t) => {
    for (const [width, attributes, height] of /** @type {[number, string, number][]} */ ([
      [240, 'user="you"', 51.5],
      [390, 'user="you"', 54.5],
      [768, 'user="you"', 59.7],
      [390, '', 49],
      [390, 'user="you" winners="none"', 53.1],
      [390, 'user="you" limit="4"', 35],
    ])) {
      const page = await open(t, width, attributes, { entries: members(3) })
      await eventually(() => rowCount(page), 3)
      const measured = (await box(page, 'activity-rank')).height / 16
      assert.equal(Math.round(measured * 10) / 10, height, `${width} ${attributes}`)
    }
  })

  /** A step of the podium ends where it will be, and rows are only below it. */
  it('skeleton has the layout of the board', async (t) => {
    const gate = new Promise(() => {})
    const lineAt = async (page, x, y) => {
      const { data, width } = PNG.sync.read(await page.locator('[part=rows]').screenshot())
      const index = 4 * (Math.round(y) * width + Math.round(x * width))
      return data[index] < 250
    }
    for (const [width, attributes, y, expected] of /** @type {[number, string, number, boolean][]} */ ([
      [768, '', 16.75 - 2, true],
      [768, '', 16.75 - 6, false],
      [768, '', 16.75 + 1.5, true],
      [768, 'layout="list"', 3.5, true],
      [768, 'layout="list"', 16.75 - 2, false],
      [390, 'layout="podium"', 14, true],
    ])) {
      const page = await open(t, width, attributes, { gate })
      await page.locator('section.loading').waitFor()
      assert.equal(await lineAt(page, 0.5, y * 16), expected, `${width} ${attributes} ${y}`)
    }
  })

  it('failed element reserves no space', async (t) => {
    const page = await open(t, 390, 'user="you"', { before: (page) => answer(page, {}) })
    await eventually(() => text(page, 'status'), 'Could not load the leaderboard.')
    const { height } = await box(page, 'activity-rank')
    assert.ok(height < 80, `${height}`)
  })

  /** Names and titles may be cut; numbers, dates and controls may not. */
  it('no text overflows at 240 pixels', async (t) => {
    const content = [
      element('period="week" user="you"'),
      element('period="week" of="content"'),
      element('layout="podium"'),
    ]
    for (const lang of ['en', 'zh-Hans']) {
      const page = await open(t, 240, '', { content: `<div lang="${lang}">${content.join('')}</div>` })
      await eventually(() => rowCount(page), 30)
      await eventually(
        () => page.locator('[part=details]').first().innerText(),
        {
          en: '3 points to rank 22',
          'zh-Hans': '距第 22 名还差 3 分',
        }[lang],
      )
      await page.locator('[part~=winner]').nth(2).waitFor()
      assert.equal(await scrollWidth(page), 240)
      const cut = await page
        .locator(
          ':is([part=menu], [part=title], [part=facts], [part=score], [part=rank], [part=unit], [part=details], [part=top]):visible',
        )
        .evaluateAll((all) =>
          all.filter((part) => part.scrollWidth > part.clientWidth + 1).map((part) => part.innerText),
        )
      assert.deepEqual(cut, [])
      const outside = await page
        .locator('section *:visible')
        .evaluateAll((all) =>
          all.filter((part) => part.getBoundingClientRect().right > 240).map((part) => part.outerHTML),
        )
      assert.deepEqual(outside, [])
    }
  })

  it('heading of short scores stays on one line', async (t) => {
    const entries = [{ user: { id: 'ada' }, score: 1 }]
    const page = await open(t, 480, 'lang="zh-Hans"', { entries })
    const heading = page.getByRole('columnheader', { name: '积分' })
    const lines = await heading.evaluate((heading) => {
      const range = document.createRange()
      range.selectNodeContents(heading)
      return range.getClientRects().length
    })
    assert.equal(lines, 1)
  })
})

describe('accessibility', () => {
  for (const colorScheme of SCHEMES) {
    for (const [width, layout] of LAYOUTS) {
      it(`${layout}, ${width} pixels, ${colorScheme}: axe`, async (t) => {
        const content = [
          `<style>:root { color-scheme: ${colorScheme} }</style>`,
          element('period="week" user="you"'),
          element('period="week" user="m2"'),
          element('period="week" of="authors" user="m5"'),
          element('layout="podium"'),
        ].join('')
        const page = await open(t, width, '', { content, viewport: { width, height: 4000 } })
        await eventually(() => rowCount(page), 40)
        await page.locator('[part=details]').nth(2).getByText('points to rank').waitFor()
        await page.locator('[part~=winner]').nth(5).waitFor()
        assert.deepEqual(await violations(page, 'activity-rank'), [])
      })
    }

    it(`content and empty boards pass axe, ${colorScheme}`, async (t) => {
      for (const entries of [targets(5), []]) {
        const page = await open(t, 768, `of="content" theme="${colorScheme}"`, { entries })
        await (entries.length ? page.locator('[part=author]').nth(4) : page.getByText('Nothing yet.')).waitFor()
        assert.deepEqual(await violations(page, 'activity-rank'), [])
      }
    })
  }
})
