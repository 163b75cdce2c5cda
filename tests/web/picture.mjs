// Compares screenshots with the pictures in tests/web/pictures.
//
// `make pictures` takes them again, with PICTURES=take. They depend on the fonts: those of Debian's Chromium and
// fonts-wqy-microhei. A difference is written to target/pictures, the picture and what differs.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

import pixelmatch from 'pixelmatch'
import { PNG } from 'pngjs'

const DIFFERENCES = fileURLToPath(new URL('../../target/pictures/', import.meta.url))
/** The most pixels that may differ: edges of letters do, between versions of Chromium. */
const TOLERANCE = 0.005
/** A picture of letters alone shows whether the machine draws them as the one where pictures were taken. */
const LETTERS = 'Ada Lovelace 1,234 ▲5 ▼1 · <b>Ada Lovelace</b> · 王小明 活跃榜 · ابن الهيثم · <code>GET /v1</code>'

export const PICTURES = fileURLToPath(new URL('pictures/', import.meta.url))
export const NOW = '2026-11-24T09:00:00Z'
export const isTaken = process.env.PICTURES === 'take'

/**
 * Compares a picture with the stored one. Returns what differs.
 * @param {string} name
 * @param {Buffer} picture a PNG file
 */
export function compare(name, picture) {
  const path = `${PICTURES}${name}.png`
  if (isTaken) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, picture)
    return
  }
  const [found, expected] = [PNG.sync.read(picture), PNG.sync.read(readFileSync(path))]
  const size = ({ width, height }) => `${width} x ${height}`
  const { width, height } = found
  const difference = new PNG({ width, height })
  const differs =
    size(found) === size(expected)
      ? pixelmatch(found.data, expected.data, difference.data, width, height, { threshold: 0.15 })
      : width * height
  if (differs <= width * height * TOLERANCE) return
  const file = `${DIFFERENCES}${name}`
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.png`, picture)
  writeFileSync(`${file}-difference.png`, PNG.sync.write(difference))
  return `${name}: ${differs} pixels differ, ${size(found)} instead of ${size(expected)}`
}

/** Returns the number of elements of a page that are loading. */
export const loading = (page) =>
  page.evaluate(() => {
    const elements = [...document.querySelectorAll('activity-rank, activity-heatmap, activity-card')]
    return elements.filter(({ shadowRoot }) => shadowRoot?.querySelector('[aria-busy=true], .loading')).length
  })

/** @type {Promise<string | undefined> | undefined} the result for this machine */
let fonts

/**
 * Returns why pictures cannot be compared on this machine, or nothing: it has other fonts.
 * @param {any} t
 * @param {any} app
 */
export const otherFonts = (t, app) => (fonts ??= compareLetters(t, app))

async function compareLetters(t, app) {
  const text = `<p style="font: 16px/2 system-ui, sans-serif; padding: 8px">${LETTERS}`
  const page = await app.visit(t, app.serveHtml('/letters.html', text), { viewport: { width: 640, height: 120 } })
  const difference = compare('letters', await page.screenshot())
  return difference && `other fonts than those of the pictures (${difference})`
}
