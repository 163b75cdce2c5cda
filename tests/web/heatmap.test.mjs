// <activity-heatmap> on pages of another origin. The app has no archive, so years are mocked.

import assert from 'node:assert/strict'
import { before, beforeEach, describe, it } from 'node:test'

import {
  delayRequests,
  eventually,
  layoutShift,
  PHONE,
  recordRequests,
  SCHEMES,
  scrollWidth,
  shareApp,
  violations,
  WIDTHS,
} from './support.mjs'

const DAY = 864e5 // ms
const ACTIVITY = /\/activity\?/

let app
let user

before(async () => {
  app = await shareApp({ live: false })
})
beforeEach(() => {
  user = app.newGroup()
})

const isoDate = (daysAgo) => new Date(Date.now() - daysAgo * DAY).toISOString().slice(0, 10)

/** An activity of a past day. */
const activity = (action, daysAgo, target) => ({
  user,
  action,
  target,
  at: new Date(Date.now() - daysAgo * DAY).toISOString(),
})

/** Returns the text of a day. */
const date = (daysAgo, language = 'en') =>
  new Intl.DateTimeFormat(language, {
    weekday: 'short',
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    timeZone: 'UTC',
  }).format(Date.now() - daysAgo * DAY)

const element = (attributes = '') =>
  `<activity-heatmap src="APP_URL" user="${user}" ${attributes}><b>Sign in to see it</b></activity-heatmap>`

/** Opens a page with the user's element. Events are collected in the global `events`. */
async function openPublic(t, { before = undefined, ...options } = {}, attributes = '') {
  return app.open(t, element(attributes), {
    ...options,
    before: async (page) => {
      await before?.(page)
      await page.addInitScript(() => {
        globalThis.events = []
        for (const name of ['load', 'error']) {
          document.addEventListener(
            name,
            (event) => {
              if (event.target instanceof HTMLElement && event.target.localName === 'activity-heatmap') {
                globalThis.events.push(event instanceof ErrorEvent ? event.message : event.type)
              }
            },
            true,
          )
        }
      })
    },
  })
}

/** Opens a page with the user's element and their token. */
async function open(t, options = {}, attributes = '') {
  const page = await openPublic(t, options, attributes)
  await setToken(page, app.token(user))
  return page
}

const setToken = (page, token) =>
  page.evaluate((token) => {
    document.querySelector('activity-heatmap').token = async () => token
  }, token)

/** Answers with a year: the points of days by how many days ago they are. */
const serveYear = (points, streak = { current: 4, longest: 9 }, frozen = []) => {
  const history = () => ({
    user: { id: user },
    timezone: 'UTC',
    days: Array.from({ length: 366 }, (_, daysAgo) => ({
      date: isoDate(daysAgo),
      points: points[daysAgo] ?? 0,
      ...(frozen.includes(daysAgo) ? { frozen: true } : {}),
    })),
    streak,
  })
  return (page) => page.route(ACTIVITY, (route) => route.fulfill({ json: history(), headers: CORS }))
}
const CORS = { 'access-control-allow-origin': '*' }
const YEAR = { 0: 1, 1: 2, 2: 3, 3: 104, 40: 4, 200: 5, 360: 6 }

const text = (page, part) => page.locator(`[part=${part}]:visible`).innerText()
const day = (page, daysAgo) => page.getByRole('gridcell', { name: `${date(daysAgo)}:` })
const loaded = (page) => page.locator('section:not(.loading):not(.failed)').waitFor()
const cells = (page) => page.locator('[part~=day]')
const box = (page, selector) => page.locator(selector).first().boundingBox()
const requestedDays = (urls) => urls.map((url) => new URL(url).searchParams.get('days'))

/** Presses keys, and compares the days which then have the focus and the tooltip. */
async function pressKeys(page, keys) {
  const focused = async () => (await page.locator('[part~=day]:focus').getAttribute('aria-label')).split(/: \d/)[0]
  for (const [key, daysAgo] of keys) {
    await page.keyboard.press(key)
    await eventually(focused, date(daysAgo))
    assert.equal((await text(page, 'details')).split(/: \d/)[0], date(daysAgo))
  }
}

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

describe('year', () => {
  it('year has levels, 53 weeks and the names of months', async (t) => {
    const page = await open(t, { before: serveYear(YEAR) })
    await eventually(() => text(page, 'summary'), '125 points in the last year')
    assert.equal(await text(page, 'streak'), '4-day streak (best: 9).')
    assert.equal(await text(page, 'facts'), '7 active days')
    assert.deepEqual(
      await page.getByRole('row').evaluateAll((rows) => rows.map((row) => row.children.length)),
      Array(7).fill(53),
    )
    const levels = await Promise.all([0, 1, 2, 3, 4, 40, 200].map((daysAgo) => day(page, daysAgo).getAttribute('part')))
    assert.deepEqual(
      levels,
      [1, 1, 2, 4, 0, 2, 3].map((level) => `day level-${level}`),
    )
    assert.equal(await day(page, 3).getAttribute('aria-label'), `${date(3)}: 104 points`)
    assert.equal(await page.evaluate('events.at(-1)'), 'load')
    const first = await box(page, '[part~=day]')
    for (const daysAgo of [0, 1, 8, 100, 300]) {
      const weekday = (new Date(isoDate(daysAgo)).getUTCDay() + 6) % 7
      const today = (new Date(isoDate(0)).getUTCDay() + 6) % 7
      const { x, y, width } = await day(page, daysAgo).boundingBox()
      const pitch = width + 3
      const week = 52 - Math.floor((daysAgo + 6 - today) / 7)
      const row = await box(page, '[role=row]')
      assert.ok(Math.abs((x - row.x) / pitch - week) < 0.01, `${daysAgo}`)
      assert.ok(Math.abs((y - row.y) / pitch - weekday) < 0.01, `${daysAgo}`)
      assert.equal(width, first.width)
    }
    const names = (await page.locator('[part=months] > span').allTextContents()).filter(Boolean)
    assert.ok(names.length >= 11 && names.length <= 13, `${names}`)
    const all = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
    const firstMonth = all.indexOf(names[0])
    assert.deepEqual(
      names,
      names.map((_, index) => all[(firstMonth + index) % 12]),
    )
    assert.deepEqual(await page.locator('[part=weekdays] > span').allTextContents(), [
      'M',
      'T',
      'W',
      'T',
      'F',
      'S',
      'S',
    ])
    // The week of the first day of last month.
    const lastMonth = new Date()
    lastMonth.setUTCDate(0)
    const daysAgo = Math.round((Date.parse(isoDate(0)) - Date.parse(`${lastMonth.toISOString().slice(0, 8)}01`)) / DAY)
    const { x } = await day(page, daysAgo).boundingBox()
    const name = all[lastMonth.getUTCMonth()]
    const label = await page.locator('[part=months] > span').filter({ hasText: name }).last().boundingBox()
    assert.ok(Math.abs(label.x - x) < 1, `${name}: ${label.x}, ${x}`)
    assert.deepEqual(page.errors, [])
  })

  it('frozen days have stripes and a text', async (t) => {
    const points = Object.fromEntries(Array.from({ length: 20 }, (_, daysAgo) => [daysAgo, daysAgo % 5]))
    const page = await open(t, { before: serveYear(points, { current: 16, longest: 16 }, [5, 10, 15]) })
    await loaded(page)
    const backgroundOf = (daysAgo) => day(page, daysAgo).evaluate((cell) => getComputedStyle(cell).backgroundImage)
    assert.match(await backgroundOf(5), /^repeating-linear-gradient/)
    assert.equal(await backgroundOf(20), 'none')
    const label = `${date(5)}: 0 points · Streak frozen`
    assert.equal(await day(page, 5).getAttribute('aria-label'), label)
    assert.equal(await day(page, 20).getAttribute('aria-label'), `${date(20)}: 0 points`)
    await day(page, 5).hover()
    assert.equal(await text(page, 'details'), label.replace(' · ', '\n'))
    await page.emulateMedia({ forcedColors: 'active' })
    assert.match(await backgroundOf(5), /^repeating-linear-gradient/)
    await page.locator('activity-heatmap').evaluate((element) => {
      element.lang = 'zh-Hans'
    })
    await eventually(async () => (await text(page, 'details')).split('\n')[1], '连续活跃保护')
  })

  it('tooltip follows the pointer and the focus', async (t) => {
    const page = await open(t, { before: serveYear(YEAR), viewport: { width: 1000, height: 600 } })
    await loaded(page)
    const tooltip = page.locator('[part=details]')
    assert.equal(await tooltip.isVisible(), false)
    await day(page, 40).hover()
    await eventually(() => text(page, 'details'), `${date(40)}: 4 points`)
    const [cell, bubble, section] = await Promise.all([
      day(page, 40).boundingBox(),
      tooltip.boundingBox(),
      box(page, 'section'),
    ])
    assert.ok(bubble.y + bubble.height <= cell.y)
    assert.ok(bubble.x >= section.x && bubble.x + bubble.width <= section.x + section.width)
    await page.mouse.move(0, 0)
    await eventually(() => tooltip.isVisible(), false)
    await page.keyboard.press('Tab')
    await eventually(() => text(page, 'details'), `${date(0)}: 1 point`)
    await page.keyboard.press('Escape')
    await eventually(() => tooltip.isVisible(), false)
    await page.keyboard.press('ArrowLeft')
    await eventually(() => text(page, 'details'), `${date(7)}: 0 points`)
    await page.evaluate(() =>
      /** @type {any} */ (document.querySelector('activity-heatmap').shadowRoot.activeElement).blur(),
    )
    await eventually(() => tooltip.isVisible(), false)
  })

  it('keys move by day and by week, and select a day', async (t) => {
    const page = await open(t, { before: serveYear(YEAR) })
    await loaded(page)
    const last = (await cells(page).count()) - 1
    await page.keyboard.press('Tab')
    await pressKeys(page, [
      ['ArrowLeft', 7],
      ['ArrowUp', 8],
      ['ArrowDown', 7],
      ['ArrowRight', 0],
      ['ArrowRight', 0],
      ['ArrowDown', 0],
      ['Home', last],
      ['ArrowUp', last],
      ['ArrowLeft', last],
      ['End', 0],
    ])
    assert.equal(await page.locator('[part~=day][tabindex="0"]').count(), 1)
    await page.evaluate(() => {
      globalThis.selected = []
      document.body.addEventListener('dayselect', (event) =>
        globalThis.selected.push(/** @type {CustomEvent} */ (event).detail),
      )
    })
    await day(page, 40).click()
    await page.keyboard.press('Enter')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Space')
    assert.deepEqual(await page.evaluate('selected'), [
      { date: isoDate(40), points: 4 },
      { date: isoDate(40), points: 4 },
      { date: isoDate(47), points: 0 },
    ])
  })

  it('phone shows today, and the focus scrolls', async (t) => {
    const page = await open(t, { ...PHONE, before: serveYear(YEAR) })
    await loaded(page)
    const isInside = async (daysAgo) => {
      const [cell, area] = [await day(page, daysAgo).boundingBox(), await box(page, '[part=scroller]')]
      return cell.x >= area.x && cell.x + cell.width <= area.x + area.width
    }
    assert.equal(await scrollWidth(page), 320)
    assert.deepEqual([await isInside(0), await isInside(300)], [true, false])
    await page.keyboard.press('Tab')
    await page.keyboard.press('Home')
    const last = (await cells(page).count()) - 1
    await eventually(() => isInside(last), true)
    await page.keyboard.press('End')
    await eventually(() => isInside(0), true)
  })

  it('layout and arrow keys are mirrored in RTL', async (t) => {
    const body = `<div dir="rtl">${element()}</div>`
    const page = await app.open(t, body, { ...PHONE, before: serveYear(YEAR) })
    await setToken(page, app.token(user))
    await loaded(page)
    const [today, before, area] = [
      await day(page, 0).boundingBox(),
      await day(page, 7).boundingBox(),
      await box(page, '[part=scroller]'),
    ]
    assert.ok(today.x < before.x)
    assert.ok(today.x >= area.x)
    await page.keyboard.press('Tab')
    await pressKeys(page, [
      ['ArrowRight', 7],
      ['ArrowLeft', 0],
    ])
  })

  it('update changes other cells and keeps the focus', async (t) => {
    const points = { ...YEAR }
    const page = await open(t, { before: serveYear(points) })
    await loaded(page)
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowUp')
    await page.evaluate(() => {
      const heatmap = document.querySelector('activity-heatmap')
      globalThis.changed = []
      new MutationObserver((records) => {
        for (const { target } of records) {
          const { ariaLabel } = /** @type {Element} */ (target)
          if (!globalThis.changed.includes(ariaLabel)) globalThis.changed.push(ariaLabel)
        }
      }).observe(heatmap.shadowRoot.querySelector('[role=grid]'), {
        attributes: true,
        attributeFilter: ['part', 'aria-label'],
        childList: true,
        characterData: true,
        subtree: true,
      })
    })
    points[40] = 4.5
    await page.evaluate(() => document.querySelector('activity-heatmap').reload())
    await eventually(() => text(page, 'summary'), '125.5 points in the last year')
    assert.deepEqual(await page.evaluate('changed'), [`${date(40)}: 4.5 points`])
    assert.equal(await page.locator('[part~=day]:focus').getAttribute('aria-label'), `${date(1)}: 2 points`)
  })

  it('lang attribute selects 简体中文', async (t) => {
    const page = await open(t, { before: serveYear(YEAR) }, 'lang="zh-CN"')
    await eventually(() => text(page, 'summary'), '最近一年共 125 分')
    assert.equal(await text(page, 'legend'), '少\n多')
    assert.equal(await day(page, 0).count(), 0)
    assert.equal(await page.getByRole('gridcell', { name: `${date(0, 'zh-CN')}：1 分` }).count(), 1)
  })

  it('days attribute selects fewer days', async (t) => {
    const page = await openPublic(t, { before: (page) => page.route(ACTIVITY, (route) => route.abort()) }, 'days="180"')
    const urls = recordRequests(page, ACTIVITY)
    await page.evaluate(() => document.querySelector('activity-heatmap').reload())
    // It may have tried again meanwhile.
    await eventually(() => [...new Set(requestedDays(urls))], ['180'])
  })

  it('year attribute selects a year', async (t) => {
    const points = { '2024-01-01': 1, '2024-12-31': 2 }
    const year = {
      ...{ user: { id: user }, timezone: 'UTC', streak: { current: 0, longest: 0 }, years: ['2026', '2024'] },
      days: Array.from({ length: 366 }, (_, index) => {
        const date = new Date(Date.UTC(2024, 11, 31) - index * DAY).toISOString().slice(0, 10)
        return { date, points: points[date] ?? 0 }
      }),
    }
    const before = (page) => page.route(ACTIVITY, (route) => route.fulfill({ json: year, headers: CORS }))
    const page = await openPublic(t, { before }, 'year="2024"')
    await eventually(() => text(page, 'summary'), '3 points in 2024')
    const urls = recordRequests(page, ACTIVITY)
    assert.equal(await page.locator('[part~=day]').count(), 366)
    assert.deepEqual(await page.evaluate(() => document.querySelector('activity-heatmap').history.years), [
      '2026',
      '2024',
    ])
    assert.equal(await page.getByRole('gridcell', { name: /^Mon, Jan 1, 2024: 1 point$/ }).count(), 1)
    await page.evaluate(() => document.querySelector('activity-heatmap').removeAttribute('year'))
    await eventually(() => urls.map((url) => new URL(url).search), ['?days=366'])
    assert.deepEqual(page.errors, [])
  })

  for (const width of WIDTHS) {
    it(`loading in ${width} pixels shifts nothing`, async (t) => {
      let release = () => {}
      const before = async (page) => {
        await serveYear(YEAR)(page)
        release = await delayRequests(page, ACTIVITY)
      }
      const page = await open(t, { before, viewport: { width, height: 800 } })
      await page.locator('section.loading').waitFor()
      const empty = [await box(page, 'activity-heatmap'), await box(page, '[part=chart]')]
      release()
      await loaded(page)
      assert.deepEqual([await box(page, 'activity-heatmap'), await box(page, '[part=chart]')], empty)
      assert.equal(await layoutShift(page), 0)
      assert.equal(await scrollWidth(page), width)
    })
  }

  for (const colorScheme of SCHEMES) {
    it(`element passes axe in ${colorScheme} mode`, async (t) => {
      const page = await open(t, { before: serveYear(YEAR) }, `theme="${colorScheme}"`)
      await loaded(page)
      // In the last rows: above them the tooltip covers no name of a month.
      const isLow = (n) => [5, 6].includes(new Date(date(n)).getUTCDay())
      await day(page, isLow(40) ? 40 : [41, 42, 43, 44, 45, 46].find(isLow)).hover()
      await page.locator('[part=details]').waitFor()
      assert.deepEqual(await violations(page, 'activity-heatmap'), [])
    })
  }
})

describe('month', () => {
  it('31 days have texts and keys without an archive', async (t) => {
    await countSome()
    const page = await openPublic(t)
    const urls = recordRequests(page, ACTIVITY)
    await setToken(page, app.token(user))
    await eventually(() => text(page, 'summary'), '10 points on 3 of the last 31 days.')
    assert.equal(await cells(page).count(), 31)
    assert.equal(await text(page, 'streak'), '2-day streak (best: 2).')
    for (const [daysAgo, label] of [
      [0, '5 points · 2 likes, 4 points · 1 visit, 1 point'],
      [1, '3 points · 1 comment, 3 points'],
      [2, '0 points'],
    ]) {
      assert.equal(await day(page, daysAgo).getAttribute('aria-label'), `${date(daysAgo)}: ${label}`)
    }
    const parts = await Promise.all([0, 1, 2, 4].map((daysAgo) => day(page, daysAgo).getAttribute('part')))
    assert.deepEqual(parts, ['day level-4', 'day level-2', 'day level-0', 'day level-1'])
    assert.equal(await day(page, 4).innerText(), String(new Date(isoDate(4)).getUTCDate()))
    // The deployment is remembered.
    await page.evaluate(() => document.querySelector('activity-heatmap').reload())
    await eventually(() => requestedDays(urls), ['366', '31', '31'])
    assert.deepEqual(await page.evaluate('events.at(-1)'), 'load')
    const columns = await cells(page).evaluateAll((cells) =>
      cells.map((cell) => [...cell.parentElement.children].indexOf(cell)),
    )
    const expected = Array.from({ length: 31 }, (_, index) => (new Date(isoDate(30 - index)).getUTCDay() + 6) % 7)
    assert.deepEqual(columns, expected)
    assert.deepEqual(await page.locator('[part=months] > span').allTextContents(), ['M', 'T', 'W', 'T', 'F', 'S', 'S'])
    await day(page, 0).hover()
    await eventually(() => text(page, 'details'), `${date(0)}: 5 points\n2 likes, 4 points\n1 visit, 1 point`)
    await page.keyboard.press('Tab')
    await pressKeys(page, [
      ['ArrowLeft', 1],
      ['ArrowUp', 8],
      ['ArrowDown', 1],
      ['ArrowRight', 0],
      ['Home', 30],
      ['End', 0],
    ])
    assert.deepEqual(page.errors, [])
  })

  it('size is the same before and after loading', async (t) => {
    let release = () => {}
    const page = await open(t, { before: async (page) => (release = await delayRequests(page, ACTIVITY)) }, 'days="31"')
    const empty = await box(page, 'activity-heatmap')
    release()
    await eventually(() => cells(page).count(), 31)
    assert.deepEqual(await box(page, 'activity-heatmap'), empty)
    assert.ok((await layoutShift(page)) < 0.001)
  })

  for (const [colorScheme, options] of /** @type {[string, object][]} */ ([
    ['light', {}],
    ['dark', PHONE],
  ])) {
    it(`element passes axe in ${colorScheme} mode`, async (t) => {
      // Days of all levels.
      await app.count(
        [1, 2, 3, 4].flatMap((daysAgo) =>
          Array.from({ length: daysAgo }, (_, index) => activity('like', daysAgo, `${daysAgo}-${index}`)),
        ),
      )
      const page = await open(t, options, `theme="${colorScheme}"`)
      await eventually(() => cells(page).count(), 31)
      assert.deepEqual(await violations(page, 'activity-heatmap'), [])
    })
  }
})

describe('token', () => {
  it("another user's token shows nothing", async (t) => {
    const page = await open(t)
    await eventually(() => page.evaluate('events.at(-1)'), 'load')
    await setToken(page, app.token('somebody-else'))
    const message = 'This user token only grants access to the data of user somebody-else.'
    await eventually(() => page.evaluate('events.at(-1)'), message)
    await page.getByText('Sign in to see it').waitFor()
    // A token may be a string, which the HTML does not show.
    await page.evaluate((token) => {
      document.querySelector('activity-heatmap').token = token
    }, app.token(user))
    await eventually(() => cells(page).count(), 31)
    assert.equal((await page.content()).includes(app.token(user).slice(0, 20)), false)
  })

  it('public activity needs no token', async (t) => {
    await countSome()
    await app.request('PUT', `/v1/users/${user}`, { public_activity: true })
    const page = await openPublic(t)
    await eventually(() => text(page, 'summary'), '10 points on 3 of the last 31 days.')
    assert.equal(await day(page, 0).getAttribute('aria-label'), `${date(0)}: 5 points`)
    assert.deepEqual(await page.evaluate('events'), ['load'])
  })

  it('private activity shows the fallback content', async (t) => {
    const page = await openPublic(t)
    await page.getByText('Sign in to see it').waitFor()
    assert.equal(await page.getByRole('gridcell').count(), 0)
    await eventually(() => page.evaluate('events.length'), 1)
    assert.match(await page.evaluate('events[0]'), /token|credential|Authorization/i)
  })

  it('page sets the token before the first request', async (t) => {
    const body = `${element()}<script type="module">
      document.querySelector('activity-heatmap').token = '${app.token(user)}'
    </script>`
    const authorized = []
    const before = (page) =>
      page.on('request', async (request) => {
        if (ACTIVITY.test(request.url()) && request.method() === 'GET') {
          authorized.push('authorization' in request.headers())
        }
      })
    const page = await app.open(t, body, { before })
    await eventually(() => cells(page).count(), 31)
    assert.deepEqual(authorized, [true, true])
  })
})
