// <activity-rank>: movement, levels, time left, winners, the row of one's own, content and authors.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { eventually, names, recordRequests } from '../support.mjs'
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
  ownRank,
  rowCount,
  text,
  useApp,
} from './support.mjs'

useApp()

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

  it('movement and level are shown on every row', async (t) => {
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
    const levels = await page.locator('tbody [part=level]').allTextContents()
    assert.deepEqual(levels, ['Expert', '', 'Expert', '', 'Expert'])
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

describe('links', () => {
  it('whole row is the link of its name', async (t) => {
    for (const layout of ['full', 'list', 'compact']) {
      const page = await open(t, boardOf(members(5)), {
        body: element(`period="week" user="m5" layout="${layout}" member-url="/u/{user}"`),
        winners: { boards: [boardOf(members(1), { closed: true })] },
      })
      await page.locator('[part~=winner]').waitFor()
      const missed = await page.locator('[part~=row]:visible, [part~=winner]').evaluateAll((rows) =>
        rows.flatMap((row) => {
          row.scrollIntoView({ block: 'center' })
          const { left, top, width, height } = row.getBoundingClientRect()
          const root = /** @type {ShadowRoot} */ (row.getRootNode())
          const points = [0.05, 0.3, 0.5, 0.7, 0.95].map((part) => [left + part * width, top + height * part])
          return points.filter(([x, y]) => !row.contains(root.elementFromPoint(x, y)?.closest('a')))
        }),
      )
      assert.deepEqual(missed, [], layout)
      const background = () =>
        page
          .locator('tbody tr')
          .nth(3)
          .evaluate((row) => getComputedStyle(row.querySelector('a'), '::after').backgroundColor)
      const before = await background()
      await page.locator('tbody tr').nth(3).hover()
      assert.notEqual(await background(), before, layout)
    }
  })

  it('author of content is a link above that of the row', async (t) => {
    const entries = [{ target: { id: 'a', url: 'https://example.com/a' }, author: { id: 'ada' } }]
    const body = element('of="content" period="week" layout="list" member-url="/u/{user}"')
    const page = await open(t, boardOf(entries), { body })
    await page.getByRole('link', { name: 'ada' }).click()
    await page.waitForURL(`${app.pages}/u/ada`)
  })

  it('row without a link does not react', async (t) => {
    const page = await open(t, boardOf(members(5)), { body: element('period="week" layout="list"') })
    await eventually(() => rowCount(page), 5)
    const background = () =>
      page
        .locator('tbody tr')
        .nth(3)
        .evaluate((row) => getComputedStyle(row).backgroundColor)
    const before = await background()
    await page.locator('tbody tr').nth(3).hover()
    assert.equal(await background(), before)
  })
})

describe('movement on the page', () => {
  it('row that leaves the podium fades', async (t) => {
    let order = [0, 1, 2, 3, 4]
    const all = members(5)
    const page = await open(t, () => boardOf(order.map((index) => all[index])), {
      body: element('period="week" layout="full"').replace('refresh="1"', 'refresh="0"'),
    })
    await eventually(() => rowCount(page), 5)
    await page.evaluate(() => {
      globalThis.moves = []
      const { animate } = Element.prototype
      Element.prototype.animate = function (frames, options) {
        if (this.localName === 'tr')
          globalThis.moves.push([this.querySelector('[part=name]').textContent, ...Object.keys(frames[0])])
        return animate.call(this, frames, options)
      }
    })
    // The fourth and the third change places, and the first and the second.
    order = [1, 0, 3, 2, 4]
    await page.evaluate(() => document.querySelector('activity-rank').reload())
    await eventually(
      () => page.evaluate('moves'),
      [
        [all[1].user.name, 'transform'],
        [all[0].user.name, 'transform'],
        [all[3].user.name, 'opacity'],
        [all[2].user.name, 'opacity'],
      ],
    )
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
    const board = () => {
      const [from, to] = [26 * 3600_000 - 1000, 864e6].map((ahead) => new Date(Date.now() + ahead).toISOString())
      return { event: { id: 'hackathon', state: 'coming', title: 'Hackathon', from, to }, total: 0, entries: [] }
    }
    const coming = await open(t, board, { body: element('event="hackathon"') })
    await eventually(async () => /^0 members · .* · Starts in 1 day 2 hr$/.test(await text(coming, 'facts')), true)
    assert.match(await text(coming, 'empty'), /^Starts in \d/)
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

  it('own row is pinned from the list on, with its mark', async (t) => {
    const standing = { ...boardOf([], { total: 128 }), user: { id: 'you' }, rank: 23, score: 41, next: null }
    const viewport = { width: 768, height: 500 }
    const body = `<style>main { padding-block-start: 100px }</style>${element('period="week" user="you" winners="none"')}`
    const before = (page) => answer(page, { board: boardOf(members(10), { total: 128 }), standing })
    const page = await app.open(t, body, { before, viewport, reducedMotion: 'reduce' })
    await eventually(() => page.locator('[part=own] [part=you]').textContent(), 'You')
    // The podium is in sight, the list is not.
    const podium = await box(page, 'tbody [part~=first]')
    assert.ok(podium.y + podium.height > 400)
    assert.ok((await box(page, '[part=own]')).y > 500)
    await page.evaluate('scrollTo(0, 300)')
    await eventually(async () => {
      const { y, height } = await box(page, '[part=own]')
      return y + height <= 500 && y > (await box(page, 'tbody tr:nth-child(4)')).y
    }, true)
    assert.equal(await page.locator('[part~=own-row]').count(), 0)
  })

  it('own row below the board is pinned, with its points', async (t) => {
    await countLikes(crowd(6))
    const page = await app.open(t, element('user="m5" limit="3"'))
    await eventually(() => names(page), ['m1', 'm2', 'm3'])
    await eventually(() => text(page, 'details'), '3 points to rank 4')
    assert.equal(await page.locator('[part=top]').textContent(), '')
    assert.equal(await ownRank(page), '5')
    assert.equal(await page.locator('[part=own] [part=score]').textContent(), '4')
    assert.equal(await page.locator('[part~=own-row]').count(), 0)
    assert.equal(await pinned(page), true)
    const { x, width } = await box(page, '[part=progress]')
    const end = async () => {
      const bar = await box(page, '[part=bar]')
      return Math.round(bar.x + bar.width - x)
    }
    await eventually(end, Math.round((width * 4) / 7))
    // The bar of a page from right to left begins there.
    await page.evaluate(() => (document.documentElement.dir = 'rtl'))
    await eventually(async () => Math.round((await box(page, '[part=bar]')).x - x), Math.round((width * 3) / 7))
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
