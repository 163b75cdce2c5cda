// Records the moving picture of the README in both colour schemes: requests arrive, and a live board changes.
//
//   node scripts/motion.mjs [folder]        docs/img by default
//
// The service is the real one. Frames are screenshots, each shown for as long as it took until the next one.

import { join } from 'node:path'

import sharp from 'sharp'

import { startApp } from '../tests/web/support.mjs'

const FOLDER = process.argv[2] ?? 'docs/img'
const SIZE = { width: 900, height: 600 }
const LAST = 2500 // ms that the last frame is shown
/** Each member with the likes before the recording. */
const MEMBERS = [
  ['ada', 'Ada Lovelace', 13],
  ['ming', '王小明', 12],
  ['grace', 'Grace Hopper', 10],
  ['emmy', 'Emmy Noether', 8],
  ['ibn', 'ابن الهيثم', 7],
  ['hedy', 'Hedy Lamarr', 4],
]
/** The requests: who likes what, sent how often. */
const REQUESTS = [
  ['grace', 'post-1'],
  ['grace', 'post-2', 3],
  ['hedy', 'post-1'],
  ['grace', 'post-3'],
  ['grace', 'post-4'],
  ['emmy', 'post-2', 2],
  ['hedy', 'post-2'],
  ['grace', 'post-5'],
  ['hedy', 'post-3'],
  ['hedy', 'post-4'],
  ['ming', 'post-4'],
  ['ming', 'post-5', 4],
  ['ming', 'post-6'],
]

const PAGE = `<style>
  :root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
  body { margin: 20px; display: grid; grid-template-columns: 300px 1fr; gap: 24px; background: Canvas; color: CanvasText }
  h1, main > h1 { display: none }
  main { display: contents }
  #log { margin: 0; padding: 0; list-style: none; font: 13px/1.9 ui-monospace, monospace; overflow: hidden; height: 560px }
  #log li { display: grid; grid-template-columns: 1fr auto; opacity: .92; white-space: nowrap }
  #log b { font-weight: 600 }
  .counted b { color: light-dark(#00695c, #5fd3bf) }
  .duplicate { opacity: .6 !important }
</style>
<ol id="log"></ol>
<activity-rank src="APP_URL" period="week" group="GROUP" layout="full" limit="6" winners="none"></activity-rank>`

/** Records one scheme. @param {'light' | 'dark'} colorScheme */
async function record(colorScheme) {
  app.newGroup()
  const groups = [app.group]
  // Targets of this recording alone.
  const like = (user, target) => ({ user, action: 'like', target: `${app.group}/${target}`, groups })
  const before = MEMBERS.flatMap(([user, , likes]) =>
    Array.from({ length: Number(likes) }, (_, number) => like(user, `before-${number}`)),
  )
  await app.count(before)
  const page = await app.open(t, PAGE, { viewport: SIZE, colorScheme, deviceScaleFactor: 1 })
  await page
    .locator('tbody [part~=row]')
    .nth(MEMBERS.length - 1)
    .waitFor()

  const frames = []
  let isRecording = true
  const recording = (async () => {
    while (isRecording) frames.push({ at: performance.now(), image: await page.screenshot() })
  })()
  for (const [user, target, clients = 1] of REQUESTS) {
    await page.waitForTimeout(300)
    const outcomes = await Promise.all(
      Array.from(
        { length: Number(clients) },
        async () => (await app.request('POST', '/v1/activity', like(user, target))).outcome,
      ),
    )
    // The counted one first: all arrive at the same time.
    for (const outcome of outcomes.toSorted()) {
      await page.evaluate(
        ([user, target, outcome]) => {
          const line = document.createElement('li')
          line.className = outcome
          line.append(`${user} likes ${target} `, Object.assign(document.createElement('b'), { textContent: outcome }))
          document.querySelector('#log')?.append(line)
        },
        [user, target, outcome],
      )
      await page.waitForTimeout(120)
    }
    await page.waitForTimeout(500)
  }
  await page.waitForTimeout(1500)
  isRecording = false
  await recording

  // Frames that look the same are one.
  const distinct = frames.filter(({ image }, index) => index === 0 || !image.equals(frames[index - 1].image))
  const delay = distinct.map(({ at }, index) => Math.round((distinct[index + 1]?.at ?? at + LAST) - at))
  const file = join(FOLDER, `motion-${colorScheme}.webp`)
  const { size } = await sharp(
    distinct.map(({ image }) => image),
    { join: { animated: true } },
  )
    .webp({ delay, loop: 0, quality: 80, effort: 5, minSize: true })
    .toFile(file)
  console.log(`${file}: ${distinct.length} frames, ${Math.round(size / 1024)} KB`)
}

const app = await startApp()
const cleanups = []
const t = { after: (cleanup) => cleanups.push(cleanup) }
try {
  await app.request(
    'PUT',
    '/v1/users',
    MEMBERS.map(([id, name]) => ({ id, name })),
  )
  for (const scheme of /** @type {const} */ (['light', 'dark'])) await record(scheme)
} finally {
  for (const cleanup of cleanups) await cleanup()
  await app.stop()
}
