// `make pictures`: takes the screenshots in docs/img, of the gallery and of the front page, with invented members.
//
//   node scripts/pictures.mjs [folder]

import { mkdirSync } from 'node:fs'

import { startApp } from '../tests/web/support.mjs'

const FOLDER = process.argv[2] ?? 'docs/img'
const DAY = 864e5 // ms
/** @type {[id: string, name: string, likes: number][]} */
const MEMBERS = [
  ['ada', 'Ada Lovelace', 61],
  ['ming', '王小明', 58],
  ['grace', 'Grace Hopper', 44],
  ['emmy', 'Emmy Noether', 37],
  ['ibn', 'ابن الهيثم', 35],
  ['alan', 'Alan Turing', 21],
  ['mary', 'Mary Somerville', 20],
  ['li', '李四光', 13],
  ['sofia', 'Sofia Kovalevskaya', 11],
  ['johann', 'Johann Wolfgang von Weisskopf-Morgenstern', 8],
  ['hedy', 'Hedy Lamarr', 6],
  ['you', 'Chien-Shiung Wu', 5],
]
/** States of the gallery, by the name of their picture. */
const STATES = {
  element: 'full',
  'element-phone': 'compact',
  'element-empty': 'empty',
  'element-stale': 'stale',
  podium: 'podium',
  heatmap: 'year',
  card: 'card',
}

const app = await startApp({ vars: { LEVELS: { Newcomer: 0, Regular: 30, Pillar: 80 }, CONTENT_PERIODS: 'week,all' } })
const cleanups = []
const t = { after: (cleanup) => cleanups.push(cleanup) }

async function save(screenshot, name) {
  const path = `${FOLDER}/${name}.png`
  await screenshot({ path })
  console.log(path)
}

/**
 * Opens a page of the deployment.
 * @param {string} path
 * @param {any} options of `visit`
 */
const open = (path, options) => app.visit(t, new URL(path, app.url).href, options)

/**
 * Takes pictures of states of the gallery, and returns its page.
 * @param {string} variant
 * @param {Record<string, string>} states
 * @param {Record<string, any>} [options]
 */
async function takeGallery(variant, states, options = {}) {
  const defaults = { viewport: { width: 1280, height: 1400 }, deviceScaleFactor: 1.5, reducedMotion: 'reduce' }
  const page = await open(`/gallery#${variant}`, { ...defaults, ...options })
  await page.locator('#full [part~=row]').first().waitFor()
  await page.locator('#year [part=summary]:not(:empty)').waitFor()
  for (const [name, state] of Object.entries(states)) {
    await save((options) => page.locator(`[id="${state}"] > [src]`).screenshot(options), name)
  }
  return page
}

/**
 * Takes a picture of the front page of a member who has signed in by a link.
 * @param {string} name
 * @param {Record<string, any>} options
 */
async function takePage(name, options) {
  const defaults = { viewport: { width: 1100, height: 1240 }, reducedMotion: 'reduce' }
  const page = await open(`/#week&token=${app.token('you')}`, { ...defaults, ...options })
  await page.locator('#board [part~=row]').first().waitFor()
  await page.locator('activity-heatmap [part=summary]:not(:empty)').waitFor()
  await page.evaluate('scrollTo(0, 0)')
  await save((options) => page.screenshot(options), name)
}

async function countActivities() {
  await app.request(
    'PUT',
    '/v1/users',
    MEMBERS.map(([id, name]) => ({ id, name })),
  )
  const likes = (from) =>
    MEMBERS.flatMap(([user, , count], index) =>
      Array.from({ length: from ? (count * 7 + index * 11) % 50 : count }, (_, number) => ({
        user,
        action: 'like',
        target: `p${number}${from}`,
        ...(from && { at: new Date(Date.now() - from * DAY).toISOString() }),
      })),
    )
  for (const from of [0, 7, 14]) await app.count(likes(from).slice(0, 500))
  const days = Array.from({ length: 30 }, (_, index) => index + 1).filter((day) => day % 7 > 1 && day !== 11)
  const past = days.flatMap((day) =>
    Array.from({ length: 1 + ((day * 7) % 9) }, (_, index) => ({
      user: 'you',
      action: index % 3 ? 'like' : 'comment',
      target: `d${day}-${index}`,
      at: new Date(Date.now() - day * DAY).toISOString(),
    })),
  )
  await app.count(past)
}

try {
  mkdirSync(FOLDER, { recursive: true })
  await countActivities()
  for (const scheme of ['light', 'dark']) {
    const states = Object.entries(STATES).map(([name, state]) => [`${name}-${scheme}`, state])
    const page = await takeGallery(`${scheme}/en`, Object.fromEntries(states))
    await page.evaluate('scrollTo(0, 0)')
    await save((options) => page.screenshot(options), `gallery-${scheme}`)
  }
  await takeGallery('light/zh-Hans', { 'element-chinese': 'list' })
  for (const colorScheme of ['light', 'dark']) {
    await takePage(`page-${colorScheme}`, { colorScheme, deviceScaleFactor: 1.5 })
  }
  await takePage('page-phone', { viewport: { width: 390, height: 1600 } })
  await takePage('page-chinese', { locale: 'zh-CN' })
} finally {
  for (const cleanup of cleanups) await cleanup()
  await app.stop()
}
