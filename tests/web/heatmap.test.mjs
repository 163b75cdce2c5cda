// <activity-heatmap> on pages of another origin, in Chromium.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'

import { eventually, faults, gzipped, shift, start } from './support.mjs'

const DAY = 864e5 // ms

let site
let user

before(async () => {
  site = await start()
})
after(() => site?.stop())
beforeEach(() => {
  user = site.newGroup()
})

/** What so many days ago somebody did. */
const did = (action, days, target) => ({ user, action, target, at: new Date(Date.now() - days * DAY).toISOString() })

/** A day in words of a language, and its date. */
const long = (days, language = 'en') =>
  new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(Date.now() - days * DAY)

/** Opens a page with the member's element, and gives it their token by a function, or otherwise. */
async function open(t, options, attributes = '') {
  const page = await site.open(t, `<activity-heatmap src="SITE" user="${user}" ${attributes}><b>Sign in to see it</b></activity-heatmap>`, options)
  await page.evaluate(() => {
    globalThis.events = []
    const element = document.querySelector('activity-heatmap')
    for (const name of ['load', 'error']) element.addEventListener(name, ({ type, message }) => events.push(message ?? type))
  })
  await sign(page, site.token(user))
  return page
}

const sign = (page, token) =>
  page.evaluate((token) => {
    document.querySelector('activity-heatmap').token = async () => token
  }, token)

const text = (page, part) => page.locator(`[part=${part}]:visible`).innerText()
const day = (page, days) => page.getByRole('gridcell', { name: `${long(days)}:` })

async function some() {
  await site.count([did('like', 0, 'a'), did('like', 0, 'b'), did('visit', 0, '/'), did('comment', 1, 'c'), did('like', 4, 'd')])
}

describe('the calendar', () => {
  it('has the last 31 days, each with its points by action', async (t) => {
    await some()
    const page = await open(t)
    await eventually(() => text(page, 'summary'), '10 points on 3 of the last 31 days.')
    assert.equal(await page.locator('td[part]').count(), 31)
    assert.equal(await text(page, 'streak'), 'Days in a row: 2, at most 2')
    assert.equal(await day(page, 0).getAttribute('aria-label'), `${long(0)}: 5 points · likes 2 (4) · visits 1 (1)`)
    assert.equal(await day(page, 1).getAttribute('aria-label'), `${long(1)}: 3 points · comments 1 (3)`)
    assert.equal(await day(page, 2).getAttribute('aria-label'), `${long(2)}: 0 points`)
    const parts = await Promise.all([0, 1, 2, 4].map((days) => day(page, days).getAttribute('part')))
    assert.deepEqual(parts, ['day level-4', 'day level-3', 'day level-0', 'day level-2'])
    assert.deepEqual(await page.evaluate('events'), ['load'])
    assert.deepEqual(page.errors, [])
  })

  it('has each day in the column of its weekday, from Monday', async (t) => {
    const page = await open(t)
    await page.locator('td[part]').first().waitFor()
    const columns = await page.locator('td[part]').evaluateAll((cells) => cells.map((cell) => cell.cellIndex))
    const expected = Array.from({ length: 31 }, (_, at) => (new Date(Date.now() - (30 - at) * DAY).getUTCDay() + 6) % 7)
    assert.deepEqual(columns, expected)
    assert.equal(await page.getByRole('columnheader').first().getAttribute('aria-label'), 'Monday')
  })

  it('tells of the day that the pointer or the focus is on', async (t) => {
    await some()
    const page = await open(t)
    await eventually(() => text(page, 'details'), `${long(0)}: 5 points · likes 2 (4) · visits 1 (1)`)
    await day(page, 4).hover()
    await eventually(() => text(page, 'details'), `${long(4)}: 2 points · likes 1 (2)`)
    await page.keyboard.press('Tab')
    await eventually(() => text(page, 'details'), `${long(0)}: 5 points · likes 2 (4) · visits 1 (1)`)
    for (const [key, days] of [['ArrowLeft', 1], ['ArrowUp', 8], ['ArrowDown', 1], ['ArrowRight', 0], ['ArrowRight', 0], ['Home', 30], ['End', 0]]) {
      await page.keyboard.press(key)
      await eventually(() => page.locator('td:focus').getAttribute('aria-label').then((label) => label.split(':')[0]), long(days))
      assert.equal((await text(page, 'details')).split(':')[0], long(days))
    }
  })

  it('speaks 简体中文', async (t) => {
    await some()
    const page = await open(t, {}, 'lang="zh-CN"')
    await eventually(() => text(page, 'summary'), '最近 31 天中有 3 天活跃，共 10 分。')
    assert.equal(await text(page, 'details'), `${long(0, 'zh-CN')}：5 分 · 点赞 2 次（4 分） · 访问 1 次（1 分）`)
  })

  it('takes the same space from the first moment on', async (t) => {
    let release
    const held = new Promise((resolve) => (release = resolve))
    const before = (page) => page.route(/\/activity$/, async (route) => (await held, route.continue()))
    const page = await open(t, { before })
    const empty = await page.locator('activity-heatmap').boundingBox()
    release()
    await eventually(() => page.locator('td[part]').count(), 31)
    const { height } = await page.locator('activity-heatmap').boundingBox()
    assert.equal(height, empty.height)
    assert.ok((await shift(page)) < 0.001)
  })

  it('fits a window of 320 pixels', async (t) => {
    const page = await open(t, { viewport: { width: 320, height: 640 } })
    await eventually(() => page.locator('td[part]').count(), 31)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320)
  })

  for (const colorScheme of ['light', 'dark']) {
    it(`has no fault that axe finds, ${colorScheme}`, async (t) => {
      await some()
      const page = await open(t, { colorScheme })
      await eventually(() => page.locator('td[part]').count(), 31)
      assert.deepEqual(await faults(page, 'activity-heatmap'), [])
    })
  }
})

describe('the token', () => {
  it('may be a text, and is in no attribute', async (t) => {
    await some()
    const page = await open(t)
    await page.evaluate((token) => (document.querySelector('activity-heatmap').token = token), site.token(user))
    await eventually(() => text(page, 'summary'), '10 points on 3 of the last 31 days.')
    assert.equal((await page.content()).includes(site.token(user).slice(0, 20)), false)
  })

  it('that is not the member\'s shows nothing, and one that is shows all', async (t) => {
    const page = await open(t)
    await eventually(() => page.evaluate('events'), ['load'])
    await sign(page, site.token('somebody-else'))
    await eventually(() => page.evaluate('events.length'), 2)
    await page.getByText('Sign in to see it').waitFor()
    const [, message] = await page.evaluate('events')
    assert.equal(message, "This user token is for what is somebody-else's alone.")
    await sign(page, site.token(user))
    await eventually(() => page.locator('td[part]').count(), 31)
  })

  it('is waited for: until then there is what the page has', async (t) => {
    const page = await site.open(t, `<activity-heatmap src="SITE" user="${user}"><b>Sign in to see it</b></activity-heatmap>`)
    const asked = []
    page.on('request', (request) => asked.push(request.url()))
    await page.getByText('Sign in to see it').waitFor()
    assert.deepEqual(asked.filter((url) => url.includes('/v1/')), [])
  })
})

describe('the files', () => {
  it('that it has beside those of the board have at most 4 KB gzipped', () => {
    const bytes = gzipped(['elements/activity-heatmap.js', 'elements/heatmap.js'])
    assert.ok(bytes <= 4 * 1024, `${bytes}`)
  })
})
