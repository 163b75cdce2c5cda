// <activity-rank> on pages of another origin: layout, keyboard, accessibility and languages.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import {
  delayRequests,
  elementSize,
  eventually,
  layoutShift,
  names,
  PHONE,
  scrollWidth,
  violations,
} from '../support.mjs'
import {
  app,
  attribute,
  box,
  countLikes,
  crowd,
  element,
  group,
  loaded,
  putProfiles,
  rowCount,
  text,
} from './support.mjs'

const ELEMENT = element()

describe('layout', () => {
  const RANKING = /\/v1\/ranking\//

  it('size is the same before and after loading', async (t) => {
    await countLikes(crowd(12))
    let release = () => {}
    // The style that README.md recommends.
    const style = '<style>activity-rank:not(:defined) { display: block; min-block-size: 46.5em }</style>'
    const body = `${style}${element('user="m12"')}<p id="below">Below</p>`
    const page = await app.open(t, body, { before: async (page) => (release = await delayRequests(page, RANKING)) })
    await page.locator('section.loading').waitFor()
    const before = [await box(page, 'activity-rank'), await box(page, '#below')]
    release()
    await eventually(() => rowCount(page), 10)
    await eventually(() => text(page, 'details'), '3 points to rank 11 · Top 100%')
    assert.deepEqual([await box(page, 'activity-rank'), await box(page, '#below')], before)
    const shift = await layoutShift(page)
    assert.ok(shift < 0.001, `${shift}`)
  })

  it('element fits 320 pixels', async (t) => {
    await countLikes(crowd(12))
    await putProfiles(t, [{ id: 'm1', name: 'A name as long as names may be, and then some more of it' }])
    const page = await app.open(t, element('user="m12"'), PHONE)
    await eventually(() => rowCount(page), 10)
    assert.equal(await scrollWidth(page), 320)
    const outside = await page
      .locator('section *')
      .evaluateAll((all) =>
        all.filter((part) => part.getBoundingClientRect().right > 320).map((part) => part.localName),
      )
    assert.deepEqual(outside, [])
  })

  for (const colorScheme of ['light', 'dark']) {
    it(`element passes axe in ${colorScheme} mode`, async (t) => {
      await countLikes(crowd(12))
      await putProfiles(t, [{ id: 'm2', name: 'Ada', url: 'https://example.com/' }])
      const body = `${element('user="m12"')}<activity-rank src="APP_URL" group="nobody"></activity-rank>`
      const viewport = { width: 800, height: 2000 }
      const page = await app.open(t, body, { colorScheme, reducedMotion: 'reduce', viewport })
      await eventually(() => rowCount(page), 10)
      await page.getByText('No activity yet.').waitFor()
      await eventually(() => text(page, 'details'), '3 points to rank 11 · Top 100%')
      assert.deepEqual(await violations(page, 'activity-rank'), [])
    })
  }

  it('theme attribute overrides the color scheme', async (t) => {
    const page = await app.open(t, element('theme="dark"'), { colorScheme: 'light' })
    await loaded(page)
    const color = await page.locator('section').evaluate((section) => getComputedStyle(section).backgroundColor)
    assert.equal(color, 'rgb(24, 30, 38)')
  })

  it('rows are not animated with reduced motion', async (t) => {
    await countLikes({ ada: 2, bob: 1 })
    for (const [reducedMotion, isAnimated] of [
      ['reduce', false],
      ['no-preference', true],
    ]) {
      const page = await app.open(t, ELEMENT, { reducedMotion })
      await eventually(() => rowCount(page), 2)
      await page.evaluate(() => {
        globalThis.animated = false
        const { animate } = Element.prototype
        Element.prototype.animate = function (...args) {
          globalThis.animated = true
          return animate.apply(this, args)
        }
      })
      const [first, last] = await names(page)
      const target = `${group}-${reducedMotion}`
      await app.count([1, 2, 3].map((n) => ({ user: last, action: 'like', target: target + n, groups: [group] })))
      await eventually(() => names(page), [last, first])
      assert.equal(await page.evaluate('animated'), isAnimated)
    }
  })

  it('layout and arrow keys are mirrored in RTL', async (t) => {
    await countLikes(crowd(2))
    const page = await app.open(t, `<div dir="rtl">${ELEMENT}</div>`)
    await eventually(() => names(page), ['m1', 'm2'])
    const [rank, score] = await Promise.all(
      ['rank', 'score'].map((part) => box(page, `tbody tr:first-child [part=${part}]`)),
    )
    assert.ok(rank.x > score.x)
    await page.getByRole('tab', { name: 'Day' }).focus()
    await page.keyboard.press('ArrowLeft')
    await eventually(() => attribute(page, 'period'), 'week')
  })
})

describe('accessibility', () => {
  it('keyboard reaches every control', async (t) => {
    await countLikes({ ada: 1 })
    await putProfiles(t, [{ id: 'ada', name: 'Ada', url: 'https://example.com/' }])
    const page = await app.open(t, ELEMENT)
    await eventually(() => names(page), ['Ada'])
    const focused = () =>
      page
        .locator(':focus')
        .last()
        .evaluate((element) => element.ariaLabel ?? element.textContent)
    const press = async (key, expected) => {
      await page.keyboard.press(key)
      await eventually(focused, expected)
    }
    await press('Tab', 'Day')
    await press('ArrowRight', 'Week')
    await eventually(() => attribute(page, 'period'), 'week')
    await press('End', 'All time')
    await press('ArrowRight', 'Day')
    await press('ArrowLeft', 'All time')
    await press('Home', 'Day')
    await eventually(() => page.locator('section:not(.waiting)').count(), 1)
    await press('Tab', 'Previous')
    await page.keyboard.press('Enter')
    await eventually(() => text(page, 'empty'), 'No activity, or the data has expired.')
    await press('Tab', 'Next')
    await page.keyboard.press('Enter')
    await eventually(() => names(page), ['Ada'])
    await eventually(focused, 'Next')
    await press('Tab', 'Ada')
  })

  it('tabs, table and own row have roles and names', async (t) => {
    await countLikes({ ada: 2, bob: 1 })
    const body = '<activity-rank src="APP_URL" group="GROUP" period="all" user="bob"></activity-rank>'
    const page = await app.open(t, body)
    await eventually(() => text(page, 'details'), '3 points to rank 1 · Top 100%')
    const tree = await page.locator('activity-rank').ariaSnapshot()
    assert.equal(
      tree,
      `- group "Leaderboard":
  - tablist "Period":
    - tab "Day"
    - tab "Week"
    - tab "Month"
    - tab "Year"
    - tab "All time" [selected]
  - tabpanel "All time":
    - paragraph: All time
    - paragraph: 2 members · Asia/Shanghai
    - table "All time":
      - rowgroup:
        - row "Rank Member Points":
          - columnheader "Rank"
          - columnheader "Member"
          - columnheader "Points"
      - rowgroup:
        - row "1 ada 4":
          - cell "1"
          - rowheader "ada"
          - cell "4"
        - row "2 bob 2":
          - cell "2"
          - rowheader "bob"
          - cell "2"
    - group "Your rank":
      - text: 2 bob 2
      - paragraph: 3 points to rank 1 · Top 100%
  - status`,
    )
  })
})

describe('languages', () => {
  it('language of the page selects 简体中文', async (t) => {
    await countLikes(crowd(12))
    const page = await app.open(t, `<div lang="zh-CN">${element('user="m12"')}</div>`)
    await eventually(() => page.getByRole('tab').allTextContents(), ['日榜', '周榜', '月榜', '年榜', '总榜'])
    await eventually(() => text(page, 'details'), '距第 11 名还差 3 分 · 前 100%')
    const format = new Intl.DateTimeFormat('zh-CN', {
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      timeZone: 'Asia/Shanghai',
    })
    assert.equal(await text(page, 'title'), format.format())
    assert.equal(await page.locator('section').getAttribute('lang'), 'zh-CN')
  })

  it('unknown languages fall back to English', async (t) => {
    const page = await app.open(t, element('lang="zh"'))
    await eventually(() => text(page, 'empty'), '暂无人上榜。')
    const setLang = (lang) => page.evaluate((lang) => (document.querySelector('activity-rank').lang = lang), lang)
    for (const lang of ['de', 'zh-TW', 'no such tag', 'en-GB']) {
      await setLang(lang)
      await eventually(() => text(page, 'empty'), 'No activity yet.')
      await setLang('zh-Hans')
      await eventually(() => text(page, 'empty'), '暂无人上榜。')
    }
  })
})

it('element has at most 10 KB gzipped', async () => {
  const bytes = await elementSize('activity-rank.js')
  assert.ok(bytes <= 10 * 1024, `${bytes}`)
})
