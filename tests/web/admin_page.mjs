// Opens the admin page of a test app, with the files that `make build` copies from packages.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'"

const STATUS = {
  version: '0.1.0',
  store: { latency_ms: 12, circuit: 'closed' },
  outbox: { entries: 3, oldest: null },
  queue: { oldest: null, delivered: null },
  commands: { processed: 1234, uptime_seconds: 7200 },
}

/** The folder of uPlot's files: that of the package, or `UPLOT_DIST`. */
function uplotFolder() {
  if (process.env.UPLOT_DIST) return process.env.UPLOT_DIST
  return dirname(createRequire(import.meta.url).resolve('uplot'))
}

/** Serves what the app does not serve yet. */
export async function routeAdmin(page, app, { status = STATUS } = {}) {
  const html = readFileSync(new URL('../../web/admin.html', import.meta.url), 'utf8')
  const headers = { 'content-security-policy': POLICY, 'content-type': 'text/html; charset=utf-8' }
  await page.route(`${app.url}/admin`, (route) => route.fulfill({ body: html, headers }))
  for (const [file, contentType] of [
    ['uPlot.esm.js', 'text/javascript'],
    ['uPlot.min.css', 'text/css'],
  ]) {
    const path = join(uplotFolder(), file)
    await page.route(`${app.url}/vendor/uplot/${file}`, (route) => route.fulfill({ path, contentType }))
  }
  await page.route(`${app.url}/v1/status`, (route) => route.fulfill({ json: status }))
}

/**
 * Opens a view, signed in with a key unless it is `null`.
 * @param {any} t
 * @param {any} app
 * @param {string} [hash]
 * @param {Record<string, any>} [options] those of `visit`, with `key` and the response of `/v1/status`
 */
export async function openAdmin(t, app, hash = '', { key = app.serviceKey, status = undefined, ...options } = {}) {
  const before = async (page) => {
    await routeAdmin(page, app, { status })
    await options.before?.(page)
  }
  const page = await app.visit(t, `${app.url}/admin${hash}`, { ...options, before })
  await page.locator('html[data-ready]').waitFor()
  if (key !== null) {
    await signIn(page, key)
    await page.locator('#view h1').waitFor()
  }
  return page
}

export async function signIn(page, key) {
  await page.locator('#key').fill(key)
  await page.locator('#key').press('Enter')
}
