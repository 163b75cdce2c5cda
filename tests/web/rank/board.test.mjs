// <activity-rank> on pages of another origin, in Chromium: boards, and a member's own place.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { eventually } from '../support.mjs'
import { ELEMENT, box, crowd, events, group, likes, names, profiles, requests, scores, site, text } from './support.mjs'

describe('a board', () => {
  it('has the first of a group in their order, and the first three set off', async (t) => {
    await likes(crowd(4))
    await profiles(t, [
      { id: 'm1', name: 'Ada Lovelace', url: 'https://example.com/ada' },
      { id: 'm2', name: '王小明' },
    ])
    const page = await site.open(t, ELEMENT, { before: events })
    await eventually(() => names(page), ['Ada Lovelace', '王小明', 'm3', 'm4'])
    assert.deepEqual(await scores(page), ['8', '6', '4', '2'])
    const parts = await page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.getAttribute('part')))
    assert.deepEqual(parts, ['row first', 'row second', 'row third', 'row'])
    assert.deepEqual(await page.locator('tbody [part=avatar]').allTextContents(), ['AL', '王', 'm', 'm'])
    assert.equal(await page.locator('tbody a').getAttribute('rel'), 'nofollow ugc noopener noreferrer')
    assert.equal(await text(page, 'facts'), '4 members · Asia/Shanghai')
    assert.deepEqual(await page.evaluate('events'), ['load'])
    assert.deepEqual(page.errors, [])
  })

  it('moves a row within two seconds of a like in another tab, and back after its undo', async (t) => {
    await likes({ ada: 2, bob: 1 })
    await site.call('POST', '/v1/activity', { user: 'bob', action: 'like', target: `${group}-x`, groups: [group] })
    const page = await site.open(t, ELEMENT, { before: events })
    await eventually(() => names(page), ['ada', 'bob'])
    const tab = await site.open(t, '', {})
    const send = (activity) =>
      tab.evaluate(
        async ([url, key, activity]) => {
          const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
          const answer = await fetch(`${url}/v1/activity`, { method: 'POST', headers, body: JSON.stringify(activity) })
          return answer.json()
        },
        [site.url, site.serviceKey, activity],
      )
    const like = { user: 'bob', action: 'like', target: `${group}-y`, groups: [group] }
    assert.equal((await send(like)).outcome, 'counted')
    await eventually(() => names(page), ['bob', 'ada'], 2000)
    assert.equal((await send({ ...like, undo: true })).outcome, 'undone')
    await eventually(() => names(page), ['ada', 'bob'], 2000)
    // Equal points: who had them first is first.
    assert.deepEqual(await scores(page), ['4', '4'])
  })

  it('shows the other periods by tabs, and one that is switched off no more', async (t) => {
    await likes({ ada: 1 })
    await likes({ bob: 3 }, new Date(Date.now() - 500 * 864e5).toISOString())
    const page = await site.open(t, ELEMENT)
    await eventually(() => names(page), ['ada'])
    await page.getByRole('tab', { name: 'All time' }).click()
    await eventually(() => names(page), ['bob', 'ada'])
    assert.equal(await text(page, 'title'), 'All time')
    assert.equal(await page.locator('activity-rank').getAttribute('period'), 'all')
    assert.deepEqual(await page.getByRole('tab').allTextContents(), ['Day', 'Week', 'Month', 'Year', 'All time'])
    await page.getByRole('tab', { name: 'Year' }).click()
    await eventually(() => page.locator('[role=tab]:visible').allTextContents(), ['Day', 'Week', 'Month', 'All time'])
    await eventually(() => names(page), ['ada'])
  })

  it('goes to earlier days by arrows, and back to now', async (t) => {
    const yesterday = new Date(Date.now() - 864e5)
    await likes({ ada: 1 })
    await likes({ bob: 1 }, yesterday.toISOString())
    const page = await site.open(t, ELEMENT)
    await eventually(() => names(page), ['ada'])
    const title = await text(page, 'title')
    const later = page.getByRole('button', { name: 'Later' })
    assert.equal(await later.getAttribute('aria-disabled'), 'true')
    await page.getByRole('button', { name: 'Earlier' }).click()
    await eventually(() => names(page), ['bob'])
    const date = new Intl.DateTimeFormat('sv', { timeZone: 'Asia/Shanghai' }).format(yesterday)
    assert.equal(await page.locator('activity-rank').getAttribute('date'), date)
    const fields = { year: 'numeric', month: 'short', day: 'numeric', timeZone: 'Asia/Shanghai' }
    assert.equal(await text(page, 'title'), new Intl.DateTimeFormat('en', fields).format(yesterday))
    await later.click()
    await eventually(() => names(page), ['ada'])
    await eventually(() => page.locator('activity-rank').getAttribute('date'), null)
    await eventually(() => text(page, 'title'), title)
  })

  it('says so where nobody has been counted', async (t) => {
    const page = await site.open(t, ELEMENT)
    await eventually(() => text(page, 'empty'), 'Nobody has been counted yet.')
    await page.getByRole('button', { name: 'Earlier' }).click()
    await eventually(() => text(page, 'empty'), 'Nobody was counted, or this has expired.')
  })

  it('shows a name that is markup as the text it is', async (t) => {
    await likes({ evil: 1 })
    const name = '<img src=x onerror="document.title=1"><b>'
    await profiles(t, [{ id: 'evil', name }])
    const page = await site.open(t, ELEMENT.replace('refresh', 'user="evil" refresh'))
    await eventually(() => names(page), [name])
    await eventually(() => page.locator('[part=own] [part=name]').textContent(), name)
    assert.equal(await page.title(), 'A page')
    assert.equal(await page.locator('section b').count(), 0)
  })

  it('has initials where a picture cannot be had', async (t) => {
    await likes({ ada: 1 })
    await profiles(t, [{ id: 'ada', name: 'Ada', avatar: 'https://127.0.0.1:1/ada.png' }])
    const page = await site.open(t, ELEMENT)
    await eventually(() => names(page), ['Ada'])
    await eventually(() => page.locator('tbody img').count(), 0)
    assert.equal(await page.locator('tbody [part=avatar]').textContent(), 'A')
  })
})

describe("a member's own place", () => {
  const own = (user) => ELEMENT.replace('refresh', `user="${user}" limit="3" refresh`)

  it('is in sight below a board they are not on, with the way to the next', async (t) => {
    await likes(crowd(6))
    const page = await site.open(t, own('m5'))
    await eventually(() => names(page), ['m1', 'm2', 'm3'])
    await eventually(() => text(page, 'details'), '3 points to rank 4 · Percentile 33.3')
    assert.equal(await page.locator('[part=own] [part=rank]').textContent(), '5')
    assert.equal(await page.locator('[part=own] [part=score]').textContent(), '4')
    assert.equal(await page.locator('[part~=own-row]').count(), 0)
  })

  it('stays in sight while a long board is scrolled', async (t) => {
    await likes(crowd(30))
    const viewport = { width: 400, height: 500 }
    const page = await site.open(t, own('m30').replace('limit="3"', 'limit="29"'), { viewport })
    await eventually(() => page.locator('tbody tr').count(), 29)
    for (const scrolled of [100, 500, 1e6]) {
      await page.evaluate((y) => scrollTo(0, y), scrolled)
      const { y, height } = await box(page, '[part=own]')
      assert.ok(y >= 0 && y + height <= 500, `${scrolled}: ${y}`)
    }
  })

  it('is marked on a board they are on', async (t) => {
    await likes(crowd(3))
    const page = await site.open(t, own('m2'))
    await eventually(() => page.locator('[part~=own-row] [part=name]').allTextContents(), ['m2'])
    assert.equal(await page.locator('[part~=own-row]').getAttribute('aria-current'), 'true')
    await eventually(() => text(page, 'details'), '3 points to rank 1 · Percentile 66.7')
  })

  it('is marked when they come, and no more when they leave', async (t) => {
    await likes(crowd(2))
    const page = await site.open(t, ELEMENT)
    await eventually(() => names(page), ['m1', 'm2'])
    const marked = () => page.locator('[aria-current] [part=name]').allTextContents()
    assert.deepEqual(await marked(), [])
    const element = page.locator('activity-rank')
    for (const user of ['m2', 'm1']) {
      await element.evaluate((element, user) => (element.user = user), user)
      await eventually(marked, [user])
    }
    await element.evaluate((element) => (element.user = null))
    await eventually(marked, [])
  })

  it('is told by the board alone while they are on it', async (t) => {
    await likes(crowd(3))
    const seen = []
    const page = await site.open(t, own('m3'), { before: (page) => seen.push(requests(page, /\/users\//)) })
    await eventually(() => text(page, 'details'), '3 points to rank 2 · Percentile 33.3')
    await likes({ m3: 1 }, new Date().toISOString())
    await eventually(() => text(page, 'details'), '1 point to rank 2 · Percentile 33.3')
    assert.equal(seen[0].length, 1)
  })

  it('says so where they have none', async (t) => {
    await likes(crowd(1))
    const page = await site.open(t, own('nobody'))
    await eventually(() => text(page, 'details'), 'Not on this board yet.')
    assert.equal(await page.locator('[part=own] [part=rank]').textContent(), '–')
  })

  it('tells how far it has moved since the last look, and fires rankchange when it moves', async (t) => {
    await likes({ ada: 3, bob: 2, eve: 1 })
    const page = await site.open(t, own('eve'), { before: events })
    await eventually(() => page.locator('[part=own] [part=rank]').textContent(), '3')
    assert.equal(await page.locator('[part~=movement]').textContent(), '')
    await site.count(['x', 'y', 'z'].map((target) => ({ user: 'eve', action: 'like', target: group + target, groups: [group] })))
    await eventually(() => page.locator('[part=own] [part=rank]').textContent(), '1')
    assert.deepEqual(await page.evaluate('events'), ['load', ['rankchange', 3, 1]])
    await page.reload()
    await eventually(() => page.locator('[part=own] [part=rank]').textContent(), '1')
    assert.equal(await page.locator('[part~=movement]').textContent(), '')
    // On a page without the element, which would remember what it sees.
    const url = page.url()
    await page.goto(site.serve('/empty.html', (_, response) => response.end()))
    await page.evaluate(() => {
      const key = Object.keys(localStorage).find((key) => key.includes('activity-rank'))
      const seen = JSON.parse(localStorage[key])
      seen.day[1] = 3
      localStorage[key] = JSON.stringify(seen)
    })
    await page.goto(url)
    await eventually(() => page.locator('[part~=movement]').textContent(), '▲ 2')
    assert.equal(await page.locator('[part~=movement]').getAttribute('aria-label'), 'up 2 since your last look')
  })
})
