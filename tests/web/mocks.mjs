// What the Worker will answer: pages with their titles, the rules in /healthz, and cards.

import { readFileSync } from 'node:fs'

const RULES = {
  visit: { points: 1, once: 'day', undo: false, by: 'user', member_cap: 200, own: true },
  like: { points: 2, once: 'standing', undo: true, by: 'user', member_cap: 100, received: 2, own: false },
  bookmark: { points: 2, once: 'standing', undo: true, by: 'user', member_cap: 100, received: 2, own: false },
  follow: { points: 2, once: 'standing', undo: true, by: 'user', member_cap: 100, received: 2, own: false },
  comment: { points: 3, once: 'standing', undo: true, by: 'user', member_cap: 90, received: 3, own: true },
  publish: { points: 10, once: 'standing', undo: true, by: 'service', own: true },
}
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; connect-src 'self'; base-uri 'none'; form-action 'none'"

const PAGES = /** @type {const} */ ([
  [/^\/$/, 'index', 'Leaderboard'],
  [/^\/u\//, 'user', 'A member'],
  [/^\/try$/, 'try', ''],
])

/** Mocks the routes of a page that the Worker does not have yet. */
export async function mockWorker(page, app, { levels = [] } = {}) {
  await page.route(
    (url) => url.origin === new URL(app.url).origin && PAGES.some(([path]) => path.test(url.pathname)),
    (route) => {
      const url = new URL(route.request().url())
      const [, name, title] = PAGES.find(([path]) => path.test(url.pathname))
      const values = { title, description: 'Members', url: url.href, origin: url.origin }
      const body = readFileSync(new URL(`../../web/${name}.html`, import.meta.url), 'utf8')
      route.fulfill({
        body: body.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => values[name]),
        contentType: 'text/html; charset=utf-8',
        headers: { 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' },
      })
    },
  )
  await page.route('**/healthz', async (route) => {
    const json = await (await fetch(route.request().url())).json()
    Object.assign(json.configured, { rules: RULES, levels, public_stats: false, playground: true })
    await route.fulfill({ json }).catch(() => {}) // the page may be closed
  })
  await page.route('**/v1/users/*/card', async (route) => {
    const user = decodeURIComponent(new URL(route.request().url()).pathname.split('/')[3])
    const standings = await app.request('GET', `/v1/users/${encodeURIComponent(user)}/standings`)
    const profile = await fetch(`${app.url}/v1/users/${encodeURIComponent(user)}`)
    const isKnown = profile.ok || Object.values(standings.standings).some(({ score }) => score > 0)
    if (!isKnown) return route.fulfill({ status: 404, json: { type: '/problems/not-found', status: 404 } })
    const activity = await fetch(`${app.url}/v1/users/${encodeURIComponent(user)}/activity`)
    const streak = activity.ok ? (await activity.json()).streak : null
    const places = Object.entries(standings.standings).map(([name, { id, score, rank, total }]) => [
      name,
      { id, score, rank, total },
    ])
    await route.fulfill({ json: { user: standings.user, standings: Object.fromEntries(places), streak } })
  })
}
