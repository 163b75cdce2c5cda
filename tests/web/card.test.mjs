// <activity-card> on pages of another origin, with mocked cards.

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'

import {
  eventually,
  layoutShift,
  recordDelays,
  recordRequests,
  SCHEMES,
  scrollWidth,
  shareApp,
  violations,
  WIDTHS,
} from './support.mjs'

const CARD = /\/v1\/users\/[^/]+\/card$/
const CORS = { 'access-control-allow-origin': '*' }

let app

before(async () => {
  app = await shareApp({ live: false })
})

const standing = (id, score, rank, total) => ({ id, score, rank, total })

const ADA = {
  user: { id: 'ada', name: 'Ada Lovelace', url: 'https://example.com/ada', level: { number: 3, name: 'Regular' } },
  standings: {
    day: standing('2026-11-24', 12, 3, 40),
    week: standing('2026-W48', 57, 1, 120),
    month: standing('2026-11', 320.5, 2, 412),
    year: standing('2026', 1, 17, 1490),
    all: standing('all', 1234567, 148, 8210),
  },
  streak: { current: 4, longest: 9 },
}
const NEWCOMER = {
  user: { id: 'new' },
  standings: { day: standing('2026-11-24', 0, null, 40), all: standing('all', 0, null, 8210) },
  streak: null,
}
const LONG = {
  ...ADA,
  user: {
    ...ADA.user,
    name: 'Wolfeschlegelsteinhausenbergerdorff '.repeat(2),
    level: { number: 9, name: 'W'.repeat(40) },
  },
  standings: { ...ADA.standings, all: standing('all', 99999, 99999, 8000000) },
  streak: { current: 366, longest: 366 },
}

/**
 * Opens a page with an element, or with `body`. `card` is the answer, or a function that returns it.
 * @param {any} t
 * @param {any} card
 * @param {Record<string, any>} options
 */
async function open(t, card, { before = undefined, attributes = '', body = '', ...options } = {}) {
  const html = `<script type="module" src="APP_URL/elements/activity-card.js"></script>
    ${body || `<activity-card src="APP_URL" user="ada" ${attributes}><a href="/members">All members</a></activity-card>`}`
  return app.open(t, html, {
    ...options,
    before: async (page) => {
      await page.route(CARD, async (route) => {
        const json = await (typeof card === 'function' ? card(route.request().url()) : card)
        return json
          ? route.fulfill({ json, headers: CORS })
          : route.fulfill({ status: 404, json: { detail: 'There is no such user.' }, headers: CORS })
      })
      await before?.(page)
    },
  })
}

const text = (page, part) => page.locator(`[part=${part}]:visible`).innerText()
const places = (page) => page.getByRole('listitem').allTextContents()
const box = (page, selector) => page.locator(selector).first().boundingBox()
const loaded = (page) => page.locator('section:not(.loading)').waitFor()

describe('card', () => {
  it('shows name, level, streak and all places', async (t) => {
    const page = await open(t, ADA)
    await eventually(
      () => places(page),
      [
        'Day #3 12 points Top 8%',
        'Week #1 57 points Top 1%',
        'Month #2 320.5 points Top 1%',
        'Year #17 1 point Top 2%',
        'All time #148 1.2M points Top 2%',
      ],
    )
    const link = page.getByRole('link', { name: 'Ada Lovelace' })
    assert.equal(await link.getAttribute('href'), 'https://example.com/ada')
    assert.deepEqual(
      [await text(page, 'avatar'), await text(page, 'level'), await text(page, 'streak')],
      ['AL', 'Regular', '4-day streak (best: 9).'],
    )
    const parts = await page
      .getByRole('listitem')
      .evaluateAll((items) => items.map((item) => item.getAttribute('part')))
    assert.deepEqual(parts, ['place third', 'place first', 'place second', 'place', 'place'])
    assert.equal(await page.getByRole('listitem').last().getAttribute('title'), '#148 · 1,234,567 points')
    await page.keyboard.press('Tab')
    assert.equal(await page.locator('[part=name]:focus').innerText(), 'Ada Lovelace')
    assert.deepEqual(page.errors, [])
  })

  it('achievements are counted', async (t) => {
    for (const [achievements, expected] of [
      [12, '12 achievements'],
      [1, '1 achievement'],
      [0, ''],
    ]) {
      const page = await open(t, { ...ADA, achievements })
      await loaded(page)
      assert.equal(await page.locator('[part=earned]').textContent(), expected)
    }
  })

  it('card that cannot be drawn shows the fallback', async (t) => {
    let answer = { ...ADA, standings: { day: null } }
    const page = await open(t, () => answer, { attributes: 'refresh="1"' })
    await page.getByRole('link', { name: 'All members' }).waitFor()
    answer = ADA
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'All members' }).isVisible(), false)
    assert.ok(page.errors.length > 0)
  })

  it('member without a profile has the id', async (t) => {
    const page = await open(t, NEWCOMER)
    await eventually(() => places(page), ['Day – 0 points Not ranked yet.', 'All time – 0 points Not ranked yet.'])
    assert.equal(await text(page, 'name'), 'new')
    assert.equal(await page.getByRole('link').count(), 0)
    assert.deepEqual(
      [await page.locator('[part=level]').isVisible(), await page.locator('[part=streak]').isVisible()],
      [false, false],
    )
  })

  it('avatar is an https image, and initials if it fails', async (t) => {
    const card = (avatar) => ({ ...ADA, user: { ...ADA.user, avatar } })
    const images = '[part=avatar] img'
    const page = await open(t, card('https://example.com/ada.png'), {
      before: (page) =>
        page.route('https://example.com/ada.png', (route) =>
          route.fulfill({ contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg" />' }),
        ),
    })
    await eventually(() => page.locator(images).count(), 1)
    for (const avatar of ['https://example.com/missing.png', 'javascript:alert(1)']) {
      const page = await open(t, card(avatar), {
        before: (page) => page.route('https://example.com/missing.png', (route) => route.abort()),
      })
      await eventually(() => text(page, 'avatar'), 'AL')
      await eventually(() => page.locator(images).count(), 0)
    }
  })

  it('lower half has no share', async (t) => {
    const standings = { week: standing('2026-W48', 9, 20, 40), all: standing('all', 9, 21, 40) }
    const page = await open(t, { ...ADA, standings })
    await eventually(() => places(page), ['Week #20 9 points Top 50%', 'All time #21 9 points '])
  })

  it('unknown or hidden member shows the fallback', async (t) => {
    const page = await open(t, null)
    await page.getByRole('link', { name: 'All members' }).waitFor()
    assert.equal(await page.locator('[part=places]').isVisible(), false)
    const empty = await open(t, null, { body: '<activity-card src="APP_URL" user="nobody"></activity-card>' })
    await empty.getByText('There is no such member.').waitFor()
  })

  it('events are load, and error with a message', async (t) => {
    const body = `<script>
      events = []
      for (const name of ['load', 'error']) {
        document.addEventListener(name, (event) => {
          if (event.target.localName === 'activity-card') events.push([event.type, event.message ?? null, event.target.user])
        }, true)
      }
    </script>
    <activity-card src="APP_URL" user="ada"></activity-card><activity-card src="APP_URL" user="nobody"></activity-card>`
    const page = await open(t, (url) => (url.includes('/ada/') ? ADA : null), { body })
    await eventually(
      () => page.evaluate('events.sort()'),
      [
        ['error', 'There is no such user.', 'nobody'],
        ['load', null, 'ada'],
      ],
    )
  })

  it('attributes change the member and the language', async (t) => {
    const page = await open(t, (url) => (url.includes('/ada/') ? ADA : NEWCOMER))
    await eventually(() => text(page, 'name'), 'Ada Lovelace')
    const set = (values) =>
      page.evaluate((values) => Object.assign(document.querySelector('activity-card'), values), values)
    await set({ user: 'new', lang: 'zh-CN' })
    await eventually(() => places(page), ['日榜 – 0 分 尚未上榜。', '总榜 – 0 分 尚未上榜。'])
    assert.equal(await text(page, 'name'), 'new')
    await set({ user: 'ada' })
    await eventually(() => text(page, 'streak'), '连续活跃 4 天（最长 9 天）。')
    assert.equal((await places(page)).length, 5)
  })
})

describe('requests', () => {
  it('one per minute, and on reload', async (t) => {
    let urls = []
    const before = async (page) => {
      await recordDelays(page)
      urls = recordRequests(page, CARD)
    }
    const page = await open(t, ADA, { before })
    await eventually(() => text(page, 'name'), 'Ada Lovelace')
    await eventually(() => page.evaluate('delays.at(-1)'), 60_000)
    await page.evaluate(() => /** @type {any} */ (document.querySelector('activity-card')).reload())
    await eventually(() => urls.length, 2)
    assert.deepEqual(urls, Array(2).fill(`${app.url}/v1/users/ada/card`))
  })

  it('elements of the same member share one', async (t) => {
    let urls = []
    const body = '<activity-card src="APP_URL" user="ada"></activity-card>'.repeat(3)
    const page = await open(t, ADA, { body, before: (page) => void (urls = recordRequests(page, CARD)) })
    await eventually(() => page.getByRole('listitem').count(), 15)
    assert.equal(urls.length, 1)
  })
})

describe('layout', () => {
  for (const width of WIDTHS) {
    it(`element fits ${width} pixels and does not shift`, async (t) => {
      const { promise, resolve } = Promise.withResolvers()
      const card = async () => {
        await promise
        return LONG
      }
      const page = await open(t, card, { viewport: { width, height: 800 } })
      await page.locator('section.loading').waitFor()
      const empty = await box(page, 'activity-card')
      resolve(undefined)
      await loaded(page)
      assert.deepEqual(await box(page, 'activity-card'), empty)
      assert.equal(await layoutShift(page), 0)
      assert.equal(await scrollWidth(page), width)
      const [section, ...others] = await page
        .locator('section, section :not(img)')
        .evaluateAll((all) =>
          all.map((element) => ({ part: element.getAttribute('part'), right: element.getBoundingClientRect().right })),
        )
      assert.deepEqual(
        others.filter(({ right }) => right > section.right),
        [],
      )
    })
  }

  it('picture has initials and colour of the element', async (t) => {
    for (const [number, name] of ['Ada Lovelace', 'E\u0301mile', '👩‍🚀 Sally', '👍🏽', 'हिन्दी नाम'].entries()) {
      const id = `pictured-${number}`
      await app.request('PUT', `/v1/users/${id}`, { name })
      const picture = await (await fetch(`${app.url}/v1/users/${id}/card.svg`)).text()
      const page = await open(t, { ...ADA, user: { id, name } })
      const avatar = page.locator('[part=avatar]')
      const hue = await avatar.evaluate((element) => element.style.getPropertyValue('--hue'))
      assert.ok(picture.includes(`>${await avatar.textContent()}<`) && picture.includes(`hsl(${hue},`), name)
      await page.close()
    }
  })

  it('layout is mirrored in RTL', async (t) => {
    const body = '<div dir="rtl"><activity-card src="APP_URL" user="ada"></activity-card></div>'
    const page = await open(t, ADA, { body })
    await eventually(() => text(page, 'name'), 'Ada Lovelace')
    const [avatar, name] = [await box(page, '[part=avatar]'), await box(page, '[part=name]')]
    assert.ok(avatar.x > name.x)
    const [first, last] = [await box(page, 'li:first-child'), await box(page, 'li:last-child')]
    assert.ok(first.x > last.x)
  })

  for (const colorScheme of SCHEMES) {
    it(`element passes axe in ${colorScheme} mode`, async (t) => {
      const body = `<style>:root { color-scheme: ${colorScheme} }</style>${['ada', 'new'].map((user) => `<activity-card src="APP_URL" user="${user}"></activity-card>`).join('')}
        <div style="inline-size: 240px"><activity-card src="APP_URL" user="long"></activity-card></div>`
      const cards = { ada: ADA, new: NEWCOMER, long: LONG }
      const page = await open(t, (url) => cards[/users\/(\w+)/.exec(url)[1]], { body })
      await eventually(() => page.getByRole('listitem').count(), 12)
      assert.deepEqual(await violations(page, 'activity-card'), [])
    })
  }
})
