// Compares elements on pages of other sites with the pictures in tests/web/pictures/foreign. Each picture has four views: the
// page is light twice, then dark twice; the reader's system is light, dark, light, dark.

import assert from 'node:assert/strict'
import { readdirSync, rmSync } from 'node:fs'
import { before, describe, it } from 'node:test'

import { PNG } from 'pngjs'
import sharp from 'sharp'

import { compare, isTaken, loading, NOW, otherLetters, PICTURES } from './picture.mjs'
import { inventResponses, ORIGIN } from './responses.mjs'
import { eventually, shareApp } from './support.mjs'

const FOLDER = `${PICTURES}foreign/`
const SCHEMES = /** @type {const} */ (['light', 'dark'])
const VIEWPORT = { width: 320, height: 660 }

/** Sites with their styles and elements. Their own rules for headings, links, buttons and lists do not reach the elements. */
const SITES = {
  // The colors of the elements are their own.
  blog: {
    css: `body { max-width: 38em; font: 17px/1.6 serif; color: #292524; background: #fafaf9 }
      [data-theme=dark] body { color: #e7e5e4; background: #1c1917 }
      a { color: #b91c1c } [data-theme=dark] a { color: #fca5a5 }
      ol, li { margin-left: 3em; list-style: square }`,
    body: `<p>Readers who <a href="/">write</a> most this week. <activity-like target="post-7"></activity-like></p>
      <activity-rank period="week" limit="5" winners="none" user="grace"></activity-rank>`,
  },
  // Background, text and accent are the site's.
  forum: {
    css: `body { font: 15px/1.4 sans-serif; color: #3b3228; background: #eee3c8;
        --activity-rank-background: #fdf6e3; --activity-rank-text: #3b3228; --activity-rank-accent: #9a3412; --activity-rank-radius: 0px }
      [data-theme=dark] body { color: #e0e1dd; background: #0d1b2a;
        --activity-rank-background: #1b263b; --activity-rank-text: #e0e1dd; --activity-rank-accent: #7dd3fc }
      button { padding: 1em; background: teal; text-transform: uppercase }
      section { border: 4px dotted red }`,
    body: `<activity-climb user="wu" period="week"></activity-climb>
      <activity-like target="post-7"></activity-like>`,
  },
  // The elements are transparent.
  club: {
    css: `body { font: 15px/1.4 sans-serif; color: #4a0d2e; background: #ffe4ec;
        --activity-rank-background: transparent; --activity-rank-text: #4a0d2e }
      [data-theme=dark] body { color: #f5f3ff; background: #3b0764;
        --activity-rank-text: #f5f3ff }
      p, h1 { text-align: center } span { color: magenta }`,
    body: `<activity-like type="helpful" target="post-7"></activity-like>
      <activity-card user="ada"></activity-card><br>
      <activity-rank period="week" layout="podium"></activity-rank>`,
  },
}

let app

before(async () => {
  app = await shareApp({ live: false })
  if (isTaken) rmSync(FOLDER, { recursive: true, force: true })
})

/** Takes a picture of a site. */
async function view(t, name, page, system) {
  const { css, body } = SITES[name]
  const scripts = ['rank', 'card', 'climb', 'like'].map(
    (element) => `<script type="module" src="${ORIGIN}/elements/activity-${element}.js"></script>`,
  )
  const url = app.serveHtml(
    `/${name}-${page}.html`,
    `<title>A ${name}</title><meta name="viewport" content="width=device-width">${scripts.join('')}
    <style>:root { color-scheme: ${page} } ${css}</style><h1>A ${name}</h1>${body}
    <script>document.documentElement.dataset.theme = '${page}'</script>`,
  )
  const opened = await app.visit(t, url, {
    viewport: VIEWPORT,
    colorScheme: system,
    reducedMotion: 'reduce',
    before: (opened) => inventResponses(opened, app, NOW),
  })
  await opened.locator('[part=rank]:not(:empty)').first().waitFor()
  await opened.waitForLoadState('networkidle')
  await eventually(() => loading(opened), 0)
  assert.deepEqual(opened.errors, [])
  return PNG.sync.read(await opened.screenshot())
}

describe('pages of other sites', () => {
  for (const name of Object.keys(SITES)) {
    it(`elements of a ${name} look like their picture`, async (t) => {
      const reason = await otherLetters(t, app)
      if (reason) return t.skip(reason)
      const { width, height } = VIEWPORT
      const picture = new PNG({ width: 4 * width, height })
      let x = 0
      for (const page of SCHEMES) {
        for (const system of SCHEMES) {
          PNG.bitblt(await view(t, name, page, system), picture, 0, 0, width, height, x, 0)
          x += width
        }
      }
      // A palette is a third of the size.
      const bytes = await sharp(PNG.sync.write(picture)).png({ palette: true }).toBuffer()
      assert.equal(compare(`foreign/${name}`, bytes), undefined)
    })
  }

  it('every picture belongs to a site', () => {
    assert.deepEqual(
      readdirSync(FOLDER).sort(),
      Object.keys(SITES)
        .map((name) => `${name}.png`)
        .sort(),
    )
  })
})
