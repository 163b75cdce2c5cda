// The calendar of a member's page, with an archive: years, the changes of a day, and points that no day has yet.

import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'

import { delayRequests, eventually, PHONE, scrollWidth, startApp, violations } from './support.mjs'

const DAY = 864e5 // ms
const at = (back) => new Date(Date.now() - back * DAY).toISOString()
const THIS_YEAR = Number(at(0).slice(0, 4))
const LAST_YEAR = String(THIS_YEAR - 1)
const LONG_AGO = `${THIS_YEAR - 2}-03-05`

let app

before(async () => {
  app = await startApp({ databases: true, vars: { CRON_BUDGET: 1000 } })
  await app.request('PUT', '/v1/users', [{ id: 'ada', name: 'Ada', public_activity: true }])
  await app.count([
    { user: 'ada', action: 'comment', target: 'late', at: at(0) },
    { user: 'ada', action: 'like', target: 'early', at: at(1 / 86_400) },
    { user: 'ada', action: 'publish', target: 'old', at: `${LAST_YEAR}-06-15T12:00:00Z` },
    { user: 'ada', action: 'like', target: 'older', at: `${LONG_AGO}T12:00:00Z` },
    { user: 'new', action: 'like', target: 'x', at: at(0) },
    { user: 'new', action: 'like', target: 'y', at: at(60) },
  ])
})
after(() => app?.stop())

const open = (t, member, as = undefined, options = {}) =>
  app.visit(t, `${app.url}/u/${member}${as ? `#token=${app.token(as)}` : ''}`, options)

const summary = (page) => page.locator('activity-heatmap [part=summary]').innerText()
const yearsOf = (page) => page.locator('#years button').allInnerTexts()

it('points that no day has yet are named', async (t) => {
  // Nothing is archived: the day 60 days ago is not known.
  const page = await open(t, 'new', 'new')
  await page.locator('activity-heatmap').waitFor()
  const isThisYear = at(60).slice(0, 4) === String(THIS_YEAR)
  const note = page.locator('#year-note')
  if (isThisYear) await eventually(() => note.innerText(), NOTE)
  await app.runCron()
  await page.reload()
  await eventually(() => summary(page), '4 points in the last year')
  await eventually(() => note.isVisible(), false)
  assert.deepEqual(page.errors, [])
})
const NOTE =
  '2 points of this year are not in the calendar: it has closed days from the archive, which follows within hours.'

it('years are switched, others see no changes of a day', async (t) => {
  await app.runCron()
  const page = await open(t, 'ada')
  // Others see no changes of a day.
  await page.locator('activity-heatmap [part~=day][tabindex="0"]').click()
  assert.equal(await page.locator('#day').isVisible(), false)
  await eventually(() => yearsOf(page), ['Last year', String(THIS_YEAR), LAST_YEAR, String(THIS_YEAR - 2)])
  await page.getByRole('button', { name: LAST_YEAR }).click()
  await eventually(() => summary(page), `10 points in ${LAST_YEAR}`)
  assert.equal(await page.locator('#years [aria-pressed=true]').innerText(), LAST_YEAR)
  assert.equal(await page.evaluate('document.activeElement.textContent'), LAST_YEAR)
  assert.equal(await page.locator('activity-heatmap [part~=level-4][role=gridcell]').count(), 1)
  await page.getByRole('button', { name: String(THIS_YEAR - 2) }).click()
  await eventually(() => summary(page), `2 points in ${THIS_YEAR - 2}`)
  await page.getByRole('button', { name: 'Last year' }).click()
  await eventually(() => summary(page).then((text) => text.endsWith('in the last year')), true)
  const recaps = await page.locator('#recaps a').allInnerTexts()
  assert.deepEqual(recaps.slice(0, 3), [String(THIS_YEAR), LAST_YEAR, String(THIS_YEAR - 2)])
  assert.deepEqual(page.errors, [])
})

it('member sees what was done on a day', async (t) => {
  await app.runCron()
  const page = await open(t, 'ada', 'ada')
  const today = page.locator('activity-heatmap [part~=day][tabindex="0"]')
  await today.click()
  const items = page.locator('#day .entries > li')
  await eventually(
    async () => (await items.allInnerTexts()).map((text) => text.split('\n')[0]),
    ['You commented on “late”', 'You liked “early”'],
  )
  assert.equal(await page.evaluate('document.activeElement.id'), 'day-title')
  const long = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeZone: 'UTC' }).format(Date.now())
  assert.equal(await page.locator('#day-title').innerText(), long)
  assert.deepEqual(await violations(page), [])
  await page.locator('#day').getByRole('button', { name: 'Close' }).click()
  assert.equal(await page.locator('#day').isVisible(), false)
  // By keyboard, and a day without changes.
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Enter')
  await eventually(() => page.locator('#day-content').innerText(), 'Nothing yet.')
  assert.deepEqual(page.errors, [])
})

it('a day of an earlier year is found in the journal', async (t) => {
  await app.runCron()
  const page = await open(t, 'ada', 'ada', PHONE)
  await page.getByRole('button', { name: LAST_YEAR }).click()
  await page.locator('activity-heatmap [role=gridcell][part~=level-4]').click()
  await eventually(() => page.locator('#day .entries > li p').first().innerText(), 'You published “old”')
  assert.equal(await scrollWidth(page), PHONE.viewport.width)
})

it('slow answer about another day is dropped', async (t) => {
  const page = await open(t, 'ada', 'ada')
  const today = page.locator('activity-heatmap [part~=day][tabindex="0"]')
  await today.waitFor()
  const isOfToday = new RegExp(`/points\\?.*date=${at(0).slice(0, 10)}`)
  const release = await delayRequests(page, isOfToday)
  const isAnswered = page.waitForResponse(isOfToday)
  await today.click()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Enter')
  await eventually(() => page.locator('#day-content').innerText(), 'Nothing yet.')
  const title = await page.locator('#day-title').innerText()
  release()
  await (await isAnswered).finished()
  assert.equal(await page.locator('#day-content').innerText(), 'Nothing yet.')
  assert.equal(await page.locator('#day-title').innerText(), title)
})
