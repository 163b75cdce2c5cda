// Browser tests: the Worker in Miniflare with its store, pages on another origin, and Chromium.
//
//   const app = await shareApp()                      // in before()
//   app.newGroup()
//   const page = await app.open(t, '<activity-rank src="APP_URL" group="GROUP"></activity-rank>')
//   await app.count([{ user: '42', action: 'like', target: 'p', groups: [app.group] }])
//   await eventually(() => page.locator('[part~=row]').count(), 1)
//
// All files of a process share one browser, and apps with the same options; each test has a group of its own. A file whose
// tests read boards of the whole deployment has an app of its own: `startApp` in before(), `app.stop` in after(). In the HTML
// of a page, APP_URL and GROUP are replaced by the app's URL and the group. A page closes when its test ends.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

import { chromium } from 'playwright-core'

import { bundleElement } from '../../scripts/web.mjs'
import { depth } from '../sdk/depth.mjs'
import { listen } from '../sdk/listen.mjs'
import { STORE_TIMEOUT, scaled } from '../sdk/slowness.mjs'
import { startGateway } from '../sdk/support.mjs'
import { startWorker } from '../sdk/worker.mjs'

export { eventually } from '../sdk/eventually.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SERVICE_KEY = 'test-service-key'
const JWT_SECRET = 'a test secret that is longer than 32 bytes'
const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The color schemes and widths in which pages and elements are tested. */
export const SCHEMES = depth(['dark', 'light'])
export const WIDTHS = depth([240, 390, 768, 1280])

/** A phone's viewport, as options of `open` and `visit`. */
export const PHONE = { viewport: { width: 320, height: 640 } }

/** @type {Map<string, Promise<TestApp>>} by their options */
const shared = new Map()
/** @type {Promise<import('playwright-core').Browser> | undefined} */
let browser

after(async () => {
  // One that has failed to start must not keep the browser open.
  await Promise.allSettled([...shared.values()].map(async (app) => (await app).stop()))
  await (await browser)?.close()
})

/** Returns the app with these options, which all files of the process share. It ends with the process. */
export function shareApp(options = {}) {
  const key = JSON.stringify(options)
  if (!shared.has(key)) shared.set(key, startApp(options))
  return shared.get(key)
}

/**
 * Starts an app. `vars` are added to the Worker's variables; without `live` there are no event streams, and without
 * `databases` no archive and no journal.
 */
export async function startApp({ vars = {}, live = true, databases = false } = {}) {
  const app = new TestApp()
  try {
    await app.start(vars, { live, databases })
  } catch (error) {
    await app.stop()
    throw error
  }
  return app
}

class TestApp {
  serviceKey = SERVICE_KEY
  #cleanups = []
  #handlers = new Map() // by path, on the origin of pages
  #groups = 0

  async start(vars, options) {
    this.store = await startGateway()
    this.#cleanups.push(() => this.store.stop())
    this.pages = await this.#servePages()
    const worker = await startWorker(
      {
        UPSTASH_REDIS_REST_URL: this.store.url,
        UPSTASH_REDIS_REST_TOKEN: this.store.token,
        SERVICE_KEYS: SERVICE_KEY,
        JWT_SECRET,
        ALLOWED_ORIGINS: this.pages,
        // The test machine may be busy.
        STORE_TIMEOUT_MS: STORE_TIMEOUT,
        ...vars,
      },
      options,
    )
    this.#cleanups.push(() => worker.stop())
    this.url = worker.url
    browser ??= chromium.launch({ executablePath: join(ROOT, 'scripts/chromium'), args: CHROMIUM_FLAGS })
    this.browser = await browser
  }

  async stop() {
    for (const cleanup of this.#cleanups.splice(0).reverse()) await cleanup()
  }

  /** Selects an unused group. */
  newGroup() {
    this.group = `g${++this.#groups}`
    return this.group
  }

  /** Sends a request with the service key or another token, and returns the body. Fails unless the status is 2xx. */
  async request(method, path, body = undefined, token = SERVICE_KEY) {
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    })
    const text = await response.text()
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`)
    return text && JSON.parse(text)
  }

  /** Sends activities. Fails unless each is counted or undone. */
  async count(activities) {
    const { results } = await this.request('POST', '/v1/activity', activities)
    for (const [index, result] of results.entries()) {
      assert.match(String(result.outcome), /^(counted|undone)$/, JSON.stringify([activities[index], result]))
    }
  }

  /**
   * Runs a cron job, by default that of every five minutes: the outbox moves to the journal, whose numbers are summed up.
   * That of every minute evaluates achievements.
   */
  async runCron(cron = '*/5 * * * *') {
    const query = new URLSearchParams({ cron, time: `${Date.now()}` })
    const response = await fetch(`${this.url}/cdn-cgi/local/scheduled?${query}`)
    assert.ok(response.ok, `${response.status} ${await response.text()}`)
  }

  /** Returns the all-time score of a user. */
  async score(user) {
    return (await this.request('GET', `/v1/ranking/all/users/${user}`)).score
  }

  /** Returns a user token that is valid for an hour. */
  token(user) {
    const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const exp = Math.floor(Date.now() / 1000) + 3600
    const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ sub: user, exp })}`
    return `${signed}.${createHmac('sha256', JWT_SECRET).update(signed).digest('base64url')}`
  }

  /** Serves a path on the origin of pages, and returns its URL. */
  serve(path, handler) {
    this.#handlers.set(path, handler)
    return this.pages + path
  }

  /** Serves a path as HTML, and returns its URL. */
  serveHtml(path, html) {
    return this.serve(path, (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      response.end(`<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,">${html}`)
    })
  }

  /** Opens a page of another origin that loads both elements and has this content. */
  async open(t, body, options = {}) {
    const content = body.replaceAll('APP_URL', this.url).replaceAll('GROUP', this.group)
    const url = this.serveHtml(
      `/${this.#handlers.size}.html`,
      `<title>A page</title>
      <meta name="viewport" content="width=device-width">
      <script type="module" src="${this.url}/elements/activity-rank.js"></script>
      <script type="module" src="${this.url}/elements/activity-heatmap.js"></script>
      <main><h1>A page</h1>${content}</main>`,
    )
    return this.visit(t, url, options)
  }

  /**
   * Opens a URL in a new browser context. `options` are those of a Playwright context; `before` is called with the
   * page before it navigates. `page.errors` collects exceptions and console errors, except for failed requests.
   */
  async visit(t, url, { before = undefined, ...options } = {}) {
    const context = await this.browser.newContext({ locale: 'en-US', timezoneId: 'UTC', ...options })
    context.setDefaultTimeout(scaled(30_000))
    t.after(() => context.close())
    const errors = []
    const page = Object.assign(await context.newPage(), { errors })
    page.on('pageerror', (error) => errors.push(String(error)))
    page.on('console', (message) => {
      const isRequest = message.text().startsWith('Failed to load resource')
      if (message.type() === 'error' && !isRequest) errors.push(message.text())
    })
    await before?.(page)
    await page.goto(url)
    return page
  }

  async #servePages() {
    const { url, stop } = await listen((request, response) => {
      const handler = this.#handlers.get(new URL(request.url, 'http://pages').pathname)
      if (handler) return handler(request, response)
      response.writeHead(404).end()
    })
    this.#cleanups.push(stop)
    return url
  }
}

/** Delays matching requests of a page until the returned function is called. */
export async function delayRequests(page, pattern) {
  const { promise, resolve } = Promise.withResolvers()
  await page.route(pattern, async (route) => {
    await promise
    await route.fallback()
  })
  return () => resolve(undefined)
}

/** Pauses the clock of a page, and collects the delays of its timers in the global `delays` from the next load on. */
export async function recordDelays(page) {
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 60_000)
  await page.addInitScript(() => {
    const { setTimeout } = window
    globalThis.delays = []
    const record = (callback, delay) => {
      globalThis.delays.push(delay)
      return setTimeout(callback, delay)
    }
    Object.assign(window, { setTimeout: record })
  })
}

/** Collects the URLs of requests that match, from now on. */
export function recordRequests(page, pattern) {
  const urls = []
  page.on('request', (request) => pattern.test(request.url()) && urls.push(request.url()))
  return urls
}

/** Hides or shows a page, as switching tabs does. */
export const setHidden = (page, isHidden) =>
  page.evaluate((isHidden) => {
    Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, isHidden)

/** Sends activities from a page with the service key, and returns their outcomes. */
export const sendFrom = (page, app, activities) =>
  page.evaluate(
    async ([url, key, body]) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const response = await fetch(`${url}/v1/activity`, { method: 'POST', headers, body })
      return (await response.json()).results.map(({ outcome }) => outcome)
    },
    [app.url, app.serviceKey, JSON.stringify(activities)],
  )

/** Opens the menu of a page, which has language, theme and session. */
export async function openMenu(page) {
  await page.locator('#menu-button').click()
  await page.locator('#menu').waitFor()
}

/** Returns the names on a page's boards, in order. */
export const names = (page) => page.locator('tbody [part=name]').allTextContents()

/** Returns the accessibility violations that axe finds with all its rules. */
export async function violations(page, selector = undefined) {
  if (!(await page.evaluate('Boolean(globalThis.axe)'))) await page.evaluate(AXE)
  const { violations, incomplete } = await page.evaluate(
    (selector) => /** @type {any} */ (globalThis).axe.run(selector ?? document),
    selector,
  )
  // Undecided contrast counts as a violation, except for single letters.
  const undecided = incomplete.filter(({ id }) => id === 'color-contrast')
  return [...violations, ...undecided]
    .flatMap(({ id, nodes }) => nodes.map(({ html, any }) => `${id}: ${html} ${any[0]?.message ?? ''}`))
    .filter((violation) => !violation.includes('too short to determine'))
}

/** Returns the cumulative layout shift of a page, as measured by Chromium since it was opened. */
export async function layoutShift(page) {
  return page.evaluate(
    () =>
      new Promise((resolve) => {
        let sum = 0
        new PerformanceObserver((list) => {
          for (const { value } of /** @type {any[]} */ (list.getEntries())) sum += value
        }).observe({ type: 'layout-shift', buffered: true })
        requestAnimationFrame(() => setTimeout(() => resolve(sum), 100))
      }),
  )
}

/** Returns the scroll width of a page. */
export const scrollWidth = (page) => page.evaluate('document.documentElement.scrollWidth')

/** Returns the structure of an object of texts: its keys and the types of their values. */
export const shapeOf = (texts) =>
  Object.entries(texts).map(([name, text]) => [name, typeof text === 'object' ? shapeOf(text) : typeof text])

/** Returns the gzipped size in bytes of an embedded element, a file of web/elements, as a deployment serves it. */
export async function elementSize(file) {
  return gzipSync((await bundleElement(file)).code, { level: 9 }).length
}

/** Returns the size in bytes of files of web/ that are concatenated and gzipped. */
export function gzippedSize(names) {
  const files = names.map((name) => readFileSync(join(ROOT, 'web', name)))
  return gzipSync(Buffer.concat(files), { level: 9 }).length
}
