// Compares screenshots with the pictures in tests/web/pictures.
//
// `make pictures` takes them again, with PICTURES=take. They depend on the fonts, which come from tests/web/fonts.conf, and
// little on the version of Chromium. A difference is written to target/pictures, the picture and what differs.

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

import pixelmatch from 'pixelmatch'
import { PNG } from 'pngjs'

const DIFFERENCES = fileURLToPath(new URL('../../target/pictures/', import.meta.url))
/** The most pixels that may differ: edges of letters do, between versions of Chromium. */
const TOLERANCE = 0.005
/** Letters of each script. Pictures of them show whether a browser draws them as the pinned one does. */
const LETTERS = {
  latin: 'Ada Lovelace 1,234',
  bold: '<b>Ada Lovelace 1,234</b>',
  mono: '<code>GET /v1/ranking</code>',
  symbols: '▲ 5 ▼ 1 · ★ … – “”',
  chinese: '王小明 活跃榜',
  'chinese-bold': '<b>王小明 活跃榜</b>',
  arabic: 'ابن الهيثم',
}
const CHROMIUM = fileURLToPath(new URL('../../scripts/chromium', import.meta.url))

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
  const stored = readFileSync(path)
  if (picture.equals(stored)) return
  const [found, expected] = [PNG.sync.read(picture), PNG.sync.read(stored)]
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
    const names = ['rank', 'heatmap', 'card', 'climb', 'like'].map((name) => `activity-${name}`)
    const elements = [...document.querySelectorAll(names.join())]
    return elements.filter(({ shadowRoot }) => shadowRoot?.querySelector('[aria-busy=true], .loading')).length
  })

/** @type {Promise<string[]> | undefined} the result for this browser */
let differences

/**
 * Returns why pictures cannot be compared, or nothing: another browser than the pinned one draws letters otherwise.
 * @param {any} t
 * @param {any} app
 */
export async function otherLetters(t, app) {
  const browser = execFileSync(CHROMIUM, ['--which'], { encoding: 'utf8' }).trim()
  if (isTaken || browser.includes('/.tools/')) return
  const found = await (differences ??= compareLetters(t, app))
  return found.length ? `${browser} draws other letters than the pinned browser: ${found.join('; ')}` : undefined
}

/**
 * Compares the letters of each script with their pictures, and returns what differs.
 * @param {any} t
 * @param {any} app
 */
export async function compareLetters(t, app) {
  const letters = Object.entries(LETTERS).map(([script, text]) => `<span id="${script}">${text}</span>`)
  const html = `<style>
    body { display: grid; justify-items: start; gap: 8px; font: 16px/2 system-ui, sans-serif; }
    code { font-family: ui-monospace, monospace; }
  </style>${letters.join('')}`
  const page = await app.visit(t, app.serveHtml('/letters.html', html))
  const different = []
  for (const script of Object.keys(LETTERS)) {
    different.push(compare(`letters/${script}`, await page.locator(`#${script}`).screenshot()))
  }
  return different.filter((difference) => difference !== undefined)
}
