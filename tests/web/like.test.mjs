// <activity-like> on pages of another origin.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'

import { openAdmin } from './admin_page.mjs'
import { eventually, layoutShift, SCHEMES, scrollWidth, startApp, violations } from './support.mjs'

let app
let target
let tests = 0

before(async () => {
  app = await startApp({
    vars: {
      CONTENT_PERIODS: 'all',
      VISITORS: 'like,helpful,unhelpful',
      VISITOR_KEY: 'a secret of visitors with 32 bytes',
      VISITORS_PER_ADDRESS: 1000,
      RULES: { helpful: { points: 1 }, unhelpful: { points: 1 } },
      BOARD_MAX_AGE: 0,
    },
  })
})
after(() => app?.stop())
beforeEach(async () => {
  target = await register(`post-${++tests}`)
})

async function register(target) {
  await app.request('PUT', `/v1/targets/${target}`, { title: 'A post' })
  return target
}

/** Waits until a target has these numbers. */
async function counted(expected, id = target) {
  const actions = Object.keys(expected)
  const read = () => app.request('GET', `/v1/content/counts?actions=${actions}&targets=${id}`)
  await eventually(async () => (await read()).targets[0].counts, expected)
}

/**
 * Opens a page with a button, or with other content.
 * @param {any} t
 * @param {Record<string, any>} [options]
 */
async function open(t, { body = undefined, attributes = '', script = '', fallback = '', ...options } = {}) {
  const button = `<activity-like src="APP_URL" target="${target}" ${attributes}>${fallback}</activity-like>`
  return app.open(
    t,
    `${body ?? button}<script>${script}</script>
    <script type="module" src="APP_URL/elements/activity-like.js"></script>`,
    options,
  )
}

const button = (page, name = 'Like') => page.getByRole('button', { name })
/** Returns number and state of a button. */
const stateOf = async (page, name = 'Like') => {
  const found = button(page, name)
  return [await found.locator('[part=count]').innerText(), await found.getAttribute('aria-pressed')]
}
const status = (page) => page.locator('activity-like [part=status]').innerText()
const loaded = (page) => page.locator('activity-like section:not(.loading)').first().waitFor()

describe('like', () => {
  it('state of a visitor survives a reload', async (t) => {
    const page = await open(t)
    await loaded(page)
    assert.deepEqual(await stateOf(page), ['0', 'false'])
    // Nothing is stored before the first answer.
    assert.equal(await page.evaluate('localStorage.length'), 0)
    await button(page).click()
    assert.deepEqual(await stateOf(page), ['1', 'true'])
    await counted({ like: 1 })
    await page.reload()
    await loaded(page)
    await eventually(() => stateOf(page), ['1', 'true'])
    await button(page).click()
    assert.deepEqual(await stateOf(page), ['0', 'false'])
    await counted({ like: 0 })
    await page.reload()
    await loaded(page)
    await eventually(() => stateOf(page), ['0', 'false'])
    assert.deepEqual(page.errors, [])
  })

  it('member likes by token', async (t) => {
    const user = `member-${tests}`
    const script = `document.querySelector('activity-like').token = async () => '${app.token(user)}'`
    const page = await open(t, { attributes: `user="${user}"`, script })
    await loaded(page)
    await button(page).click()
    await counted({ like: 1 })
    assert.equal(await app.score(user), 2)
    assert.equal(await page.evaluate('localStorage.length'), 0)
    await page.reload()
    await eventually(() => stateOf(page), ['1', 'true'])
  })

  it('buttons of a page share requests and a visitor', async (t) => {
    const targets = []
    for (const name of ['a', 'b,c', '100%']) {
      await app.request('PUT', '/v1/targets', [{ id: `${target}-${name}` }])
      targets.push(`${target}-${name}`)
    }
    const body = targets.map((id) => `<activity-like src="APP_URL" target="${id}"></activity-like>`).join('')
    const requests = []
    const before = (page) =>
      page.on('request', (request) => /\/v1\//.test(request.url()) && requests.push(request.url()))
    const page = await open(t, { body: body + body, before })
    await page.waitForFunction('document.querySelectorAll("activity-like").length === 6')
    await loaded(page)
    const buttons = page.getByRole('button')
    await eventually(() => buttons.count(), 6)
    assert.equal(requests.length, 1, String(requests))
    await Promise.all([0, 1, 2].map((index) => buttons.nth(index).evaluate((element) => element.click())))
    // The other button of a target has the same state.
    const states = () => buttons.evaluateAll((all) => all.map((one) => one.ariaPressed))
    await eventually(states, Array(6).fill('true'))
    for (const id of targets) await counted({ like: 1 }, encodeURIComponent(id.replace(/[%,]/g, encodeURIComponent)))
    assert.equal(requests.filter((url) => url.endsWith('/v1/visitors')).length, 1)
  })

  it('failure takes the answer back', async (t) => {
    const page = await open(t)
    await loaded(page)
    await page.route('**/v1/activity', (route) => route.abort())
    await button(page).click()
    await eventually(() => status(page), 'Not saved. Try again later.')
    assert.deepEqual(await stateOf(page), ['0', 'false'])
    await page.unroute('**/v1/activity')
    await page.route('**/v1/activity', (route) =>
      route.fulfill({ json: { results: [{ outcome: 'capped', reason: 'daily-cap', points: 0 }] } }),
    )
    await button(page).click()
    await eventually(() => status(page), 'You have reached the limit of today.')
    assert.deepEqual(await stateOf(page), ['0', 'false'])
    await page.unroute('**/v1/activity')
    await button(page).click()
    await counted({ like: 1 })
    assert.deepEqual(await stateOf(page), ['1', 'true'])
    assert.equal(await status(page), '')
  })

  for (const [name, attributes, expected] of [
    ['missing target', '', 'The attribute `target` is missing.'],
    [
      'missing action of VISITORS',
      'target="p" type="helpful"',
      'responded with status 400: actions: each must be one of like. Does its setting VISITORS contain helpful,unhelpful?',
    ],
  ]) {
    it(`console names a ${name}`, async (t) => {
      const warnings = []
      const json = { title: 'Invalid', status: 400, detail: 'actions: each must be one of like' }
      await open(t, {
        body: `<activity-like src="APP_URL" ${attributes}></activity-like>`,
        before: async (page) => {
          page.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()))
          await page.route('**/v1/content/counts*actions=helpful*', (route) => route.fulfill({ status: 400, json }))
        },
      })
      await eventually(() => warnings.map((line) => line.endsWith(expected)), [true])
    })
  }

  it('visitor with an invalid token is replaced', async (t) => {
    const script = `localStorage.setItem('activity-rank visitor APP_URL/', JSON.stringify({
      user: 'visitor:AAAAAAAAAAAAAAAAAAAAAA', token: 'visitor:AAAAAAAAAAAAAAAAAAAAAA.AAAA' }))`
    const page = await open(t, { script })
    await loaded(page)
    assert.deepEqual(await stateOf(page), ['0', 'false'])
    await button(page).click()
    await counted({ like: 1 })
    assert.deepEqual(await stateOf(page), ['1', 'true'])
  })

  it('without storage the state lasts until a reload', async (t) => {
    const denied = (page) =>
      page.addInitScript(() => {
        Object.defineProperty(window, 'localStorage', {
          get() {
            throw new DOMException('denied', 'SecurityError')
          },
        })
      })
    const page = await open(t, { before: denied })
    await loaded(page)
    await button(page).click()
    await counted({ like: 1 })
    await button(page).click()
    await counted({ like: 0 })
    await button(page).click()
    await counted({ like: 1 })
    await page.reload()
    await loaded(page)
    await eventually(() => stateOf(page), ['1', 'false'])
    assert.deepEqual(page.errors, [])
  })

  it('keyboard operates it, and fires events', async (t) => {
    const script = `addEventListener('answer', ({ detail }) => (globalThis.answers ??= []).push(detail))`
    const page = await open(t, { script })
    await loaded(page)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await eventually(() => page.evaluate('globalThis.answers'), [{ target, action: 'like', done: true }])
    assert.deepEqual(await page.evaluate(`document.querySelector('activity-like').counts`), { like: 1 })
    await page.getByRole('button', { name: 'Like 1', pressed: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Like 0', pressed: false }).waitFor()
  })

  it('form of the site stays during an outage', async (t) => {
    const fallback = '<form method="post" action="/like"><button>Like it</button></form>'
    const page = await open(t, { fallback })
    await loaded(page)
    assert.equal(await page.getByRole('button', { name: 'Like it' }).isVisible(), false)
    const off = await open(t, {
      fallback,
      before: (page) => page.route('**/v1/content/counts*', (route) => route.abort()),
    })
    await off.getByRole('button', { name: 'Like it' }).waitFor()
    assert.equal(await off.locator('activity-like [part~=answer]').isVisible(), false)
  })

  it('texts are in the language of the page', async (t) => {
    const page = await open(t, { attributes: 'lang="zh-CN" type="helpful"' })
    await loaded(page)
    assert.equal(await page.locator('activity-like [part=question]').innerText(), '这个页面有帮助吗？')
  })

  it('loading shifts nothing', async (t) => {
    for (let n = 0; n < 12; n++) await app.count([{ user: `u${n}`, action: 'like', target }])
    await counted({ like: 12 })
    const reserved = 'display: inline-block; min-block-size: 2.25em; vertical-align: middle'
    const body = `<style>activity-like:not(:defined) { ${reserved} }</style>
      <p><activity-like src="APP_URL" target="${target}"></activity-like></p><p>A text below</p>`
    const page = await open(t, { body, viewport: { width: 320, height: 640 } })
    await loaded(page)
    await button(page).click()
    assert.deepEqual(await stateOf(page), ['13', 'true'])
    assert.equal(await layoutShift(page), 0)
    assert.equal(await scrollWidth(page), 320)
  })

  it('like of an unregistered target is not saved', async (t) => {
    target = `unregistered-${tests}`
    const page = await open(t)
    await loaded(page)
    const warning = page.waitForEvent('console', (message) => message.type() === 'warning')
    await button(page).click()
    await eventually(() => status(page), 'Not saved. Try again later.')
    assert.deepEqual(await stateOf(page), ['0', 'false'])
    assert.match((await warning).text(), /responded with status 404: The target is not registered/)
  })

  it('reduced motion is respected', async (t) => {
    const recorded = (page) =>
      page.addInitScript(() => {
        globalThis.animations = 0
        const { animate } = Element.prototype
        Element.prototype.animate = function (...options) {
          globalThis.animations++
          return animate.apply(this, options)
        }
      })
    for (const [reducedMotion, expected] of /** @type {const} */ ([
      ['reduce', 0],
      ['no-preference', 1],
    ])) {
      const page = await open(t, { before: recorded, reducedMotion })
      await loaded(page)
      await button(page).click()
      assert.equal(await page.evaluate('globalThis.animations'), expected)
    }
  })

  for (const colorScheme of SCHEMES) {
    it(`passes axe in ${colorScheme} mode`, async (t) => {
      const attributes = `theme="${colorScheme}"`
      const style = colorScheme === 'dark' ? '<style>html { background: #111; color: #eee }</style>' : ''
      const body = ['', 'type="helpful"'].map(
        (type) => `<activity-like src="APP_URL" target="${target}" ${attributes} ${type}></activity-like>`,
      )
      const page = await open(t, { body: style + body.join(''), colorScheme, reducedMotion: 'reduce' })
      await eventually(() => page.getByRole('button').count(), 3)
      await loaded(page)
      assert.deepEqual(await violations(page), [])
      await button(page).click()
      await button(page, 'Yes').click()
      await eventually(() => page.getByText('Thank you.').count(), 1)
      assert.deepEqual(await violations(page), [])
    })
  }
})

describe('question', () => {
  it('one answer stands at most', async (t) => {
    const page = await open(t, { attributes: 'type="helpful"' })
    await loaded(page)
    const states = async () => [await stateOf(page, 'Yes'), await stateOf(page, 'No')]
    await page.getByRole('group', { name: 'Was this page helpful?' }).waitFor()
    await button(page, 'Yes').click()
    await eventually(() => status(page), 'Thank you.')
    await counted({ helpful: 1, unhelpful: 0 })
    await button(page, 'No').click()
    await counted({ helpful: 0, unhelpful: 1 })
    assert.deepEqual(await states(), [
      ['0', 'false'],
      ['1', 'true'],
    ])
    await page.reload()
    await loaded(page)
    await eventually(states, [
      ['0', 'false'],
      ['1', 'true'],
    ])
    await button(page, 'No').click()
    await counted({ helpful: 0, unhelpful: 0 })
    assert.deepEqual(page.errors, [])
  })

  it('refused answer leaves the other one taken back', async (t) => {
    const page = await open(t, { attributes: 'type="helpful"' })
    await loaded(page)
    await button(page, 'Yes').click()
    await counted({ helpful: 1, unhelpful: 0 })
    const results = [{ outcome: 'undone' }, { outcome: 'capped', reason: 'daily-cap', points: 0 }]
    await page.route('**/v1/activity', (route) => route.fulfill({ json: { results } }))
    await button(page, 'No').click()
    await eventually(() => status(page), 'You have reached the limit of today.')
    assert.deepEqual(
      [await stateOf(page, 'Yes'), await stateOf(page, 'No')],
      [
        ['0', 'false'],
        ['0', 'false'],
      ],
    )
  })
})

it('admin page lists the most answered pages', async (t) => {
  await register(`${target}-b`)
  const answer = (user, action, id) => ({ user, action, target: id })
  await app.count([
    answer('a', 'helpful', target),
    ...['a', 'b', 'c'].map((user) => answer(user, user === 'c' ? 'unhelpful' : 'helpful', `${target}-b`)),
  ])
  await counted({ helpful: 2, unhelpful: 1 }, `${target}-b`)
  await counted({ helpful: 1 })
  const page = await openAdmin(t, app)
  const rows = page.getByRole('region', { name: 'Was this page helpful?' }).locator('tbody tr')
  // Other tests have answered, too.
  const found = async () =>
    (await rows.allInnerTexts()).map((row) => row.split(/\s+/)).filter(([name]) => name.startsWith(target))
  await eventually(found, [
    [`${target}-b`, '2', '1'],
    [target, '1', '0'],
  ])
})
