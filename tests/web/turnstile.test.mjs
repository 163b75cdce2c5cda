// The Turnstile widget of <activity-like>, with stand-ins for the script and the check of Cloudflare.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'

import { listen } from '../sdk/listen.mjs'
import { eventually, layoutShift, PHONE, recordRequests, scrollWidth, startApp } from './support.mjs'

const CLOUDFLARE = 'https://challenges.cloudflare.com/'
const NOT_SAVED = 'Not saved. Try again later.'
const FRAME = `<!doctype html><title>Turnstile</title><button onclick="parent.postMessage('done', '*')">Verify</button>`

let app
let server
let checks // forms that the check has received
let isAccepted
let tests = 0
let targets

before(async () => {
  server = await listen(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    checks.push(Object.fromEntries(new URLSearchParams(body)))
    response.end(JSON.stringify({ success: isAccepted }))
  })
  app = await startApp({
    vars: {
      CONTENT_PERIODS: 'all',
      VISITORS: 'like',
      VISITOR_KEY: 'a secret of visitors with 32 bytes',
      VISITORS_PER_ADDRESS: 1000,
      TURNSTILE_SECRET: 'the secret key',
      TURNSTILE_URL: `${server.url}/siteverify`,
      BOARD_MAX_AGE: 0,
    },
  })
})
after(async () => {
  await app?.stop()
  await server?.stop()
})
beforeEach(async () => {
  targets = ['a', 'b'].map((name) => `post-${tests}-${name}`)
  tests++
  checks = []
  isAccepted = true
  await app.request(
    'PUT',
    '/v1/targets',
    targets.map((id) => ({ id })),
  )
})

/** Runs in the page as the script of Turnstile. `widgets` has the options of each; `outcome` is what the next does. */
function standIn() {
  const page = /** @type {any} */ (globalThis)
  page.widgets = []
  page.turnstile = {
    render(container, options) {
      const number = page.widgets.push(options)
      const frame = document.createElement('iframe')
      frame.src = 'https://challenges.cloudflare.com/frame'
      const isInteractive = page.outcome === 'interaction'
      Object.assign(frame, { width: isInteractive ? '300' : '0', height: isInteractive ? '65' : '0' })
      frame.style.border = 'none'
      const succeed = () => options.callback(`token-${number}`)
      if (isInteractive) addEventListener('message', succeed, { once: true })
      else if (page.outcome) frame.onload = () => options[page.outcome]('300030')
      else frame.onload = succeed
      container.append(frame)
      return `widget-${number}`
    },
    remove(id) {
      page.removed = [...(page.removed ?? []), id]
    },
  }
}

/** Answers the requests of a page to Cloudflare. */
const routed = (page) =>
  page.route(`${CLOUDFLARE}**`, (route) =>
    route.request().url().endsWith('/api.js?render=explicit')
      ? route.fulfill({ contentType: 'text/javascript', body: `(${standIn})()` })
      : route.fulfill({ contentType: 'text/html', body: FRAME }),
  )

const buttonsOf = (attributes = 'turnstile="site-key"') =>
  targets.map((id) => `<activity-like src="APP_URL" target="${id}" ${attributes}></activity-like>`).join('')

/** Opens a page with a button for each target; the next widget has this outcome. */
async function open(t, { body = buttonsOf(), outcome = '', ...options } = {}) {
  const before = async (page) => {
    await routed(page)
    await page.addInitScript((outcome) => Object.assign(globalThis, { outcome }), outcome)
  }
  const script = '<script type="module" src="APP_URL/elements/activity-like.js"></script>'
  const page = await app.open(t, body + script, { before, ...options })
  await eventually(() => page.getByRole('button', { disabled: false }).count(), 2)
  return page
}

const button = (page, index) => page.getByRole('button').nth(index)
const press = (page, index) => button(page, index).evaluate((element) => element.click())
const status = (page) => page.locator('activity-like [part=status]').first()
const pressed = (page) => page.getByRole('button').evaluateAll((all) => all.map((one) => one.ariaPressed))
const next = (page, outcome) => page.evaluate((outcome) => Object.assign(globalThis, { outcome }), outcome)
const visitors = (page) => recordRequests(page, /\/v1\/visitors$/)

/** Waits until the targets have these numbers. */
async function counted(...expected) {
  const read = () => app.request('GET', `/v1/content/counts?actions=like&targets=${targets}`)
  await eventually(async () => (await read()).targets.map(({ counts }) => counts.like), expected)
}

describe('turnstile', () => {
  it('first press of any button gets one token', async (t) => {
    const requests = []
    const page = await open(t, { body: `${buttonsOf()}<p id="turnstile"></p>` })
    page.on('request', (request) => requests.push(request.url()))
    assert.equal(await page.evaluate('typeof globalThis.widgets'), 'undefined')
    await Promise.all([press(page, 0), press(page, 1)])
    await counted(1, 1)
    assert.deepEqual(await pressed(page), ['true', 'true'])
    const made = requests.filter((url) => /turnstile|visitors/.test(url)).map((url) => url.replace(app.url, ''))
    assert.deepEqual(made, [
      '/elements/turnstile.js',
      `${CLOUDFLARE}turnstile/v0/api.js?render=explicit`,
      '/v1/visitors',
    ])
    assert.deepEqual(checks, [{ secret: 'the secret key', response: 'token-1', remoteip: '127.0.0.1' }])
    const [options, ...more] = await page.evaluate('JSON.parse(JSON.stringify(globalThis.widgets))')
    const expected = {
      sitekey: 'site-key',
      appearance: 'interaction-only',
      theme: 'auto',
      'response-field': false,
    }
    assert.deepEqual([options, more], [expected, []])
    // Nothing is left in the page.
    assert.deepEqual(await page.evaluate('globalThis.removed'), ['widget-1'])
    assert.equal(await page.evaluate('document.querySelectorAll("activity-like > *, iframe").length'), 0)
    await page.reload()
    await eventually(() => pressed(page), ['true', 'true'])
    await press(page, 0)
    await counted(0, 1)
    assert.equal(checks.length, 1)
    assert.deepEqual(page.errors, [])
  })

  it('failure of the widget counts nothing', async (t) => {
    const page = await open(t)
    const created = visitors(page)
    await page.route(`${CLOUDFLARE}**`, (route) => route.abort())
    await press(page, 0)
    await eventually(() => status(page).innerText(), NOT_SAVED)
    assert.deepEqual(await pressed(page), ['false', 'false'])
    await page.unroute(`${CLOUDFLARE}**`)
    await routed(page)
    for (const outcome of ['error-callback', 'timeout-callback', 'unsupported-callback']) {
      await next(page, outcome)
      await status(page).evaluate((element) => {
        const observer = new MutationObserver(() => {
          if (!element.textContent) element.dataset.cleared = 'true'
        })
        observer.observe(element, { childList: true, characterData: true, subtree: true })
      })
      await press(page, 0)
      await eventually(() => status(page).evaluate((element) => element.dataset.cleared), 'true')
      await eventually(() => status(page).innerText(), NOT_SAVED)
      await status(page).evaluate((element) => delete element.dataset.cleared)
      assert.deepEqual(await pressed(page), ['false', 'false'], outcome)
    }
    assert.deepEqual([created, checks], [[], []])
    await counted(0, 0)
    await next(page, '')
    await press(page, 0)
    await counted(1, 0)
    assert.deepEqual(await pressed(page), ['true', 'false'])
    assert.equal(created.length, 1)
  })

  it('refused token is replaced by the next press', async (t) => {
    isAccepted = false
    const page = await open(t)
    await press(page, 0)
    await eventually(() => status(page).innerText(), NOT_SAVED)
    await counted(0, 0)
    isAccepted = true
    await press(page, 0)
    await counted(1, 0)
    assert.deepEqual(
      checks.map(({ response }) => response),
      ['token-1', 'token-2'],
    )
  })

  it('interaction is below the button', async (t) => {
    for (const align of ['left', 'right']) {
      const style = `<style>main { text-align: ${align} } activity-like:not(:defined) {
        display: inline-block; min-block-size: 2.25em; vertical-align: middle }</style>`
      const attributes = 'turnstile="site-key" theme="dark"'
      const page = await open(t, { body: style + buttonsOf(attributes), outcome: 'interaction', ...PHONE })
      await button(page, 1).click()
      const frame = page.locator('iframe')
      await frame.waitFor()
      const boxes = await Promise.all([frame, button(page, 1)].map((element) => element.boundingBox()))
      assert.ok(boxes[0].y >= boxes[1].y + boxes[1].height - 1, JSON.stringify(boxes))
      assert.ok(boxes[0].x >= 0 && boxes[0].x + 300 <= 320, JSON.stringify(boxes))
      assert.deepEqual([await scrollWidth(page), await layoutShift(page)], [320, 0])
      assert.equal(await page.evaluate('globalThis.widgets[0].theme'), 'dark')
      await page.frameLocator('iframe').getByRole('button').click()
      await eventually(() => frame.count(), 0)
      await counted(0, align === 'left' ? 1 : 2)
    }
  })

  it('removed button does not block others', async (t) => {
    const page = await open(t, { outcome: 'interaction' })
    await press(page, 0)
    await page.locator('iframe').waitFor()
    await page.evaluate(() => document.querySelector('activity-like')?.remove())
    await next(page, '')
    await eventually(async () => {
      if ((await pressed(page))[0] === 'false') await press(page, 0)
      return checks.length
    }, 1)
    await counted(0, 1)
  })

  it('function of the page replaces the widget', async (t) => {
    const page = await open(t)
    await page.evaluate(() => {
      Object.assign(customElements.get('activity-like') ?? {}, { turnstile: async () => 'own token' })
    })
    await press(page, 0)
    await counted(1, 0)
    assert.equal(checks[0].response, 'own token')
    assert.equal(await page.evaluate('typeof globalThis.widgets'), 'undefined')
  })

  it('documented policy allows the widget', async (t) => {
    const { file, integrity } = (await (await fetch(`${app.url}/elements/integrity.json`)).json())['activity-like.js']
    const policy = `default-src 'none'; script-src ${app.url} https://challenges.cloudflare.com;
      connect-src ${app.url}; frame-src https://challenges.cloudflare.com`
    const url = app.serve(`/policy-${tests}.html`, (_, response) => {
      response.writeHead(200, {
        'content-type': 'text/html',
        'content-security-policy': policy.replace(/\s+/g, ' '),
      })
      response.end(`<!doctype html><html lang="en"><title>A page</title>
        <script type="module" src="${app.url}${file}" integrity="${integrity}" crossorigin></script>
        <activity-like src="${app.url}" target="${targets[0]}" turnstile="site-key"></activity-like>`)
    })
    const page = await app.visit(t, url, { before: routed })
    await page.getByRole('button', { disabled: false }).click()
    await counted(1, 0)
    assert.deepEqual(page.errors, [])
  })
})
