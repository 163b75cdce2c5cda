// The front page of a deployment.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, beforeEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

import { scaled } from '../sdk/slowness.mjs'
import {
  eventually,
  layoutShift,
  openMenu,
  PHONE,
  SCHEMES,
  scrollWidth,
  startApp,
  violations,
  WIDTHS,
} from './support.mjs'

const WEB = fileURLToPath(new URL('../../web/', import.meta.url))
const DAY = 864e5 // ms

let app
let user
let users = 0

const instant = (ms) => new Date(ms).toISOString()

before(async () => {
  app = await startApp({ vars: { CONTENT_PERIODS: 'day,week', PLAYGROUND: 'true' } })
  await app.request('PUT', '/v1/users', [{ id: 'm0', name: 'Ada' }])
  await app.request('PUT', '/v1/targets', [{ id: 'p', author: 'm1', title: 'A title' }])
  await app.count(
    Array.from({ length: 25 }, (_, n) => ({ user: `m${n}`, action: 'like', target: n === 1 ? 'q' : 'p' })),
  )
  await app.count([{ user: 'm7', action: 'like', target: 'r', at: instant(Date.now() - 7 * DAY) }])
  await app.request('PUT', '/v1/events/hackathon', {
    title: 'Hackathon',
    from: instant(Date.now() + scaled(60_000)),
    to: instant(Date.now() + 30 * DAY),
    url: 'https://example.com/hackathon',
    prizes: [{ ranks: '2-10', title: 'A sticker' }],
  })
})
after(() => app?.stop())
beforeEach(() => {
  user = `page-${++users}`
})

const board = (page) => page.locator('#board')
const rows = (page) => page.locator('#board tbody tr').count()
const text = (page, selector) => page.locator(selector).innerText()
const path = (page) => page.evaluate('location.pathname + location.search + location.hash')

/** Opens the front page and waits for its board and for what is beside it. */
async function open(t, options = {}, path = '/') {
  const page = await app.visit(t, app.url + path, options)
  await page.locator('#aside:not([hidden])').waitFor({ state: 'attached' })
  return page
}

/** Returns whether the menu has a session. */
const isSignedIn = async (page) => (await page.locator('#session').getAttribute('hidden')) === null

const openSignedIn = (t, options) => open(t, options, `/#token=${app.token(user)}`)

describe('front page', () => {
  it('boards load and have links, within the policy', async (t) => {
    const page = await open(t)
    assert.equal(await text(page, 'h1'), 'Leaderboard')
    await eventually(() => rows(page), 10)
    assert.equal(await page.locator('input:visible, pre').count(), 0)
    const kinds = await page.locator('#kinds a').allTextContents()
    assert.deepEqual(kinds.slice(0, 3), ['Members', 'Authors', 'Content'])
    await page.getByRole('link', { name: 'Content', exact: true }).click()
    await eventually(() => path(page), '/#content/week')
    await eventually(() => page.locator('#kinds [aria-current]').allTextContents(), ['Content'])
    assert.deepEqual(page.errors, [])
  })

  it('address selects the board and follows it', async (t) => {
    const page = await open(t, {}, '/#month')
    assert.equal(await board(page).getAttribute('period'), 'month')
    for (const [hash, attributes] of [
      ['#day/2026-01-02', ['members', 'day', '2026-01-02', null]],
      ['#content/week', ['content', 'week', null, null]],
      ['#content/hot', ['content', 'hot', null, null]],
      ['#authors/day', ['authors', 'day', null, null]],
      ['#event/hackathon', ['members', 'day', null, 'hackathon']],
      ['#week', ['members', 'week', null, null]],
    ]) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
      const read = async () => {
        const values = await Promise.all(
          ['of', 'period', 'date', 'event'].map((name) => board(page).getAttribute(name)),
        )
        return [values[0] ?? 'members', ...values.slice(1)]
      }
      await eventually(read, attributes)
      assert.equal(await path(page), `/${hash}`)
    }
    await board(page).evaluate((element) => element.setAttribute('period', 'year'))
    await eventually(() => path(page), '/#year')
    await page.goBack()
    await eventually(() => path(page), '/#event/hackathon')
  })

  it('events, winners and rules are shown', async (t) => {
    const page = await open(t)
    const event = page.locator('#events li')
    assert.match(await event.innerText(), /^Hackathon (Coming|Running)\n+.* · (ends|starts) in /)
    assert.match(await event.innerText(), /Rank 2–10: A sticker\n+About this event$/)
    assert.equal(
      await page.getByRole('link', { name: 'About this event' }).getAttribute('rel'),
      'nofollow ugc noopener noreferrer',
    )
    await event.getByRole('link', { name: 'Hackathon' }).click()
    await eventually(() => board(page).getAttribute('event'), 'hackathon')
    const winner = page.locator('#winners ol li')
    await eventually(() => page.locator('#winners').isVisible(), false)
    assert.match(await text(page, '#event'), /Rank 2–10: A sticker\n+About this event$/)
    await page.evaluate(`location.hash = '#week'`)
    await eventually(async () => (await winner.allInnerTexts()).join(), '1\nm7\n2 points')
    assert.equal(await winner.getByRole('link').getAttribute('href'), '/u/m7')
    await page.evaluate(`location.hash = '#content/week'`)
    await eventually(() => page.locator('#winners').isVisible(), false)
    await page.evaluate(`location.hash = '#week'`)
    await eventually(async () => (await winner.allInnerTexts()).join(), '1\nm7\n2 points')
    const rules = (await page.locator('#rules li').allInnerTexts()).map((text) => text.replaceAll(/\n+/g, '\n'))
    assert.equal(rules[0], '+10\nPublish\nonce for each item · counted by the site')
    assert.equal(
      rules[1],
      '+3\nComment\nonce for each item · from pages, at most 90 points a day · the author receives 3',
    )
  })

  it('changes of the rules are listed', async (t) => {
    const before = (page) =>
      page.route('**/v1/rules', async (route) => {
        const response = await route.fetch()
        const { rules } = await response.json()
        const like = (field, before, after) => ({ action: 'like', field, before, after })
        const versions = [
          { version: 3, from: '2026-11-22T12:00:00Z', state: 'removed', changes: [like('points', 2, 9)] },
          { version: 2, from: '2026-11-21T12:00:00Z', state: 'coming', changes: [like('daily_cap', 50, null)] },
          {
            version: 1,
            from: '2026-11-20T12:00:00Z',
            state: 'in-force',
            changes: [like('points', 2, 3), like('cooldown', null, 60)],
            reason: 'Likes were too cheap',
          },
        ]
        await route.fulfill({ json: { rules: { like: { ...rules.like, points: 3 } }, locked: false, versions } })
      })
    const page = await open(t, { before })
    const items = async () => {
      const texts = await page.locator('#rules li').allInnerTexts()
      return texts.map((text) => text.replaceAll(/\n+/g, '\n'))
    }
    await eventually(
      async () => (await items()).slice(1),
      [
        'Nov 21, 2026\nLike, most points a day: 50 → no limit',
        'Nov 20, 2026 Likes were too cheap\nLike, points: 2 → 3 · Like, seconds between two: no limit → 60',
      ],
    )
    assert.match((await items())[0], /^\+3\nLike\n/)
  })

  it('unreachable service leaves a text', async (t) => {
    const before = (page) => page.route(/\/(v1\/|healthz)/, (route) => route.abort())
    const page = await open(t, { before })
    await page.getByText('Could not load the leaderboard.').waitFor()
    assert.equal(await page.locator('#mine:visible, #aside section:visible, #rules:visible').count(), 0)
    assert.deepEqual(page.errors, [])
  })

  it('language follows the browser or the selection', async (t) => {
    const before = (page) =>
      page.addInitScript(() => {
        // The first is no tag.
        Object.defineProperty(navigator, 'languages', { get: () => ['en-US@posix', 'zh-CN'] })
      })
    const page = await open(t, { before })
    assert.equal(await text(page, 'h1'), '活跃榜')
    await openMenu(page)
    await page.locator('#language').selectOption('en')
    await eventually(() => text(page, 'h1'), 'Leaderboard')
    await eventually(() => text(page, '#rules h2'), 'How points are earned')
    assert.equal(await board(page).getAttribute('lang'), 'en')
    await page.reload()
    await eventually(() => text(page, 'h1'), 'Leaderboard')
    assert.deepEqual(page.errors, [])
  })

  it('language written from right to left turns the page', async (t) => {
    const english = readFileSync(`${WEB}languages/en.js`, 'utf8')
    const before = async (page) => {
      const list = `export const LANGUAGES = ['ar', 'en']`
      await page.route('**/languages/index.js', (route) =>
        route.fulfill({ contentType: 'text/javascript', body: list }),
      )
      await page.route('**/languages/ar.js', (route) =>
        route.fulfill({ contentType: 'text/javascript', body: english }),
      )
    }
    const page = await open(t, { before, locale: 'ar', viewport: { width: 390, height: 800 } })
    assert.equal(await page.evaluate('document.documentElement.dir'), 'rtl')
    await openMenu(page)
    assert.equal(await page.locator('#language option').first().innerText(), 'العربية')
    assert.equal(await scrollWidth(page), 390)
  })

  it('theme is kept until it is that of the system', async (t) => {
    const page = await open(t, { colorScheme: 'dark' })
    const button = page.getByRole('button', { name: 'Dark theme' })
    const theme = () => board(page).getAttribute('theme')
    await openMenu(page)
    assert.equal(await button.getAttribute('aria-pressed'), 'true')
    await button.click()
    assert.equal(await theme(), 'light')
    await page.reload()
    await eventually(theme, 'light')
    await openMenu(page)
    await button.click()
    await eventually(theme, null)
    assert.equal(await page.evaluate(`localStorage.getItem('activity-rank theme')`), null)
  })

  /** Against clickjacking. */
  it('framed page has boards but no controls', async (t) => {
    const frame = `<title>Framing</title><iframe src="${app.url}#week&token=${app.token(user)}" width="480" height="900"></iframe>`
    const page = await app.visit(t, app.serveHtml('/framing.html', frame))
    const framed = page.frameLocator('iframe')
    await eventually(() => framed.locator('#board tbody tr').count(), 10)
    for (const part of ['header', 'footer', '#climb', '#aside', '#rules', '#mine']) {
      assert.equal(await framed.locator(part).isVisible(), false, part)
    }
    assert.equal(await framed.locator('#board').getAttribute('user'), null)
  })

  it('layout does not shift while loading', async (t) => {
    for (const options of [{}, PHONE, { locale: 'zh-CN' }]) {
      const page = await open(t, options)
      await eventually(() => rows(page), 10)
      const shift = await layoutShift(page)
      assert.ok(shift < 0.001, `${JSON.stringify(options)}: ${shift}`)
    }
  })

  it('links of a preview have the address of the page', () => {
    const html = readFileSync(`${WEB}../build/web/index.html`, 'utf8')
    for (const [property, content] of [
      ['og:title', '{{title}}'],
      ['og:description', '{{description}}'],
      ['og:url', '{{url}}'],
      ['og:image', '{{origin}}/page/share.png'],
    ]) {
      assert.ok(html.includes(`<meta property="${property}" content="${content}">`), property)
    }
  })
})

describe('pages without a board', () => {
  it('wrong address leads to the leaderboard', async (t) => {
    const page = await app.visit(t, `${app.url}/nothing`)
    await eventually(() => page.title(), 'Page not found · Leaderboard')
    assert.equal(await text(page, 'h1'), 'Page not found')
    assert.deepEqual(await violations(page), [])
    await page.getByRole('link', { name: 'To the leaderboard' }).click()
    await eventually(() => rows(page), 10)
    assert.deepEqual(page.errors, [])
  })

  for (const [name, respond, expected] of [
    ['healthy', (route) => route.continue(), 'Everything works.'],
    [
      'interrupted',
      (route) => route.fulfill({ status: 503, json: { status: 'store-unavailable' } }),
      'The leaderboard is interrupted. Activity is not lost if your site queues it.',
    ],
    ['unreachable', (route) => route.abort(), 'The service does not respond.'],
  ]) {
    it(`status of ${name} service is a sentence`, async (t) => {
      const before = (page) => page.route('**/healthz', respond)
      const page = await app.visit(t, `${app.url}/status`, { before })
      await eventually(() => text(page, '#state'), expected)
      assert.match(await text(page, '#detail'), /^Checked /)
      assert.deepEqual(await violations(page), [])
    })
  }
})

it('print has the days of the calendar and no controls', async (t) => {
  const page = await openSignedIn(t)
  await page.locator('activity-heatmap [part~=summary]:not(:empty)').waitFor()
  await page.emulateMedia({ media: 'print' })
  const styleOf = (selector, name) =>
    page
      .locator(selector)
      .first()
      .evaluate((element, name) => getComputedStyle(element)[name], name)
  assert.equal(await styleOf('activity-heatmap [part~=day]', 'printColorAdjust'), 'exact')
  assert.equal(await styleOf('#board [part=own]', 'position'), 'static')
  assert.equal(await page.locator('#menu-button').isVisible(), false)
})

describe('card beside a name', () => {
  const card = (page) => page.locator('#peek activity-card')

  it('pointer and keyboard show it', async (t) => {
    const page = await open(t)
    const link = page.locator('#board').getByRole('link', { name: 'Ada' })
    await link.hover()
    await card(page).getByText('Ada', { exact: true }).waitFor()
    assert.equal(await card(page).getAttribute('user'), 'm0')
    await page.mouse.move(0, 0)
    await eventually(() => page.locator('#peek').isVisible(), false)
    await page.keyboard.press('Tab')
    await link.focus()
    await eventually(() => page.locator('#peek').isVisible(), true)
    await page.keyboard.press('Escape')
    await eventually(() => page.locator('#peek').isVisible(), false)
    assert.deepEqual(page.errors, [])
  })

  it('long press shows it, a tap follows the link', async (t) => {
    const page = await open(t, { hasTouch: true, viewport: { width: 390, height: 800 } })
    const link = page.locator('#board').getByRole('link', { name: 'Ada' })
    await link.dispatchEvent('pointerdown', { pointerType: 'touch', bubbles: true, composed: true })
    await eventually(() => page.locator('#peek').isVisible(), true)
    await page.locator('h2').first().dispatchEvent('pointerdown', { pointerType: 'touch', bubbles: true })
    await eventually(() => page.locator('#peek').isVisible(), false)
    await link.tap()
    await eventually(() => path(page), '/u/m0')
  })
})

describe('views of the board', () => {
  const list = async (page) => (await page.locator('#list .member').allInnerTexts()).join(' ')

  it('members around are shown and remembered', async (t) => {
    await app.count([{ user, action: 'visit', target: '/around' }])
    const page = await openSignedIn(t)
    assert.equal(await page.locator('#list').isVisible(), false)
    await page.getByRole('button', { name: 'Around me' }).click()
    await eventually(() => page.locator('#list [aria-current] .member').allInnerTexts(), [user])
    assert.equal(await page.locator('#board').isVisible(), false)
    assert.equal(await page.evaluate('location.search'), '?view=around')
    await page.goto(app.url)
    await eventually(
      () =>
        page
          .locator('#list li')
          .count()
          .then((count) => count > 1),
      true,
    )
    await page.getByRole('button', { name: 'Top' }).click()
    assert.equal(await page.locator('#board').isVisible(), true)
    assert.equal(await page.evaluate('location.search'), '')
    assert.deepEqual(page.errors, [])
  })

  it('friends are followed members', async (t) => {
    const page = await open(t, {}, `/?view=friends#month&token=${app.token(user)}`)
    await eventually(() => list(page), user)
    await page.getByText('Follow members to see them here.').waitFor()
    await app.count([{ user, action: 'follow', target: 'm3' }])
    await page.reload()
    await eventually(() => list(page), `m3 ${user}`)
    await page.locator('#kinds').getByRole('link', { name: 'Content' }).click()
    await eventually(() => page.locator('#views').isVisible(), false)
    assert.equal(await page.locator('#board').isVisible(), true)
  })

  it('tabs select the period, also by the keyboard', async (t) => {
    await app.count([{ user, action: 'visit', target: '/tabs' }])
    const page = await open(t, {}, `/?view=around#month&token=${app.token(user)}`)
    const selected = () => page.locator('#list [role=tab][aria-selected=true]').allInnerTexts()
    const own = () => page.locator('#list [aria-current] .member').allInnerTexts()
    await eventually(own, [user])
    assert.deepEqual(await selected(), ['Month'])
    const tabs = page.locator('#list [role=tab]:visible')
    assert.deepEqual(await tabs.allInnerTexts(), ['Day', 'Week', 'Month', 'Year', 'All time'])
    assert.deepEqual(await violations(page, '.boards'), [])
    await page.getByRole('tab', { name: 'Day' }).click()
    await eventually(() => path(page), '/?view=around#day')
    for (const [key, period, hash] of [
      ['ArrowLeft', 'All time', 'all'],
      ['ArrowRight', 'Day', 'day'],
      ['End', 'All time', 'all'],
      ['ArrowLeft', 'Year', 'year'],
      ['Home', 'Day', 'day'],
    ]) {
      await page.keyboard.press(key)
      await eventually(selected, [period])
      assert.equal(await page.evaluate('document.activeElement.textContent'), period)
      await eventually(() => path(page), `/?view=around#${hash}`)
    }
    await eventually(own, [user])
    await page.getByRole('button', { name: 'Top' }).click()
    assert.equal(await path(page), '/#day')
    assert.equal(await board(page).getAttribute('period'), 'day')
    assert.deepEqual(page.errors, [])
  })

  it('members without points in a period read so', async (t) => {
    const at = instant(Date.now() - DAY)
    await app.count([{ user, action: 'like', target: 'yesterday', at }])
    const page = await open(t, {}, `/?view=around#all&token=${app.token(user)}`)
    await eventually(() => page.locator('#list [aria-current] .member').allInnerTexts(), [user])
    await page.getByRole('tab', { name: 'Day' }).click()
    await page.getByText('You have no place on this board yet.').waitFor()
  })

  it('deployment decides tabs and kinds of boards', async (t) => {
    const before = async (page) => {
      await page.route('**/v1/events', (route) => route.fulfill({ json: { events: [] } }))
      await page.route('**/healthz', (route) =>
        route.fulfill({ json: { configured: { periods: ['week', 'all'], content_periods: [] } } }),
      )
    }
    const page = await open(t, { before }, `/?view=friends#token=${app.token(user)}`)
    const tabs = page.locator('#list [role=tab]:visible')
    await eventually(() => tabs.allInnerTexts(), ['Week', 'All time'])
    assert.deepEqual(await page.locator('#kinds a').allTextContents(), ['Members'])
    assert.equal(await page.locator('#rules').isVisible(), false)
  })

  /** A link to a past board shows it to members who prefer another view. */
  it('past board shows its top', async (t) => {
    const page = await open(t, {}, `/?view=around#week/2026-01-05&token=${app.token(user)}`)
    await page.getByRole('button', { name: 'Top', pressed: true }).waitFor()
    assert.equal(await board(page).isVisible(), true)
    await page.getByRole('button', { name: 'Around me' }).click()
    await eventually(() => page.locator('#list').isVisible(), true)
    await eventually(() => path(page), '/?view=around#week')
  })

  it('visitor has no views', async (t) => {
    const page = await open(t, {}, '/?view=friends')
    assert.equal(await page.locator('#views').isVisible(), false)
    assert.equal(await page.locator('#board').isVisible(), true)
  })
})

describe('page of a named site', () => {
  const SITE = {
    name: 'Robotics forum',
    url: 'https://forum.example',
    logo: 'https://forum.example/logo.svg',
    accent: '#7c3aed',
    links: [{ text: 'Imprint', url: 'https://forum.example/imprint' }],
    parts: ['rules'],
  }
  let named

  before(async () => {
    named = await startApp({ vars: { SITE, CONTENT_PERIODS: 'week' } })
    await named.count([{ user: 'm0', action: 'like', target: 'p' }])
  })
  after(() => named?.stop())

  const visit = (t, path, options = {}) => {
    const before = (page) =>
      page.route('https://forum.example/logo.svg', (route) =>
        route.fulfill({ contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"/>' }),
      )
    return named.visit(t, named.url + path, { ...options, before })
  }

  it('header and footer name the site', async (t) => {
    const page = await visit(t, '/')
    await page.locator('#rules:not([hidden])').waitFor()
    assert.equal(await page.title(), 'Leaderboard · Robotics forum')
    assert.equal(await text(page, '#home'), 'Robotics forum')
    assert.equal(await page.locator('#home img').getAttribute('src'), SITE.logo)
    const links = page.locator('footer a')
    assert.deepEqual(await links.allInnerTexts(), ['Back to Robotics forum', 'Imprint'])
    assert.equal(await links.first().getAttribute('href'), 'https://forum.example')
    assert.equal(await page.locator('#winners, #events').filter({ visible: true }).count(), 0)
    assert.deepEqual(page.errors, [])
  })

  it('header names the site on the page of a member', async (t) => {
    const page = await visit(t, '/u/m0')
    await page.locator('activity-climb').waitFor()
    assert.equal(await page.title(), 'm0 · Robotics forum')
    assert.equal(await text(page, '#home'), 'Robotics forum')
  })

  for (const colorScheme of SCHEMES) {
    it(`accent is readable in ${colorScheme} mode`, async (t) => {
      const page = await visit(t, `/#token=${named.token('m0')}`, { colorScheme, reducedMotion: 'reduce' })
      await page.locator('activity-climb [part=next]:not(:empty)').waitFor()
      assert.deepEqual(await violations(page), [])
    })
  }
})

describe('sign-in by a link', () => {
  it('token leaves the address, and lasts until another', async (t) => {
    const page = await open(t, {}, `/#month&token=${app.token('m0')}`)
    assert.equal(await path(page), '/#month')
    assert.equal(await board(page).getAttribute('period'), 'month')
    await eventually(() => page.locator('#me').textContent(), 'Ada')
    assert.equal(await board(page).getAttribute('user'), 'm0')
    assert.equal(await page.locator('#mine').isVisible(), true)
    await page.reload()
    await eventually(() => page.locator('#me').textContent(), 'Ada')
    assert.deepEqual(await page.evaluate('Object.keys(localStorage).filter((key) => /token/.test(key))'), [])
    await page.evaluate(`location.hash = '#token=${app.token('m1')}'`)
    await eventually(() => page.locator('#me').textContent(), 'm1')
    assert.equal(await path(page), '/')
    await openMenu(page)
    await page.getByRole('button', { name: 'Sign out' }).click()
    assert.equal(await page.locator('#mine').isVisible(), false)
    assert.equal(await board(page).getAttribute('user'), null)
    assert.equal(await page.locator('activity-heatmap').count(), 0)
    assert.equal(await page.evaluate('sessionStorage.length'), 0)
    await page.reload()
    assert.equal(await isSignedIn(page), false)
    assert.deepEqual(page.errors, [])
  })

  const unsigned = (claims) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.e30`
  const later = Math.floor(Date.now() / 1000) + 3600
  for (const [name, token, notice] of [
    ['malformed token', 'nonsense', 'This sign-in link is invalid.'],
    ['token without exp', unsigned({ sub: 'm0' }), 'This sign-in link is invalid.'],
    ['expired token', unsigned({ sub: 'm0', exp: later - 7200 }), 'Your sign-in has expired.'],
    ['rejected token', unsigned({ sub: 'm0', exp: later }), 'The service did not accept your sign-in.'],
  ]) {
    it(`${name} is reported`, async (t) => {
      const page = await open(t, {}, `/#token=${token}`)
      await eventually(() => text(page, '#notice-text'), `${notice} Open a new link from your site.`)
      assert.equal(await path(page), '/')
      assert.equal(await isSignedIn(page), false)
      assert.equal(await page.evaluate('sessionStorage.length'), 0)
      await page.getByRole('button', { name: 'Close' }).click()
      assert.equal(await page.locator('#notice').isVisible(), false)
    })
  }

  it('session ends with the token', async (t) => {
    const page = await open(t, { before: (page) => page.clock.install() }, `/#token=${app.token('m0')}`)
    await eventually(() => isSignedIn(page), true)
    await page.clock.fastForward(3601e3)
    await eventually(() => text(page, '#notice-text'), 'Your sign-in has expired. Open a new link from your site.')
    assert.equal(await isSignedIn(page), false)
  })

  it('service names the user of a token', async (t) => {
    const mapped = await startApp({ vars: { JWT_USER: '{"lower_case":true,"prefix":"m-"}' } })
    t.after(() => mapped.stop())
    const page = await mapped.visit(t, `${mapped.url}/#token=${mapped.token('Ada')}`)
    await eventually(() => board(page).getAttribute('user'), 'm-ada')
    await eventually(() => page.locator('#me').textContent(), 'm-ada')
    await page.reload()
    await eventually(() => board(page).getAttribute('user'), 'm-ada')
    assert.deepEqual(page.errors, [])
  })

  it('switch makes activity public, keeps the profile', async (t) => {
    const profile = { name: 'Eve', url: 'https://example.com/eve', avatar: 'https://example.com/eve.png' }
    await app.request('PUT', `/v1/users/${user}`, profile)
    const page = await openSignedIn(t)
    await openMenu(page)
    const input = page.getByRole('switch', { name: 'Show my activity to everyone' })
    const stored = () => app.request('GET', `/v1/users/${user}`)
    await input.check()
    await page.getByText('Everyone can see your activity now.').waitFor()
    assert.deepEqual(await stored(), { id: user, ...profile, public_activity: true })
    await input.uncheck()
    await page.getByText('Only you can see your activity now.').waitFor()
    assert.deepEqual(await stored(), { id: user, ...profile })
  })

  it('switch of a frozen member goes back', async (t) => {
    await app.request('PUT', `/v1/users/${user}/moderation`, { hidden: false, frozen: true, reason: 'A test' })
    const page = await openSignedIn(t)
    await openMenu(page)
    const input = page.getByRole('switch')
    await eventually(() => input.isEnabled(), true)
    await input.click()
    await page.getByText('Your profile cannot be changed at present.').waitFor()
    assert.equal(await input.isChecked(), false)
  })
})

for (const colorScheme of SCHEMES) {
  it(`passes axe in ${colorScheme} mode`, async (t) => {
    const viewport = { width: 1200, height: 3000 }
    const page = await openSignedIn(t, { colorScheme, reducedMotion: 'reduce', viewport })
    await page.locator('activity-heatmap [part~=summary]:not(:empty)').waitFor()
    assert.deepEqual(await violations(page), [])
    await openMenu(page)
    await eventually(() => page.getByRole('switch').isEnabled(), true)
    assert.deepEqual(await violations(page, '#menu'), [])
    await page.keyboard.press('Escape')
    await page.evaluate(`location.hash = '#token=x'`)
    await page.locator('#notice').waitFor()
    assert.deepEqual(await violations(page), [])
  })
}

for (const width of WIDTHS) {
  it(`fits ${width} pixels`, async (t) => {
    const page = await openSignedIn(t, { viewport: { width, height: 800 } })
    await page.locator('activity-heatmap [part~=summary]:not(:empty)').waitFor()
    assert.equal(await scrollWidth(page), width)
  })
}

it('scripts have at most 72 KB gzipped', async (t) => {
  const scripts = new Map()
  const before = (page) =>
    page.on('response', (response) => {
      if (response.request().resourceType() === 'script') scripts.set(response.url(), response.text())
    })
  const page = await openSignedIn(t, { before })
  await page.locator('activity-heatmap [part~=summary]:not(:empty)').waitFor()
  let bytes = 0
  for (const text of scripts.values()) bytes += gzipSync(await text, { level: 9 }).length
  assert.ok(scripts.size > 10 && bytes <= 72 * 1024, `${scripts.size} scripts, ${bytes} bytes`)
})
