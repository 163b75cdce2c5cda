// The pictures of docs/img: elements and page as a browser shows them, with members that nobody is.
// `make pictures`

import { mkdirSync } from 'node:fs'

import { start } from '../tests/web/support.mjs'

const FOLDER = 'docs/img'
const DAY = 864e5 // ms
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
const RANK = '<activity-rank src="SITE" group="GROUP" period="week" user="you"></activity-rank>'
const HEATMAP = '<activity-heatmap src="SITE" user="you"></activity-heatmap>'

const site = await start()
const ends = []
const t = { after: (end) => ends.push(end) }

/** A picture of the first element of a page, once `ready` is on it. */
async function picture(name, body, { ready, after, width = 400, ...options }) {
  const style = '<style>body { margin: 0; font: 16px system-ui } h1 { display: none } main { padding: 0 }</style>'
  const size = { viewport: { width, height: 900 }, deviceScaleFactor: 1.5, reducedMotion: 'reduce' }
  const page = await site.open(t, style + body, { ...size, ...options })
  await after?.(page)
  await page.locator(ready).first().waitFor()
  await page.locator('activity-rank, activity-heatmap').screenshot({ path: `${FOLDER}/${name}.png` })
  console.log(`${FOLDER}/${name}.png`)
}

/** A picture of the page, as a member who has just liked something sees it. */
async function pageWith(name, options) {
  const viewport = { width: 1040, height: 1240 }
  const page = await site.visit(t, `${site.url}#week`, { viewport, reducedMotion: 'reduce', ...options })
  await page.locator('#token').fill(site.token('you'))
  await page.locator('#token').press('Enter')
  await page.locator('activity-heatmap [part~=streak]:not(:empty)').waitFor()
  await page.locator('#actions button').first().click()
  await page.locator('#news:not(:empty)').waitFor()
  await page.locator('#board [part=details]:not(:empty)').waitFor()
  await page.evaluate('scrollTo(0, 0)')
  await page.screenshot({ path: `${FOLDER}/${name}.png` })
  console.log(`${FOLDER}/${name}.png`)
}

try {
  mkdirSync(FOLDER, { recursive: true })
  site.newGroup()
  await site.call('PUT', '/v1/users', MEMBERS.map(([id, name]) => ({ id, name })))
  const likes = MEMBERS.flatMap(([user, , count]) =>
    Array.from({ length: count }, (_, at) => ({ user, action: 'like', target: `p${at}`, groups: [site.group] })),
  )
  await site.count(likes)
  const days = Array.from({ length: 30 }, (_, at) => at + 1).filter((day) => day % 7 > 1 && day !== 11)
  const earlier = days.flatMap((day) =>
    Array.from({ length: 1 + ((day * 7) % 9) }, (_, at) => ({
      ...{ user: 'you', action: at % 3 ? 'like' : 'comment', target: `d${day}-${at}` },
      at: new Date(Date.now() - day * DAY).toISOString(),
    })),
  )
  await site.count(earlier)

  const ready = '[part=details]:not(:empty)'
  for (const colorScheme of ['light', 'dark']) {
    await picture(`element-${colorScheme}`, RANK, { ready, colorScheme })
    const after = (page) => page.evaluate((token) => (document.querySelector('activity-heatmap').token = token), site.token('you'))
    await picture(`heatmap-${colorScheme}`, HEATMAP, { ready, colorScheme, after })
  }
  await picture('element-phone', RANK, { ready, width: 320, deviceScaleFactor: 1 })
  await picture('element-chinese', RANK.replace('user', 'lang="zh-CN" user'), { ready, deviceScaleFactor: 1 })
  await picture('element-empty', RANK.replace('GROUP', 'nobody'), { ready, deviceScaleFactor: 1 })
  const stale = async (page) => {
    // What is live is never stale.
    await page.route(/\/live\?/, (route) => route.abort())
    await page.route(/ranking\/week\?/, async (route) => {
      const answer = await route.fetch()
      const as_of = new Date(Date.now() - 12e5).toISOString()
      await route.fulfill({ response: answer, json: { ...(await answer.json()), stale: true, as_of } })
    })
  }
  await picture('element-stale', RANK, { ready, before: stale, deviceScaleFactor: 1 })

  for (const colorScheme of ['light', 'dark']) await pageWith(`page-${colorScheme}`, { colorScheme, deviceScaleFactor: 1.5 })
  await pageWith('page-phone', { viewport: { width: 320, height: 1600 } })
  await pageWith('page-chinese', { locale: 'zh-CN' })
} finally {
  for (const end of ends) await end()
  await site.stop()
}
