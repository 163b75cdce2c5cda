// <activity-rank>: movement, levels, time left, winners, the row of one's own, content and authors.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { eventually, names, recordRequests } from '../support.mjs'
import { answer, app, boardOf, box, countLikes, crowd, element, group, members, rowCount, text } from './support.mjs'

const WEEK = element('period="week"')

/**
 * Opens an element with a board of its own.
 * @param {Record<string, any>} options HTML of the page, and further answers
 */
const open = (t, board, options = {}) => {
  const { body = WEEK, ...answers } = options
  return app.open(t, body, { before: (page) => answer(page, { board, ...answers }) })
}

describe('rows', () => {
  const movements = (page) => page.locator('tbody [part~=movement]').allTextContents()

  it('movement is shown on every row', async (t) => {
    const page = await open(t, boardOf(members(5)))
    await eventually(() => movements(page), ['▲2', '', '▼2', 'new', '▲7'])
    const labels = await page
      .locator('tbody [part~=movement]')
      .evaluateAll((all) => all.map((movement) => [movement.getAttribute('part'), movement.ariaLabel]))
    assert.deepEqual(labels, [
      ['movement up', 'Up 2 since the last period'],
      ['movement same', null],
      ['movement down', 'Down 2 since the last period'],
      ['movement new', null],
      ['movement up', 'Up 7 since the last period'],
    ])
  })

  it('first board ever has no new rows', async (t) => {
    const entries = ['ada', 'bob'].map((id) => ({ user: { id }, previous_rank: null }))
    const page = await open(t, boardOf(entries))
    await eventually(() => movements(page), ['', ''])
  })

  it('movement is requested for boards of periods', async (t) => {
    let urls = []
    const body = [WEEK, element('period="all"'), element('event="hackathon"'), element('of="authors"')].join('')
    const page = await app.open(t, body.replaceAll('refresh="1"', 'refresh="0" winners="none"'), {
      before: async (page) => (urls = await answer(page, { board: boardOf(members(1)) })),
    })
    await eventually(() => rowCount(page), 4)
    const queries = Object.fromEntries(urls.map((url) => [new URL(url).pathname, new URL(url).search]))
    assert.deepEqual(queries, {
      '/v1/ranking/week': `?limit=10&group=${group}&movement=true`,
      '/v1/ranking/all': `?limit=10&group=${group}`,
      '/v1/events/hackathon/ranking': '?limit=10',
      '/v1/authors/day': '?limit=10',
    })
  })

  it('movement of the Worker follows the day before', async (t) => {
    const yesterday = new Date(Date.now() - 864e5).toISOString()
    await countLikes({ ada: 2, bob: 1 }, yesterday)
    await countLikes({ bob: 3, ada: 2, eve: 1 })
    const page = await app.open(t, element())
    await eventually(() => names(page), ['bob', 'ada', 'eve'])
    assert.deepEqual(await movements(page), ['▲1', '▼1', 'new'])
  })

  it('level is beside the name', async (t) => {
    const page = await open(t, boardOf(members(2)))
    await eventually(() => page.locator('tbody [part=level]').allTextContents(), ['Expert', ''])
  })

  it('member-url links names to pages of the site', async (t) => {
    const winners = { boards: [boardOf([{ user: { id: 'a:b' } }], { closed: true })] }
    const body = element('period="week" member-url="/u/{user}"')
    const page = await open(t, boardOf([{ user: { id: 'a:b', url: 'https://example.com/' } }]), { body, winners })
    const links = page.getByRole('link', { name: 'a:b' })
    await eventually(
      () => links.evaluateAll((all) => all.map((link) => /** @type {any} */ (link).href)),
      [`${app.pages}/u/a%3Ab`, `${app.pages}/u/a%3Ab`],
    )
    await page.evaluate(() => (document.querySelector('activity-rank').memberUrl = 'javascript:{user}'))
    await eventually(() => page.locator('tbody a').getAttribute('href'), 'https://example.com/')
  })
})

describe('time left', () => {
  it('time until the end is counted down by the minute', async (t) => {
    const page = await app.open(t, element('period="week" refresh="0"').replace(' refresh="1"', ''), {
      before: async (page) => {
        await page.clock.install({ time: '2026-11-27T20:00:00Z' })
        await answer(page, { board: boardOf(members(1)) })
      },
    })
    await eventually(() => text(page, 'facts'), '1 member · 2 days 4 hr left')
    await page.clock.runFor(60_000)
    await eventually(() => text(page, 'facts'), '1 member · 2 days 3 hr left')
    await page.clock.fastForward(51 * 3600_000)
    await page.clock.runFor(60_000)
    await eventually(() => text(page, 'facts'), '1 member · 58 min left')
    await page.clock.runFor(3600_000)
    await eventually(() => text(page, 'facts'), '1 member')
  })

  it('closed board is final, and a coming event starts', async (t) => {
    const page = await open(t, boardOf(members(1), { closed: true }))
    await eventually(() => text(page, 'facts'), '1 member · Final')
    const [from, to] = [Date.now() + 26 * 3600_000 - 1000, Date.now() + 864e6].map((at) => new Date(at).toISOString())
    const event = { id: 'hackathon', state: 'coming', title: 'Hackathon', from, to }
    const coming = await open(t, { event, total: 0, entries: [] }, { body: element('event="hackathon"') })
    await eventually(async () => /^0 members · .* · Starts in 1 day 2 hr$/.test(await text(coming, 'facts')), true)
    assert.equal(await text(coming, 'empty'), 'Nobody yet. Be the first.')
  })
})

describe('winners', () => {
  const winner = (page) => page.locator('[part~=winner] [part=name]').allTextContents()

  it('winners of the day before are below the board', async (t) => {
    const yesterday = new Date(Date.now() - 864e5)
    await countLikes({ ada: 3, bob: 2, eve: 1 }, yesterday.toISOString())
    const urls = []
    const page = await app.open(t, element(), {
      before: (page) => {
        page.on('request', (request) => urls.push(new URL(request.url()).pathname))
      },
    })
    await eventually(() => winner(page), ['ada', 'bob', 'eve'])
    const date = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'Asia/Shanghai' })
    assert.equal(await text(page, 'winners-title'), `Winners of ${date.format(yesterday)}`)
    assert.ok(urls.indexOf('/v1/ranking/day') < urls.indexOf('/v1/ranking/day/winners'))
  })

  it('winners are requested only below current boards', async (t) => {
    let urls = []
    const bodies = ['winners="none"', 'period="all"', 'date="2026-11-20"', 'of="authors"', 'event="hackathon"']
    const page = await app.open(t, bodies.map((attributes) => element(attributes)).join(''), {
      before: async (page) => {
        urls = recordRequests(page, /winners/)
        await answer(page, { board: boardOf(members(1), { closed: true }), winners: { boards: [] } })
      },
    })
    await eventually(() => rowCount(page), 5)
    assert.deepEqual(urls, [])
    await page.evaluate(() => (document.querySelector('activity-rank').winners = null))
    await eventually(() => urls.length, 1)
  })
})

describe('own row', () => {
  const pinned = (page) => page.locator('[part=own] > [part~=row]').isVisible()

  it('own row is pinned only while it is out of sight', async (t) => {
    await countLikes(crowd(30))
    const viewport = { width: 400, height: 600 }
    const page = await app.open(t, element('user="m2" limit="30" winners="none"'), { viewport })
    await eventually(() => rowCount(page), 30)
    await eventually(() => text(page, 'details'), '3 points to rank 1')
    assert.equal(await pinned(page), false)
    await page.evaluate('scrollTo(0, 900)')
    await eventually(() => pinned(page), true)
    const { y, height } = await box(page, '[part=own]')
    assert.ok(y >= 0 && y + height <= 600, `${y}`)
    await page.evaluate('scrollTo(0, 0)')
    await eventually(() => pinned(page), false)
  })

  it('own row below the board is pinned', async (t) => {
    await countLikes(crowd(6))
    const page = await app.open(t, element('user="m5" limit="3"'))
    await eventually(() => text(page, 'details'), '3 points to rank 4')
    assert.equal(await pinned(page), true)
    const [bar, progress] = await Promise.all(['bar', 'progress'].map((part) => box(page, `[part=${part}]`)))
    await eventually(
      async () => Math.round((await box(page, '[part=bar]')).width),
      Math.round((progress.width * 4) / 7),
    )
    assert.equal(bar.x, progress.x)
  })
})

describe('content', () => {
  /** Registers a target with likes on all boards. */
  async function putTarget(id, author, likes) {
    const url = `https://example.com/${id}`
    await app.request('PUT', `/v1/targets/${id}`, { author, title: `Title of ${id}`, url, image: `${url}.png` })
    await app.count(
      Array.from({ length: likes }, (_, index) => ({ user: `reader${index}`, action: 'like', target: id })),
    )
    const standing = () => app.request('GET', `/v1/content/day/targets/${id}`)
    await eventually(async () => (await standing()).score, 2 * likes)
  }

  it('content has titles, pictures and authors', async (t) => {
    const [first, second] = [`${group}-first`, `${group}-second`]
    await putTarget(first, 'ada', 5)
    await putTarget(second, 'bob', 4)
    const page = await app.open(t, element('of="content"'))
    await eventually(() => names(page), [`Title of ${first}`, `Title of ${second}`])
    assert.deepEqual(await page.locator('tbody [part=author]').allTextContents(), ['ada', 'bob'])
    assert.equal(await page.locator('tbody a').first().getAttribute('href'), `https://example.com/${first}`)
    assert.deepEqual(await page.getByRole('tab').allTextContents(), ['Hot', 'Day', 'Week', 'Month', 'Year', 'All time'])
    // Periods without boards of content lose their tabs.
    await page.getByRole('tab', { name: 'Week' }).click()
    await eventually(() => page.locator('[role=tab][aria-selected=true]').innerText(), 'Hot')
    await eventually(() => text(page, 'title'), 'Hot')
    assert.equal(await text(page, 'facts'), 'Last 7 days')
    assert.deepEqual(await names(page), [`Title of ${first}`, `Title of ${second}`])
    await page.evaluate(() => (document.querySelector('activity-rank').of = 'authors'))
    await eventually(() => names(page), ['ada', 'bob'])
    assert.deepEqual(await page.getByRole('columnheader').allTextContents(), ['Rank', 'Author', 'Points'])
  })

  it('content has live boards but no standing', async (t) => {
    let urls = []
    await app.open(t, element('of="content" user="ada" group="x" period="week"'), {
      before: async (page) => (urls = await answer(page, { board: boardOf([{ target: { id: '/post' } }]) })),
    })
    await eventually(
      () => [...new Set(urls.map((url) => new URL(url).pathname))],
      ['/v1/content/week', '/v1/content/week/live'],
    )
    assert.equal(new URL(urls[0]).search, '?limit=10')
  })
})
