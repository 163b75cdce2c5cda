// Compares the elements of the gallery with the pictures in tests/web/pictures/gallery.

import assert from 'node:assert/strict'
import { readdirSync, rmSync } from 'node:fs'
import { before, describe, it } from 'node:test'

import { STATES } from '../../web/gallery/states.js'
import { depth } from '../sdk/depth.mjs'
import { compare, compareLetters, isTaken, loading, NOW, otherLetters, PICTURES } from './picture.mjs'
import { eventually, layoutShift, scrollWidth, shareApp, violations } from './support.mjs'

const FOLDER = `${PICTURES}gallery/`
const VARIANTS = ['light/en', 'dark/en', 'light/zh-Hans']

let app

before(async () => {
  app = await shareApp({ live: false })
  if (isTaken) rmSync(FOLDER, { recursive: true, force: true })
})

/** Opens the gallery, and waits until no element is loading. */
async function open(t, variant, options = {}) {
  const page = await app.visit(t, new URL(`/gallery#${variant}`, app.url).href, {
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
    before: (page) => page.clock.setFixedTime(new Date(NOW)),
    ...options,
  })
  await eventually(() => page.locator('figure').count(), STATES.length)
  await eventually(() => loading(page), 0)
  // The winners load after the boards.
  await eventually(() => page.locator('#full [part~=winner]').count(), 3)
  return page
}

describe('letters', () => {
  it('pictures show the pinned fonts', async (t) => {
    const reason = await otherLetters(t, app)
    if (reason) return t.skip(reason)
    const page = await app.visit(
      t,
      app.serveHtml('/fonts.html', '<p style="font-family: system-ui">Ada 王小明 <b>活跃榜</b> ابن <code>GET</code>'),
    )
    const session = await page.context().newCDPSession(page)
    await session.send('DOM.enable')
    await session.send('CSS.enable')
    const { root } = await session.send('DOM.getDocument')
    const { nodeId } = await session.send('DOM.querySelector', { nodeId: root.nodeId, selector: 'p' })
    const { fonts } = await session.send('CSS.getPlatformFontsForNode', { nodeId })
    const names = fonts.map(({ postScriptName }) => postScriptName).sort()
    assert.deepEqual(names, ['DejaVuSans', 'DejaVuSansMono', 'NotoSansSC-Regular'])
  })

  it('letters look like their pictures', async (t) => {
    const reason = await otherLetters(t, app)
    if (reason) return t.skip(reason)
    assert.deepEqual(await compareLetters(t, app), [])
  })
})

describe('gallery', () => {
  for (const variant of isTaken ? VARIANTS : depth(VARIANTS)) {
    it(`${variant} looks like its pictures`, async (t) => {
      const reason = await otherLetters(t, app)
      if (reason) return t.skip(reason)
      const page = await open(t, variant)
      const different = []
      for (const { name } of STATES) {
        const picture = await page.locator(`[id="${name}"] > [src]`).screenshot()
        different.push(compare(`gallery/${name}-${variant.replace('/', '-')}`, picture))
      }
      assert.deepEqual(different.filter(Boolean), [])
      assert.deepEqual(page.errors, [])
    })
  }

  it('every picture belongs to a state', () => {
    const known = VARIANTS.flatMap((variant) => STATES.map(({ name }) => `${name}-${variant.replace('/', '-')}.png`))
    assert.deepEqual(readdirSync(FOLDER).sort(), known.sort())
  })

  for (const variant of depth(['light/en', 'dark/zh-Hans'])) {
    it(`${variant} passes axe`, async (t) => {
      // So tall that no row is pinned over others.
      const page = await open(t, variant, { viewport: { width: 1280, height: 12_000 } })
      // What axe cannot decide beside other elements is decided in the tests of each element.
      const found = await violations(page)
      assert.deepEqual(
        found.filter((violation) => !/ground color could not be determined|Unable to determine/.test(violation)),
        [],
      )
    })
  }

  it('elements keep their size while they load', async (t) => {
    const page = await open(t, 'light/en')
    const shift = await layoutShift(page)
    assert.ok(shift < 0.01, `${shift}`)
  })

  it('page fits 240 pixels', async (t) => {
    const page = await open(t, 'dark/en', { viewport: { width: 240, height: 900 } })
    assert.equal(await scrollWidth(page), 240)
  })

  it('controls change theme and language', async (t) => {
    const page = await open(t, 'light/en')
    await page.getByLabel('Theme').selectOption('dark')
    await page.getByLabel('Language').selectOption('zh-Hans')
    assert.equal(new URL(page.url()).hash, '#dark/zh-Hans')
    const first = page.locator('activity-rank').first()
    await eventually(() => first.evaluate(({ lang, theme }) => [lang, theme]), ['zh-Hans', 'dark'])
  })
})
