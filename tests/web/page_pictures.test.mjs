// Compares the pages of a deployment with the pictures in tests/web/pictures/pages.

import assert from 'node:assert/strict'
import { readdirSync, rmSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'

import { depth } from '../sdk/depth.mjs'
import { compare, isTaken, loading, NOW, otherLetters, PICTURES } from './picture.mjs'
import { inventResponses, ORIGIN } from './responses.mjs'
import { eventually, startApp } from './support.mjs'

const FOLDER = `${PICTURES}pages/`
const ADMIN_KEY = 'activity-rank admin key'
/** A page is complete when this many elements match. */
const PAGES = [
  { name: 'front', path: '/', ready: ['#rules .rules li', 6] },
  { name: 'front-member', path: '/', member: 'wu', ready: ['#rules .rules li', 6] },
  { name: 'front-content', path: '/#content/hot', ready: ['#rules .rules li', 6] },
  { name: 'member', path: '/u/ada', ready: ['#member:not([hidden]) :is(#targets-content, #achievements) li', 7] },
  {
    name: 'member-own',
    path: '/u/ada',
    member: 'ada',
    ready: ['#member:not([hidden]) :is(#points-content, #achievements) li', 10],
  },
  { name: 'member-unknown', path: '/u/nobody', ready: ['#unknown:not([hidden])', 1] },
  { name: 'recap', path: '/u/ada/2026', ready: [':is(#facts, #achievements) li', 10] },
  { name: 'try', path: '/try', member: 'wu', ready: ['#actions button', 9] },
  { name: 'admin-sign-in', path: '/admin', ready: ['#sign-in:not([hidden])', 1] },
  { name: 'admin-overview', path: '/admin', isAdmin: true, ready: ['#view .card', 4] },
  { name: 'admin-members', path: '/admin#members', isAdmin: true, ready: ['.results li', 10] },
  { name: 'admin-member', path: '/admin#member/ada', isAdmin: true, ready: ['#view .card', 4] },
  { name: 'admin-cases', path: '/admin#cases', isAdmin: true, ready: ['#view .feed li', 2] },
  { name: 'admin-case', path: '/admin#case/case_0f3a5b7c9d1e2f40', isAdmin: true, ready: ['#view .card', 5] },
  { name: 'admin-audit', path: '/admin#audit', isAdmin: true, ready: ['#view .feed li', 4] },
  { name: 'admin-rules', path: '/admin#rules', isAdmin: true, ready: ['#view .feed li', 3] },
  { name: 'admin-numbers', path: '/admin#numbers/30', isAdmin: true, ready: ['#view canvas', 3] },
  { name: 'admin-health', path: '/admin#health', isAdmin: true, ready: ['#view .card', 4] },
  { name: 'docs', path: '/docs#getRanking', isLong: true, ready: ['#reference h1', 1] },
]
const VARIANTS = [
  { variant: '390-dark-en', width: 390, colorScheme: 'dark', locale: 'en-US' },
  { variant: '768-light-zh-Hans', width: 768, colorScheme: 'light', locale: 'zh-CN' },
  { variant: '240-light-en', width: 240, colorScheme: 'light', locale: 'en-US' },
  { variant: '1280-dark-en', width: 1280, colorScheme: 'dark', locale: 'en-US' },
]

let app

before(async () => {
  // Pages request achievements if the deployment has some.
  const ACHIEVEMENTS = { commenter: { name: 'Commenter', count: 'comment' } }
  app = await startApp({ live: false, databases: true, vars: { PLAYGROUND: true, ACHIEVEMENTS } })
  if (isTaken) rmSync(FOLDER, { recursive: true, force: true })
})
after(() => app?.stop())

/** Opens a page, and waits until nothing is loading. */
async function open(t, tested, { width, ...options }) {
  const { path, member, isAdmin, isLong, ready } = tested
  const [selector, count] = ready
  const token = member && app.token(member)
  const url = new URL(path, ORIGIN)
  if (token) url.hash = [url.hash.slice(1), `token=${token}`].filter(Boolean).join('&')
  const page = await app.visit(t, url.href, {
    viewport: { width, height: 900 },
    reducedMotion: 'reduce',
    ...options,
    before: async (page) => {
      await inventResponses(page, app, NOW)
      if (isAdmin) await page.addInitScript(([name, key]) => sessionStorage.setItem(name, key), [ADMIN_KEY, 'key'])
    },
  })
  await page.locator('html[data-ready]').waitFor()
  await eventually(() => page.locator(selector).count(), count)
  // The last parts of a page load after the others.
  await page.waitForLoadState('networkidle')
  await eventually(() => loading(page), 0)
  if (!isLong) {
    // The whole page is in sight: the own row covers no others.
    const height = await page.evaluate('document.documentElement.scrollHeight')
    await page.setViewportSize({ width, height: Math.max(height, 900) })
  }
  return page
}

describe('pages', () => {
  for (const variant of isTaken ? VARIANTS : depth(VARIANTS)) {
    for (const tested of PAGES) {
      const name = `${tested.name}-${variant.variant}`
      it(`${name} looks like its picture`, async (t) => {
        const reason = await otherLetters(t, app)
        if (reason) return t.skip(reason)
        const page = await open(t, tested, variant)
        const difference = compare(`pages/${name}`, await page.screenshot())
        assert.equal(difference, undefined)
        assert.deepEqual(page.errors, [])
      })
    }
  }

  it('every picture belongs to a page', () => {
    const known = VARIANTS.flatMap(({ variant }) => PAGES.map(({ name }) => `${name}-${variant}.png`))
    assert.deepEqual(readdirSync(FOLDER).sort(), known.sort())
  })
})
