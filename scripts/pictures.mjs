// `make pictures`: takes the screenshots in docs/img of the elements and the page, with invented members.
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
const RANK = '<activity-rank src="APP_URL" group="GROUP" period="week" user="you"></activity-rank>'
const HEATMAP = '<activity-heatmap src="APP_URL" user="you"></activity-heatmap>'
const DETAILS = '[part=details]:not(:empty)'

const app = await startApp()
const cleanups = []
const t = { after: (cleanup) => cleanups.push(cleanup) }

async function save(screenshot, name) {
  const path = `${FOLDER}/${name}.png`
  await screenshot({ path })
  console.log(path)
}

/**
 * Takes a screenshot of an element once its details are shown.
 * @param {string} name
 * @param {string} body
 * @param {Record<string, any>} options of the page; `after` is called once it is open
 */
async function takeElement(name, body, options = {}) {
  const style = '<style>body { margin: 0; font: 16px system-ui } h1 { display: none } main { padding: 0 }</style>'
  const { after = () => {}, width = 400, ...others } = options
  const defaults = { viewport: { width, height: 900 }, deviceScaleFactor: 1.5, reducedMotion: 'reduce' }
  const page = await app.open(t, style + body, { ...defaults, ...others })
  await after(page)
  await page.locator(DETAILS).first().waitFor()
  const element = page.locator('activity-rank, activity-heatmap')
  await save((options) => element.screenshot(options), name)
}

/** Takes a screenshot of the page of a user who has just liked something. */
async function takePage(name, options) {
  const defaults = { viewport: { width: 1040, height: 1240 }, reducedMotion: 'reduce' }
  const page = await app.visit(t, `${app.url}#week`, { ...defaults, ...options })
  await page.locator('#token').fill(app.token('you'))
  await page.locator('#token').press('Enter')
  await page.locator('activity-heatmap [part~=streak]:not(:empty)').waitFor()
  await page.locator('#actions button').first().click()
  await page.locator('#news:not(:empty)').waitFor()
  await page.locator(`#board ${DETAILS}`).waitFor()
  await page.evaluate('scrollTo(0, 0)')
  await save((options) => page.screenshot(options), name)
}

async function countActivities() {
  const profiles = MEMBERS.map(([id, name]) => ({ id, name }))
  await app.request('PUT', '/v1/users', profiles)
  const likes = MEMBERS.flatMap(([user, , count]) =>
    Array.from({ length: count }, (_, index) => ({ user, action: 'like', target: `p${index}`, groups: [app.group] })),
  )
  await app.count(likes)
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

const setToken = (page) =>
  page.evaluate((token) => {
    document.querySelector('activity-heatmap').token = token
  }, app.token('you'))

/** Marks the board as stale, as during an outage of the store. */
async function serveStale(page) {
  // Boards of an event stream are never stale.
  await page.route(/\/live\?/, (route) => route.abort())
  await page.route(/ranking\/week\?/, async (route) => {
    const response = await route.fetch()
    const as_of = new Date(Date.now() - 12e5).toISOString()
    await route.fulfill({ response, json: { ...(await response.json()), stale: true, as_of } })
  })
}

try {
  mkdirSync(FOLDER, { recursive: true })
  app.newGroup()
  await countActivities()
  for (const colorScheme of ['light', 'dark']) {
    await takeElement(`element-${colorScheme}`, RANK, { colorScheme })
    await takeElement(`heatmap-${colorScheme}`, HEATMAP, { colorScheme, after: setToken })
  }
  await takeElement('element-phone', RANK, { width: 320, deviceScaleFactor: 1 })
  await takeElement('element-chinese', RANK.replace('user', 'lang="zh-CN" user'), { deviceScaleFactor: 1 })
  await takeElement('element-empty', RANK.replace('GROUP', 'nobody'), { deviceScaleFactor: 1 })
  await takeElement('element-stale', RANK, { before: serveStale, deviceScaleFactor: 1 })
  for (const colorScheme of ['light', 'dark']) {
    await takePage(`page-${colorScheme}`, { colorScheme, deviceScaleFactor: 1.5 })
  }
  await takePage('page-phone', { viewport: { width: 320, height: 1600 } })
  await takePage('page-chinese', { locale: 'zh-CN' })
} finally {
  for (const cleanup of cleanups) await cleanup()
  await app.stop()
}
