// <activity-rank> on pages of another origin, in Chromium: its looks, keys and languages.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { eventually, faults, gzipped, shift } from '../support.mjs'
import { ELEMENT, box, crowd, group, likes, names, profiles, shown, site, text } from './support.mjs'

/** Keeps answers back until told. */
async function held(page) {
  let release
  const released = new Promise((resolve) => (release = resolve))
  await page.route(/\/v1\/ranking\//, async (route) => {
    await released
    await route.continue()
  })
  return release
}

describe('its looks', () => {
  it('take the same space from the first moment on', async (t) => {
    await likes(crowd(12))
    let release
    // As README.md says.
    const style = '<style>activity-rank:not(:defined) { display: block; min-block-size: 46.5em }</style>'
    const body = `${style}${ELEMENT.replace('refresh', 'user="m12" refresh')}<p id="below">Below</p>`
    const page = await site.open(t, body, { before: async (page) => (release = await held(page)) })
    await page.locator('section.loading').waitFor()
    const before = [await box(page, 'activity-rank'), await box(page, '#below')]
    release()
    await eventually(() => page.locator('tbody tr').count(), 10)
    await eventually(() => text(page, 'details'), '3 points to rank 11 · Percentile 8.3')
    assert.deepEqual([await box(page, 'activity-rank'), await box(page, '#below')], before)
    assert.ok((await shift(page)) < 0.001, `${await shift(page)}`)
  })

  it('fit a window of 320 pixels', async (t) => {
    await likes(crowd(12))
    await profiles(t, [{ id: 'm1', name: 'A name as long as names may be, and then some more of it' }])
    const options = { viewport: { width: 320, height: 640 } }
    const page = await site.open(t, ELEMENT.replace('refresh', 'user="m12" refresh'), options)
    await eventually(() => page.locator('tbody tr').count(), 10)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320)
    const outside = await page.locator('section *').evaluateAll((all) =>
      all.filter((one) => one.getBoundingClientRect().right > 320).map((one) => one.outerHTML),
    )
    assert.deepEqual(outside, [])
  })

  for (const colorScheme of ['light', 'dark']) {
    it(`have no fault that axe finds, ${colorScheme}`, async (t) => {
      await likes(crowd(12))
      await profiles(t, [{ id: 'm2', name: 'Ada', url: 'https://example.com/' }])
      const body = `${ELEMENT.replace('refresh', 'user="m12" refresh')}
        <activity-rank src="SITE" group="nobody"></activity-rank>`
      const viewport = { width: 800, height: 2000 }
      const page = await site.open(t, body, { colorScheme, reducedMotion: 'reduce', viewport })
      await eventually(() => page.locator('tbody tr').count(), 10)
      await page.getByText('Nobody has been counted yet.').waitFor()
      await eventually(() => page.locator('[part=details]:visible').innerText(), '3 points to rank 11 · Percentile 8.3')
      assert.deepEqual(await faults(page, 'activity-rank'), [])
    })
  }

  it('are dark on a light page where the page wants it', async (t) => {
    const page = await site.open(t, ELEMENT.replace('refresh', 'theme="dark" refresh'), { colorScheme: 'light' })
    await shown(page)
    const color = await page.locator('section').evaluate((section) => getComputedStyle(section).backgroundColor)
    assert.equal(color, 'rgb(24, 30, 38)')
  })

  it('do not move for those who want no motion', async (t) => {
    await likes({ ada: 2, bob: 1 })
    for (const [reducedMotion, moves] of [['reduce', false], ['no-preference', true]]) {
      const page = await site.open(t, ELEMENT, { reducedMotion })
      await eventually(() => page.locator('tbody tr').count(), 2)
      await page.evaluate(() => {
        globalThis.moved = false
        const animate = Element.prototype.animate
        Element.prototype.animate = function (...all) {
          globalThis.moved = true
          return animate.apply(this, all)
        }
      })
      const first = await names(page)
      const target = `${group}-${reducedMotion}`
      const last = first[1]
      await site.count([1, 2, 3].map((n) => ({ user: last, action: 'like', target: target + n, groups: [group] })))
      await eventually(() => names(page), [last, first[0]])
      assert.equal(await page.evaluate('moved'), moves)
    }
  })

  it('are mirrored where one reads from right to left', async (t) => {
    await likes(crowd(2))
    const page = await site.open(t, `<div dir="rtl">${ELEMENT}</div>`)
    await eventually(() => names(page), ['m1', 'm2'])
    const [rank, score] = [await box(page, 'tbody tr:first-child [part=rank]'), await box(page, 'tbody tr:first-child [part=score]')]
    assert.ok(rank.x > score.x)
    await page.getByRole('tab', { name: 'Day' }).focus()
    await page.keyboard.press('ArrowLeft')
    await eventually(() => page.locator('activity-rank').getAttribute('period'), 'week')
  })
})

describe('without a mouse', () => {
  it('all can be done by keys', async (t) => {
    await likes({ ada: 1 })
    await profiles(t, [{ id: 'ada', name: 'Ada', url: 'https://example.com/' }])
    const page = await site.open(t, ELEMENT)
    await eventually(() => names(page), ['Ada'])
    const focused = () => page.locator(':focus').last().evaluate((element) => element.ariaLabel ?? element.textContent)
    const press = async (key, expected) => {
      await page.keyboard.press(key)
      await eventually(focused, expected)
    }
    await press('Tab', 'Day')
    await press('ArrowRight', 'Week')
    await eventually(() => page.locator('activity-rank').getAttribute('period'), 'week')
    await press('End', 'All time')
    await press('ArrowRight', 'Day')
    await press('ArrowLeft', 'All time')
    await press('Home', 'Day')
    await eventually(() => page.locator('section:not(.waiting)').count(), 1)
    await press('Tab', 'Earlier')
    await page.keyboard.press('Enter')
    await eventually(() => text(page, 'empty'), 'Nobody was counted, or this has expired.')
    await press('Tab', 'Later')
    await page.keyboard.press('Enter')
    await eventually(() => names(page), ['Ada'])
    await eventually(focused, 'Later')
    await press('Tab', 'Ada')
  })

  it('a screen reader finds tabs, a named table and the own place', async (t) => {
    await likes({ ada: 2, bob: 1 })
    const body = '<activity-rank src="SITE" group="GROUP" period="all" user="bob"></activity-rank>'
    const page = await site.open(t, body)
    await eventually(() => text(page, 'details'), '3 points to rank 1 · Percentile 50')
    const tree = await page.locator('activity-rank').ariaSnapshot()
    assert.equal(
      tree,
      `- group "Ranking":
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
    - group "Your place":
      - text: 2 bob 2
      - paragraph: 3 points to rank 1 · Percentile 50
  - status`,
    )
  })
})

describe('languages', () => {
  it('are that of the page: 简体中文', async (t) => {
    await likes(crowd(12))
    const page = await site.open(t, `<div lang="zh-CN">${ELEMENT.replace('refresh', 'user="m12" refresh')}</div>`)
    await eventually(() => page.getByRole('tab').allTextContents(), ['日榜', '周榜', '月榜', '年榜', '总榜'])
    await eventually(() => text(page, 'details'), '再得 3 分升至第 11 名 · 百分位 8.3')
    const fields = { year: 'numeric', month: 'short', day: 'numeric', timeZone: 'Asia/Shanghai' }
    const date = new Intl.DateTimeFormat('zh-CN', fields).format()
    assert.equal(await text(page, 'title'), date)
    assert.equal(await page.locator('section').getAttribute('lang'), 'zh-CN')
  })

  it('change with the attribute, and are English where there is no other', async (t) => {
    const page = await site.open(t, ELEMENT.replace('refresh', 'lang="zh" refresh'))
    await eventually(() => text(page, 'empty'), '还没有人上榜。')
    for (const lang of ['de', 'zh-TW', 'no such tag', 'en-GB']) {
      await page.locator('activity-rank').evaluate((element, lang) => (element.lang = lang), lang)
      await eventually(() => text(page, 'empty'), 'Nobody has been counted yet.')
      await page.locator('activity-rank').evaluate((element) => (element.lang = 'zh-Hans'))
      await eventually(() => text(page, 'empty'), '还没有人上榜。')
    }
  })

  it('have the same words each', async () => {
    const [english, chinese] = await Promise.all(
      ['en', 'zh-Hans'].map((name) => import(`../../../web/elements/languages/${name}.js`)),
    )
    const shape = (words) =>
      Object.entries(words).map(([name, word]) => [name, typeof word === 'object' ? shape(word) : typeof word])
    assert.deepEqual(shape(chinese.default), shape(english.default))
  })
})

describe('the files', () => {
  it('of the element, with its looks and English, have at most 12 KB gzipped', () => {
    const files = ['activity-rank', 'rank', 'view', 'members', 'dom', 'source', 'style', 'languages', 'languages/en']
    const bytes = gzipped(files.map((name) => `elements/${name}.js`))
    assert.ok(bytes <= 12 * 1024, `${bytes}`)
  })
})
