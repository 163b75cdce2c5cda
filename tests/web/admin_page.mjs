// Opens the admin page of a test app.

/** @type {WeakMap<any, any>} the signed-in page of an app: loading one takes longer than what most tests do there */
const shared = new WeakMap()
/** A test that never ends. The page of an app ends with the browser. */
const NEVER = { after: () => {} }

/**
 * Opens a view, signed in with a key unless it is `null`. Tests with the service key and without options of the browser
 * share a page.
 * @param {any} t
 * @param {any} app
 * @param {string} [hash]
 * @param {Record<string, any>} [options] as of `visit`, with `key` and the response of `/v1/status`
 */
export async function openAdmin(t, app, hash = '', { key = app.serviceKey, status, before, ...options } = {}) {
  const prepare = async (page) => {
    if (status) await page.route(`${app.url}/v1/status`, (route) => route.fulfill({ json: status }))
    await before?.(page)
  }
  if (key === app.serviceKey && Object.keys(options).length === 0) return reopen(app, hash, prepare)
  const page = await app.visit(t, `${app.url}/admin${hash}`, { ...options, before: prepare })
  await page.locator('html[data-ready]').waitFor()
  if (key !== null) await enter(page, key)
  return page
}

/** Opens a view on the shared page, as a link does: a view keeps no state of the one before. */
async function reopen(app, hash, prepare) {
  let page = shared.get(app)
  await page?.unrouteAll({ behavior: 'ignoreErrors' })
  // A test may have signed out.
  if (!page || !(await page.locator('html.signed-in').count())) {
    page = await app.visit(NEVER, `${app.url}/admin#health`)
    await page.locator('html[data-ready]').waitFor()
    await enter(page, app.serviceKey)
    shared.set(app, page)
  }
  page.errors.length = 0
  await prepare(page)
  await page.evaluate((hash) => {
    for (const dialog of document.querySelectorAll('dialog')) dialog.remove()
    const { promise, resolve } = Promise.withResolvers()
    addEventListener('hashchange', resolve, { once: true })
    if (location.hash === hash) dispatchEvent(new HashChangeEvent('hashchange'))
    else location.hash = hash
    return promise.then(() => {})
  }, hash)
  await page.locator('#view:not([aria-busy]) h1').waitFor()
  return page
}

async function enter(page, key) {
  await signIn(page, key)
  await page.locator('#view h1').waitFor()
}

export async function signIn(page, key) {
  await page.locator('#key').fill(key)
  await page.locator('#key').press('Enter')
}
