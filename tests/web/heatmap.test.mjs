// <activity-heatmap> on pages of another origin.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'

import {
  delayRequests,
  elementSize,
  eventually,
  layoutShift,
  PHONE,
  scrollWidth,
  startApp,
  violations,
} from './support.mjs'

const DAY = 864e5 // ms

let app
let user

before(async () => {
  app = await startApp()
})
after(() => app?.stop())
beforeEach(() => {
  user = app.newGroup()
})

/** An activity of a past day. */
const activity = (action, daysAgo, target) => ({
  user,
  action,
  target,
  at: new Date(Date.now() - daysAgo * DAY).toISOString(),
})

const longDate = (daysAgo, language = 'en') =>
  new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(Date.now() - daysAgo * DAY)

const element = (attributes = '') =>
  `<activity-heatmap src="APP_URL" user="${user}" ${attributes}><b>Sign in to see it</b></activity-heatmap>`

/** Opens a page with the user's element and sets its token. Events are collected in the global `events`. */
async function open(t, options = {}, attributes = '') {
  const page = await app.open(t, element(attributes), options)
  await page.evaluate(() => {
    const events = (globalThis.events = [])
    const heatmap = document.querySelector('activity-heatmap')
    for (const name of ['load', 'error']) {
      heatmap.addEventListener(name, (event) => {
        events.push(event instanceof ErrorEvent ? event.message : event.type)
      })
    }
  })
  await setToken(page, app.token(user))
  return page
}

const setToken = (page, token) =>
  page.evaluate((token) => {
    document.querySelector('activity-heatmap').token = async () => token
  }, token)

const text = (page, part) => page.locator(`[part=${part}]:visible`).innerText()
const day = (page, daysAgo) => page.getByRole('gridcell', { name: `${longDate(daysAgo)}:` })
const cells = (page) => page.locator('td[part]')

const SUMMARY = '10 points on 3 of the last 31 days.'

/** Counts activities of three days. */
async function countSome() {
  await app.count([
    activity('like', 0, 'a'),
    activity('like', 0, 'b'),
    activity('visit', 0, '/'),
    activity('comment', 1, 'c'),
    activity('like', 4, 'd'),
  ])
}

describe('calendar', () => {
  it('31 days have points by action', async (t) => {
    await countSome()
    const page = await open(t)
    await eventually(() => text(page, 'summary'), SUMMARY)
    assert.equal(await cells(page).count(), 31)
    assert.equal(await text(page, 'streak'), '2-day streak (best: 2).')
    for (const [daysAgo, label] of [
      [0, '5 points · 2 likes, 4 points · 1 visit, 1 point'],
      [1, '3 points · 1 comment, 3 points'],
      [2, '0 points'],
    ]) {
      assert.equal(await day(page, daysAgo).getAttribute('aria-label'), `${longDate(daysAgo)}: ${label}`)
    }
    const parts = await Promise.all([0, 1, 2, 4].map((daysAgo) => day(page, daysAgo).getAttribute('part')))
    assert.deepEqual(parts, ['day level-4', 'day level-3', 'day level-0', 'day level-2'])
    assert.deepEqual(await page.evaluate('events'), ['load'])
    assert.deepEqual(page.errors, [])
  })

  it('columns are weekdays from Monday', async (t) => {
    const page = await open(t)
    await cells(page).first().waitFor()
    const columns = await cells(page).evaluateAll((cells) =>
      cells.map((cell) => /** @type {HTMLTableCellElement} */ (cell).cellIndex),
    )
    const expected = Array.from(
      { length: 31 },
      (_, index) => (new Date(Date.now() - (30 - index) * DAY).getUTCDay() + 6) % 7,
    )
    assert.deepEqual(columns, expected)
    assert.equal(await page.getByRole('columnheader').first().getAttribute('aria-label'), 'Monday')
  })

  it('details follow the pointer and the focus', async (t) => {
    await countSome()
    const today = `${longDate(0)}: 5 points · 2 likes, 4 points · 1 visit, 1 point`
    const page = await open(t)
    await eventually(() => text(page, 'details'), today)
    await day(page, 4).hover()
    await eventually(() => text(page, 'details'), `${longDate(4)}: 2 points · 1 like, 2 points`)
    await page.keyboard.press('Tab')
    await eventually(() => text(page, 'details'), today)
    const focusedDate = async () => (await page.locator('td:focus').getAttribute('aria-label')).split(':')[0]
    for (const [key, daysAgo] of /** @type {[string, number][]} */ ([
      ['ArrowLeft', 1],
      ['ArrowUp', 8],
      ['ArrowDown', 1],
      ['ArrowRight', 0],
      ['ArrowRight', 0],
      ['Home', 30],
      ['End', 0],
    ])) {
      await page.keyboard.press(key)
      await eventually(focusedDate, longDate(daysAgo))
      assert.equal((await text(page, 'details')).split(':')[0], longDate(daysAgo))
    }
  })

  it('lang attribute selects 简体中文', async (t) => {
    await countSome()
    const page = await open(t, {}, 'lang="zh-CN"')
    await eventually(() => text(page, 'summary'), '最近 31 天中有 3 天活跃，共 10 分。')
    const details = `${longDate(0, 'zh-CN')}：5 分 · 点赞 2 次，4 分 · 访问 1 次，1 分`
    assert.equal(await text(page, 'details'), details)
  })

  it('size is the same before and after loading', async (t) => {
    let release = () => {}
    const page = await open(t, { before: async (page) => (release = await delayRequests(page, /\/activity$/)) })
    const empty = await page.locator('activity-heatmap').boundingBox()
    release()
    await eventually(() => cells(page).count(), 31)
    const { height } = await page.locator('activity-heatmap').boundingBox()
    assert.equal(height, empty.height)
    assert.ok((await layoutShift(page)) < 0.001)
  })

  it('element fits 320 pixels', async (t) => {
    const page = await open(t, PHONE)
    await eventually(() => cells(page).count(), 31)
    assert.equal(await scrollWidth(page), 320)
  })

  for (const colorScheme of ['light', 'dark']) {
    it(`element passes axe in ${colorScheme} mode`, async (t) => {
      await countSome()
      const page = await open(t, { colorScheme })
      await eventually(() => cells(page).count(), 31)
      assert.deepEqual(await violations(page, 'activity-heatmap'), [])
    })
  }
})

describe('token', () => {
  it('string is accepted and never in the HTML', async (t) => {
    await countSome()
    const page = await open(t)
    await page.evaluate((token) => {
      document.querySelector('activity-heatmap').token = token
    }, app.token(user))
    await eventually(() => text(page, 'summary'), SUMMARY)
    assert.equal((await page.content()).includes(app.token(user).slice(0, 20)), false)
  })

  it("another user's token shows nothing", async (t) => {
    const page = await open(t)
    await eventually(() => page.evaluate('events'), ['load'])
    await setToken(page, app.token('somebody-else'))
    await eventually(() => page.evaluate('events.length'), 2)
    await page.getByText('Sign in to see it').waitFor()
    const [, message] = await page.evaluate('events')
    assert.equal(message, 'This user token only grants access to the data of user somebody-else.')
    await setToken(page, app.token(user))
    await eventually(() => cells(page).count(), 31)
  })

  it('no request is sent without a token', async (t) => {
    const page = await app.open(t, element())
    const urls = []
    page.on('request', (request) => urls.push(request.url()))
    await page.getByText('Sign in to see it').waitFor()
    assert.deepEqual(
      urls.filter((url) => url.includes('/v1/')),
      [],
    )
  })
})

it('element has at most 8 KB gzipped', async () => {
  const bytes = await elementSize('activity-heatmap.js')
  assert.ok(bytes <= 8 * 1024, `${bytes}`)
})
