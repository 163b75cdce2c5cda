// Opens the admin page of a test app.

/**
 * Opens a view, signed in with a key unless it is `null`.
 * @param {any} t
 * @param {any} app
 * @param {string} [hash]
 * @param {Record<string, any>} [options] as of `visit`, with `key` and the response of `/v1/status`
 */
export async function openAdmin(t, app, hash = '', { key = app.serviceKey, status = undefined, ...options } = {}) {
  const before = async (page) => {
    if (status) await page.route(`${app.url}/v1/status`, (route) => route.fulfill({ json: status }))
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
