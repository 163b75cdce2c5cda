// <activity-rank> on pages of another origin: motion, keyboard, accessibility and languages.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { PNG } from 'pngjs'

import { eventually, names } from '../support.mjs'
import {
  answer,
  app,
  attribute,
  boardOf,
  box,
  countLikes,
  crowd,
  element,
  group,
  putProfiles,
  rowCount,
  scores,
  text,
  useApp,
} from './support.mjs'

useApp()

const ELEMENT = element()

describe('motion', () => {
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

  it('changed score counts up, except reduced motion', async (t) => {
    for (const reducedMotion of /** @type {const} */ (['no-preference', 'reduce'])) {
      let score = 10
      const before = (page) => answer(page, { board: () => boardOf([{ user: { id: 'ada' }, score }]) })
      const page = await app.open(t, element(), { before, reducedMotion })
      await eventually(() => scores(page), ['10'])
      await page.evaluate(() => {
        const shown = document.querySelector('activity-rank').shadowRoot.querySelector('tbody [part=score]')
        globalThis.events = []
        new MutationObserver(() => events.push(Number(shown.textContent))).observe(shown, { childList: true })
      })
      score = 60
      await page.evaluate(() => document.querySelector('activity-rank').reload())
      await eventually(() => scores(page), ['60'])
      const shown = /** @type {number[]} */ (await page.evaluate('events'))
      assert.deepEqual(
        shown,
        [...shown].sort((a, b) => a - b),
      )
      assert.equal(shown.length > 2, reducedMotion === 'no-preference', `${shown}`)
    }
  })

  it('layout and arrow keys are mirrored in RTL', async (t) => {
    await countLikes(crowd(2))
    const page = await app.open(t, `<div dir="rtl">${element('layout="list"')}</div>`)
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

describe('pills', () => {
  /** Texts without descenders, so that their pixels show where capitals are. */
  it('have their texts in the middle', async (t) => {
    await countLikes({ ada: 2, bob: 1 })
    // A card has the places among all members.
    await app.request('POST', '/v1/users/first/adjustments', { id: group, points: 1e6, reason: 'The first place' })
    const content = `${element('user="bob" layout="list"')}
      <script type="module" src="APP_URL/elements/activity-card.js"></script>
      <activity-card src="APP_URL" user="first"></activity-card>`
    const page = await app.open(t, content, { deviceScaleFactor: 4, reducedMotion: 'reduce' })
    await page.locator('tbody [part=you]:not(:empty)').waitFor()
    await page.locator('activity-card [part~=first]').first().waitFor()
    for (const selector of [
      'tbody [part=you]:not(:empty)',
      'tbody [part~=first] [part=rank]',
      '[part=tab][aria-selected=true]',
      'activity-card [part~=first] [part=rank]',
    ]) {
      const pill = page.locator(selector).first()
      await pill.evaluate((pill) => (pill.textContent = 'H'))
      const { data, width, height } = PNG.sync.read(await pill.screenshot())
      const pixel = (x, y) => [0, 1, 2].map((channel) => data[4 * (y * width + x) + channel])
      const [edge, middle] = [Math.round(0.2 * width), height >> 1]
      const isLike = (color, other) => color.every((value, channel) => Math.abs(value - other[channel]) < 60)
      const behind = pixel(edge, middle)
      // The lines of the pill, without those around it.
      const lines = Array.from({ length: height }, (_, y) => y).filter((y) => isLike(pixel(edge, y), behind))
      const hasInk = (y) =>
        Array.from({ length: width >> 1 }, (_, x) => x + (width >> 2)).some((x) => !isLike(pixel(x, y), behind))
      const above = lines.findIndex(hasInk)
      const below = lines.reverse().findIndex(hasInk)
      assert.ok(above >= 0 && Math.abs(above - below) <= 5, `${selector}: ${above / 4} px above, ${below / 4} below`)
    }
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
    await eventually(() => text(page, 'details'), '3 points to rank 1')
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
    - paragraph: 2 members
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
        - row "2 bob You 2":
          - cell "2"
          - rowheader "bob You"
          - cell "2"
    - paragraph: Places 3 to 10 are free.
    - group "Your rank":
      - paragraph: 3 points to rank 1
  - status`,
    )
  })
})

describe('languages', () => {
  it('language of the page selects 简体中文', async (t) => {
    await countLikes(crowd(12))
    const page = await app.open(t, `<div lang="zh-CN">${element('user="m6" limit="5"')}</div>`)
    await eventually(() => page.getByRole('tab').allTextContents(), ['日榜', '周榜', '月榜', '年榜', '总榜'])
    await eventually(() => text(page, 'details'), '距第 5 名还差 3 分')
    assert.equal(await text(page, 'top'), '前 50%')
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
    await eventually(() => text(page, 'empty'), '暂无人上榜，来做今天的第一名吧！')
    const setLang = (lang) => page.evaluate((lang) => (document.querySelector('activity-rank').lang = lang), lang)
    for (const lang of ['de', 'zh-TW', 'no such tag', 'en-GB']) {
      await setLang(lang)
      await eventually(() => text(page, 'empty'), 'Nobody yet. Be the first today.')
      await setLang('zh-Hans')
      await eventually(() => text(page, 'empty'), '暂无人上榜，来做今天的第一名吧！')
    }
  })
})
