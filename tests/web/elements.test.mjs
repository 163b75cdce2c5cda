// Common behaviour of all elements: properties, and failures that end loading.

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'

import { elementSize, eventually, recordRequests, shareApp } from './support.mjs'

/** Each element with its attributes, and the value that its test sets. */
const ELEMENTS = {
  'activity-rank': {
    src: 'APP_URL',
    of: 'authors',
    period: 'week',
    date: '2026-11-20',
    group: 'x',
    event: 'hackathon',
    user: 'ada',
    limit: '7',
    layout: 'list',
    winners: 'none',
    'member-url': '/u/{user}',
    refresh: '0',
    theme: 'dark',
  },
  'activity-card': { src: 'APP_URL', user: 'ada', refresh: '0', theme: 'dark' },
  'activity-heatmap': { src: 'APP_URL', user: 'ada', days: '31', refresh: '0', theme: 'dark' },
}
const SCRIPT = '<script type="module" src="APP_URL/elements/activity-card.js"></script>'
const CORS = { 'access-control-allow-origin': '*' }
const PERIOD = {
  kind: 'week',
  id: '2026-W48',
  start: '2026-11-22T16:00:00Z',
  end: '2026-11-29T16:00:00Z',
  timezone: 'Asia/Nowhere',
  closed: true,
}
const BOARD = { period: PERIOD, total: 1, entries: [{ rank: 1, score: 9, user: { id: 'ada' } }] }

let app

before(async () => {
  app = await shareApp({ live: false })
})

const propertyOf = (name) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase())

/** Opens a page that counts the error events of each element, and answers all requests with what `answer` returns. */
const open = (t, body, answer) =>
  app.open(t, `${SCRIPT}${body}`, {
    before: async (page) => {
      await page.addInitScript(() => {
        globalThis.failed = []
        document.addEventListener(
          'error',
          ({ target }) => globalThis.failed.push(/** @type {any} */ (target).localName),
          true,
        )
      })
      await page.route(/\/v1\//, (route) => route.fulfill({ json: answer(route.request().url()), headers: CORS }))
    },
  })

describe('properties', () => {
  it('set before the definition are attributes', async (t) => {
    const tags = Object.keys(ELEMENTS).map((name) => `<${name}></${name}>`)
    const values = Object.entries(ELEMENTS).map(([name, attributes]) => [
      name,
      Object.fromEntries(Object.entries(attributes).map(([attribute, value]) => [propertyOf(attribute), value])),
    ])
    const script = `<script>
      for (const [name, values] of ${JSON.stringify(values)}) Object.assign(document.querySelector(name), values)
    </script>`
    const page = await open(t, tags.join('') + script, () => BOARD)
    for (const [name, attributes] of Object.entries(ELEMENTS)) {
      await page.waitForFunction((name) => customElements.get(name), name)
      const expected = { ...attributes, src: app.url }
      const given = await page
        .locator(name)
        .evaluate(({ attributes }) => Object.fromEntries([...attributes].map(({ name, value }) => [name, value])))
      assert.deepEqual(given, expected)
      // They are not frozen.
      for (const attribute of Object.keys(attributes)) {
        const later = await page.locator(name).evaluate(
          (element, [attribute, property]) => {
            element[property] = 'later'
            const value = element.getAttribute(attribute)
            element[property] = null
            return [value, element.getAttribute(attribute)]
          },
          [attribute, propertyOf(attribute)],
        )
        assert.deepEqual(later, ['later', null], `${name} ${attribute}`)
      }
    }
  })

  it('number that has lost digits is no attribute', async (t) => {
    const page = await open(t, '<activity-rank></activity-rank>', () => BOARD)
    const warnings = []
    page.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()))
    await page.waitForFunction(() => customElements.get('activity-rank'))
    const users = await page.locator('activity-rank').evaluate((/** @type {any} */ element) =>
      [42, Number('106242075399214372653'), 106242075399214372653n].map((user) => {
        element.user = user
        return element.getAttribute('user')
      }),
    )
    assert.deepEqual(users, ['42', null, '106242075399214372653'])
    assert.equal(warnings.length, 1)
    assert.match(warnings[0], /`user` must be a text: 106242075399214370000 has lost digits\.$/)
  })
})

describe('failures', () => {
  const BODIES = Object.keys(ELEMENTS).map((name) => [name, `<${name} user="ada" refresh="1" `])

  it('invalid src shows the fallback and is reported', async (t) => {
    const body = BODIES.map(([, tag]) => `${tag} src="http://["><b>Fallback</b></${tag.slice(1).split(' ')[0]}>`)
    const page = await open(t, body.join(''), () => BOARD)
    await eventually(() => page.evaluate('failed.sort()'), Object.keys(ELEMENTS).sort())
    assert.equal(await page.locator('b:visible').count(), BODIES.length)
    assert.equal(await page.locator('[aria-busy=true]').count(), 0)
    assert.equal(page.errors.length, BODIES.length, page.errors.join())
    // A valid one ends the failure.
    await page.evaluate((src) => {
      document.querySelector('activity-rank').src = src
    }, app.url)
    await page.locator('activity-rank [part~=row] [part=name]').first().waitFor()
    assert.equal(await page.locator('activity-rank b').isVisible(), false)
  })

  for (const [name, tag] of BODIES) {
    it(`${name}: error is reported once`, async (t) => {
      let requests = 0
      const page = await open(t, `${tag} src="APP_URL"><b>Fallback</b></${name}>`, () => {
        requests++
        // Never equal, so each is drawn.
        return { period: { kind: 'day', id: 'd' }, entries: [{ requests }], standings: { day: null }, days: null }
      })
      await page.locator('b').waitFor()
      const first = requests
      await eventually(() => requests >= first + 4, true)
      assert.deepEqual(await page.evaluate('failed'), [name])
      assert.equal(page.errors.length, 1, page.errors.join())
    })
  }

  it('unknown time zone is UTC, no link without a URL', async (t) => {
    const body =
      '<activity-rank src="APP_URL" period="week" layout="list" member-url="https://[{user}" refresh="0" lang="en"></activity-rank>'
    const page = await open(t, body, (url) => (url.includes('/winners') ? { boards: [BOARD] } : BOARD))
    await page.locator('[part~=winner]').waitFor()
    assert.deepEqual(await page.locator('[part=name]').allTextContents(), ['ada', 'ada'])
    assert.equal(await page.getByRole('link').count(), 0)
    assert.deepEqual(await page.evaluate('failed'), [])
    const title = page.locator('[part=title]')
    const shown = await title.getAttribute('title')
    assert.equal(shown.replace(/\s/g, ' '), 'Nov 23 – 29, 2026, Asia/Nowhere')
    assert.equal(await page.getByRole('button', { name: 'Previous' }).getAttribute('value'), '2026-11-22')
    assert.equal(await page.getByRole('button', { name: 'Next' }).getAttribute('value'), '2026-11-30')
    assert.deepEqual(page.errors, [])
  })
})

describe('requests', () => {
  it('element without a user sends none', async (t) => {
    const body =
      '<activity-card src="APP_URL">No card</activity-card><activity-heatmap src="APP_URL">No days</activity-heatmap>'
    let urls = []
    const before = (page) => void (urls = recordRequests(page, /\/v1\//))
    const page = await app.open(t, SCRIPT + body, { before })
    for (const text of ['No card', 'No days']) await page.getByText(text).waitFor()
    await page.waitForLoadState()
    assert.deepEqual(urls, [])
  })

  /** In KB, gzipped. */
  const SIZES = { rank: 18, climb: 12.3, heatmap: 10.5, card: 8, like: 6.5 }

  it('scripts have at most their size', async () => {
    for (const [name, limit] of Object.entries(SIZES)) {
      const bytes = await elementSize(`activity-${name}.js`)
      assert.ok(bytes <= limit * 1024, `${name}: ${bytes}`)
    }
  })
})

describe('languages', () => {
  it('tag may have underscores', async (t) => {
    const page = await open(t, '<div lang="zh_CN"><activity-rank src="APP_URL"></activity-rank></div>', () => BOARD)
    await page.getByRole('tab', { name: '日榜' }).waitFor()
    assert.equal(await page.locator('section').getAttribute('lang'), 'zh-CN')
  })
})

describe('initials', () => {
  /** A family, a flag, a letter with a combining accent, and a conjunct. */
  const NAMES = {
    '👨‍👩‍👧 Miller': '👨‍👩‍👧M',
    '🇨🇭 🇫🇷': '🇨🇭🇫🇷',
    'e\u0301mile Zola': 'e\u0301Z',
    ' Ada  Lovelace': 'AL',
    '': '',
  }

  it('are whole graphemes', async (t) => {
    const entries = Object.keys(NAMES).map((name, index) => ({
      rank: index + 1,
      score: 9,
      user: { id: `m${index}`, name },
    }))
    const body = '<activity-rank src="APP_URL"></activity-rank><activity-card src="APP_URL" user="ada"></activity-card>'
    const card = { user: entries[0].user, standings: {}, streak: null }
    const page = await open(t, body, (url) => (url.endsWith('/card') ? card : { ...BOARD, entries }))
    await eventually(() => page.locator('tbody [part=avatar]').allTextContents(), Object.values(NAMES))
    await eventually(() => page.locator('activity-card [part=avatar]').textContent(), Object.values(NAMES)[0])
  })
})
