// <activity-rank> on pages of another origin: boards, and the row of one's own.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { eventually, names, recordRequests, sendFrom } from '../support.mjs'
import {
  app,
  attribute,
  box,
  countLikes,
  crowd,
  element,
  group,
  ownRank,
  putProfiles,
  recordEvents,
  rowCount,
  scores,
  text,
  useApp,
} from './support.mjs'

useApp()

const ELEMENT = element()

describe('board', () => {
  it('rows have profiles, and medals for the top three', async (t) => {
    await countLikes(crowd(4))
    await putProfiles(t, [
      { id: 'm1', name: 'Ada Lovelace', url: 'https://example.com/ada' },
      { id: 'm2', name: '王小明' },
      { id: 'm3', name: 'Bob', avatar: 'https://127.0.0.1:1/bob.png' },
    ])
    const page = await app.open(t, ELEMENT, { before: recordEvents })
    await eventually(() => names(page), ['Ada Lovelace', '王小明', 'Bob', 'm4'])
    assert.deepEqual(await scores(page), ['8', '6', '4', '2'])
    const parts = await page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.getAttribute('part')))
    assert.deepEqual(parts, ['row first', 'row second', 'row third', 'row'])
    // Initials replace a broken avatar.
    await eventually(() => page.locator('tbody [part=avatar]').allTextContents(), ['AL', '王', 'B', 'm'])
    assert.equal(await page.locator('tbody img').count(), 0)
    assert.equal(await page.locator('tbody a').getAttribute('rel'), 'nofollow ugc noopener noreferrer')
    assert.match(await text(page, 'facts'), /^4 members · (\d+ hr ?)?(\d+ min ?)?left$/)
    assert.deepEqual(await page.evaluate('events'), ['load'])
    assert.deepEqual(page.errors, [])
  })

  it('polled row moves after a like', async (t) => {
    await countLikes({ ada: 2, bob: 1 })
    const like = (target) => ({ user: 'bob', action: 'like', target: `${group}-${target}`, groups: [group] })
    await app.count([like('x')])
    const page = await app.open(t, ELEMENT, { before: recordEvents })
    await eventually(() => names(page), ['ada', 'bob'])
    const tab = await app.open(t, '')
    assert.deepEqual(await sendFrom(tab, app, [like('y')]), ['counted'])
    await eventually(() => names(page), ['bob', 'ada'])
    assert.deepEqual(await sendFrom(tab, app, [{ ...like('y'), undo: true }]), ['undone'])
    await eventually(() => names(page), ['ada', 'bob'])
    // Of equal scores, the one reached first ranks higher.
    await eventually(() => scores(page), ['4', '4'])
  })

  it('event has a board without tabs', async (t) => {
    const from = Date.now() + 40_000
    const at = (seconds) => new Date(from + seconds * 1000).toISOString()
    const event = `hackathon-${group}`
    t.after(() => app.request('DELETE', `/v1/events/${event}`))
    await app.request('PUT', `/v1/events/${event}`, { title: 'Hackathon', from: at(0), to: at(3 * 86_400) })
    const like = (user, number) => ({ user, action: 'like', target: `${event}-${number}`, at: at(1) })
    await app.count([like('ada', 1), like('ada', 2), like('bob', 1)])
    const page = await app.open(t, element(`event="${event}" user="bob"`))
    await eventually(() => names(page), ['ada', 'bob'])
    assert.equal(await text(page, 'title'), 'Hackathon')
    assert.match(await text(page, 'facts'), /^2 members · \w+ \d+/)
    assert.equal(await ownRank(page), '2')
    assert.equal(await page.locator('[role=tab]:visible, [part~=arrow]:visible').count(), 0)
    await app.count([like('bob', 3), like('bob', 4)])
    await eventually(() => names(page), ['bob', 'ada'])
    await eventually(() => ownRank(page), '1')
    assert.deepEqual(page.errors, [])
  })

  it('tabs select the period, but not a disabled one', async (t) => {
    await countLikes({ ada: 1 })
    await countLikes({ bob: 3 }, new Date(Date.now() - 500 * 864e5).toISOString())
    const page = await app.open(t, ELEMENT)
    await eventually(() => names(page), ['ada'])
    await page.getByRole('tab', { name: 'All time' }).click()
    await eventually(() => names(page), ['bob', 'ada'])
    assert.equal(await text(page, 'title'), 'All time')
    assert.equal(await attribute(page, 'period'), 'all')
    assert.deepEqual(await page.getByRole('tab').allTextContents(), ['Day', 'Week', 'Month', 'Year', 'All time'])
    await page.getByRole('tab', { name: 'Year' }).click()
    await eventually(() => page.locator('[role=tab]:visible').allTextContents(), ['Day', 'Week', 'Month', 'All time'])
    await eventually(() => names(page), ['ada'])
  })

  it('arrows lead to earlier days and back', async (t) => {
    const yesterday = new Date(Date.now() - 864e5)
    await countLikes({ ada: 1 })
    await countLikes({ bob: 1 }, yesterday.toISOString())
    const page = await app.open(t, ELEMENT)
    await eventually(() => names(page), ['ada'])
    const title = await text(page, 'title')
    const next = page.getByRole('button', { name: 'Next' })
    assert.equal(await next.getAttribute('aria-disabled'), 'true')
    await page.getByRole('button', { name: 'Previous' }).click()
    await eventually(() => names(page), ['bob'])
    const date = new Intl.DateTimeFormat('sv', { timeZone: 'Asia/Shanghai' }).format(yesterday)
    assert.equal(await attribute(page, 'date'), date)
    const format = new Intl.DateTimeFormat('en', {
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      timeZone: 'Asia/Shanghai',
    })
    assert.equal(await text(page, 'title'), format.format(yesterday))
    await next.click()
    await eventually(() => names(page), ['ada'])
    await eventually(() => attribute(page, 'date'), null)
    await eventually(() => text(page, 'title'), title)
  })

  it('free places are shown below two rows and more', async (t) => {
    await countLikes({ ada: 2, bob: 1 })
    const page = await app.open(t, element('limit="5"'))
    await eventually(() => text(page, 'free'), 'Places 3 to 5 are free.')
    await page.evaluate(() => document.querySelector('activity-rank').setAttribute('limit', '4'))
    await eventually(() => page.locator('[part=free]').textContent(), '')
  })

  it('empty board has a text', async (t) => {
    const page = await app.open(t, ELEMENT)
    await eventually(() => text(page, 'empty'), 'Nobody yet. Be the first today.')
    await page.getByRole('button', { name: 'Previous' }).click()
    await eventually(() => text(page, 'empty'), 'No activity, or the data has expired.')
  })

  it('markup in a name is shown as text', async (t) => {
    await countLikes({ evil: 1 })
    const name = '<img src=x onerror="document.title=1"><b>'
    await putProfiles(t, [{ id: 'evil', name }])
    const page = await app.open(t, element('user="evil"'))
    await eventually(() => names(page), [name])
    await eventually(() => page.locator('[part=own] [part=name]').textContent(), name)
    assert.equal(await page.title(), 'A page')
    assert.equal(await page.locator('section b').count(), 0)
  })
})

describe('own row', () => {
  const own = (user, limit = 3) => element(`user="${user}" limit="${limit}"`)

  it('own row stays visible while scrolling', async (t) => {
    await countLikes(crowd(30))
    const page = await app.open(t, own('m30', 29), { viewport: { width: 400, height: 500 } })
    await eventually(() => rowCount(page), 29)
    for (const scrolled of [100, 500, 1e6]) {
      await page.evaluate((y) => scrollTo(0, y), scrolled)
      // The observer of the own row reports after the frame in which the page has scrolled.
      await eventually(async () => {
        const { y, height } = await box(page, '[part=own]')
        return y >= 0 && y + height <= 500
      }, true)
    }
  })

  it('row, text and share follow the user attribute', async (t) => {
    await countLikes(crowd(3))
    const page = await app.open(t, ELEMENT)
    await eventually(() => names(page), ['m1', 'm2', 'm3'])
    const highlighted = () => page.locator('[part~=own-row][aria-current=true] [part=name]').allTextContents()
    assert.deepEqual(await highlighted(), [])
    const setUser = (user) => page.evaluate((user) => (document.querySelector('activity-rank').user = user), user)
    for (const [user, rows, details, top] of [
      ['m2', ['m2'], '3 points to rank 1', ''],
      ['m1', ['m1'], 'First place', 'Top 34%'],
      ['nobody', [], 'Not ranked yet.', ''],
    ]) {
      await setUser(user)
      await eventually(highlighted, rows)
      await eventually(() => text(page, 'details'), details)
      assert.equal(await page.locator('[part=top]').textContent(), top)
    }
    assert.equal(await ownRank(page), '–')
    await setUser(null)
    await eventually(highlighted, [])
  })

  it('user on the board costs one standing request', async (t) => {
    await countLikes(crowd(3))
    let urls = []
    const page = await app.open(t, own('m3'), { before: (page) => (urls = recordRequests(page, /\/users\//)) })
    await eventually(() => text(page, 'details'), '3 points to rank 2')
    await countLikes({ m3: 1 }, new Date().toISOString())
    await eventually(() => text(page, 'details'), '1 point to rank 2')
    assert.equal(urls.length, 1)
  })

  it('rank change fires an event', async (t) => {
    await countLikes({ ada: 3, bob: 2, eve: 1 })
    const page = await app.open(t, own('eve'), { before: recordEvents })
    await eventually(() => ownRank(page), '3')
    await app.count(
      ['x', 'y', 'z'].map((target) => ({ user: 'eve', action: 'like', target: group + target, groups: [group] })),
    )
    await eventually(() => ownRank(page), '1')
    assert.deepEqual(await page.evaluate('events'), ['load', ['rankchange', 3, 1]])
  })
})
