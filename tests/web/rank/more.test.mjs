// <activity-rank>: the button that shows further rows.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { eventually, names, violations } from '../support.mjs'
import {
  answer,
  app,
  boardOf,
  box,
  countLikes,
  crowd,
  element,
  group,
  members,
  rowCount,
  text,
  useApp,
} from './support.mjs'

useApp()

const button = (page) => page.getByRole('button', { name: 'Show more' })
const ids = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => `m${from + index}`)

/**
 * Opens an element with a board of many members. `respond` may answer a page; `boards` has the query of each request.
 * @param {any} t
 * @param {number} total
 * @param {Record<string, any>} [options]
 */
async function open(t, total, { attributes = '', respond = undefined, ...options } = {}) {
  const entries = boardOf(members(total)).entries
  const queries = []
  const before = async (page) => {
    await answer(page, { winners: { boards: [] } })
    await page.route(/\/v1\/ranking\/\w+\?/, async (route) => {
      const query = new URL(route.request().url()).searchParams
      const [limit, offset] = ['limit', 'offset'].map((name) => Number(query.get(name)))
      queries.push(`${limit} from ${offset}`)
      const response = await respond?.(offset)
      const json = boardOf([], { total, entries: entries.slice(offset, offset + limit) })
      const headers = { 'access-control-allow-origin': '*' }
      await route.fulfill(response ? { ...response, headers } : { json, headers })
    })
  }
  const body = element(`period="week" ${attributes}`).replace('refresh="1"', 'refresh="0"')
  const page = await app.open(t, `${body}<p id="below">Below</p>`, { before, reducedMotion: 'reduce', ...options })
  await eventually(() => rowCount(page), Math.min(10, total))
  return { page, queries }
}

describe('show more', () => {
  it('list doubles with each press until its end', async (t) => {
    const { page, queries } = await open(t, 215)
    for (const rows of [20, 40, 80, 160, 215]) {
      await button(page).click()
      await eventually(() => rowCount(page), rows)
    }
    assert.equal(await button(page).count(), 0)
    assert.deepEqual(queries, ['10 from 0', '10 from 10', '20 from 20', '40 from 40', '80 from 80', '100 from 160'])
    const ranks = await page.locator('tbody [part=rank]').allTextContents()
    assert.deepEqual(
      ranks,
      Array.from({ length: 215 }, (_, index) => `${index + 1}`),
    )
    assert.deepEqual(page.errors, [])
  })

  it('rows of the Worker are extended and kept live', async (t) => {
    await countLikes(crowd(5))
    const page = await app.open(t, element('limit="2"'))
    await eventually(() => names(page), ids(1, 2))
    await button(page).click()
    await eventually(() => names(page), ids(1, 4))
    await button(page).click()
    await eventually(() => names(page), ids(1, 5))
    const likes = [1, 2].map((n) => ({ user: 'm5', action: 'like', target: `${group}-more-${n}`, groups: [group] }))
    await app.count(likes)
    await eventually(() => names(page), ['m1', 'm2', 'm3', 'm5', 'm4'])
    // Another board begins at its top.
    await page.getByRole('tab', { name: 'Week' }).click()
    await eventually(() => names(page), ids(1, 2))
  })

  it('keyboard focus goes to the first new row', async (t) => {
    const { page } = await open(t, 30, { attributes: 'member-url="/u/{user}"' })
    const focused = () => page.evaluate(() => document.activeElement.shadowRoot.activeElement.closest('tr')?.rowIndex)
    await button(page).focus()
    await page.keyboard.press('Enter')
    await eventually(focused, 11)
    assert.equal(await page.locator('a:focus').getAttribute('href'), `${app.pages}/u/m11`)
    await page.evaluate(() => (document.querySelector('activity-rank').memberUrl = null))
    await eventually(() => page.getByRole('link').count(), 0)
    await button(page).focus()
    await page.keyboard.press('Enter')
    await eventually(focused, 21)
  })

  it('space is reserved at once, and nothing else moves', async (t) => {
    const { promise: gate, resolve: release } = Promise.withResolvers()
    const respond = (offset) => (offset ? gate : undefined)
    const viewport = { width: 390, height: 1000 }
    const { page } = await open(t, 15, { respond, viewport, attributes: 'winners="none"' })
    const before = await box(page, 'tbody tr:nth-child(10)')
    await button(page).click()
    await page.locator('[part=more][aria-disabled]').waitFor()
    const reserved = [await box(page, 'activity-rank'), await box(page, '#below')]
    release(undefined)
    await eventually(() => rowCount(page), 15)
    assert.deepEqual([await box(page, 'activity-rank'), await box(page, '#below')], reserved)
    assert.deepEqual(await box(page, 'tbody tr:nth-child(10)'), before)
  })

  it('failed page leaves the board and the button', async (t) => {
    let isFailing = true
    const respond = (offset) => (offset && isFailing ? { status: 503, json: {} } : undefined)
    const { page } = await open(t, 30, { respond })
    const { height } = await box(page, 'activity-rank')
    await button(page).click()
    await eventually(async () => (await text(page, 'status')).startsWith('Could not refresh.'), true)
    assert.equal(await rowCount(page), 10)
    assert.equal((await box(page, 'activity-rank')).height, height)
    isFailing = false
    await button(page).click()
    await eventually(() => rowCount(page), 20)
  })

  it('complete boards and podiums have no button', async (t) => {
    const { page } = await open(t, 10)
    assert.equal(await button(page).count(), 0)
    await page.evaluate(() => (document.querySelector('activity-rank').layout = 'podium'))
    await eventually(() => rowCount(page), 3)
    assert.equal(await button(page).count(), 0)
  })

  it('extended list passes axe', async (t) => {
    const { page } = await open(t, 30, { viewport: { width: 768, height: 3000 } })
    await button(page).click()
    await eventually(() => rowCount(page), 20)
    assert.deepEqual(await violations(page, 'activity-rank'), [])
  })
})
