// Colours of all elements: they follow the page and the host's own colours, not the reader's system.

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'

import { shareApp } from './support.mjs'

const ELEMENTS = ['activity-rank', 'activity-card', 'activity-heatmap']
const LIGHT = 'rgb(255, 255, 255)'
const DARK = 'rgb(24, 30, 38)'

let app

before(async () => {
  app = await shareApp({ live: false })
})

/**
 * Opens a page with all elements.
 * @param {any} t
 * @param {string} css of the page
 * @param {{ attributes?: string, head?: string, [option: string]: any }} [options]
 */
async function open(t, css, { attributes = '', head = '', ...options } = {}) {
  const elements = ELEMENTS.map((name) => `<${name} src="APP_URL" user="ada" ${attributes}></${name}>`).join('')
  const script = '<script type="module" src="APP_URL/elements/activity-card.js"></script>'
  const page = await app.open(t, `${head}${script}<style>${css}</style>${elements}`, options)
  await page.waitForFunction((names) => names.every((name) => customElements.get(name)), ELEMENTS)
  return page
}

/** Returns the backgrounds of a page's elements. */
const backgrounds = (page) =>
  page.locator('section').evaluateAll((all) => all.map((section) => getComputedStyle(section).backgroundColor))

describe('color scheme', () => {
  const META = '<meta name="color-scheme" content="light dark">'
  for (const [name, css, system, expected, options] of /** @type {any[]} */ ([
    ['no scheme is light', '', 'dark', LIGHT],
    ['light page is light', ':root { color-scheme: light }', 'dark', LIGHT],
    ['dark page is dark', ':root { color-scheme: dark }', 'light', DARK],
    ['page with both schemes is dark', ':root { color-scheme: light dark }', 'dark', DARK],
    ['page with both schemes is light', ':root { color-scheme: light dark }', 'light', LIGHT],
    ['meta element with both schemes is dark', '', 'dark', DARK, { head: META }],
    ['dark part of a page is dark', 'main { color-scheme: dark }', 'light', DARK],
    ['light theme overrides the page', ':root { color-scheme: dark }', 'dark', LIGHT, { attributes: 'theme="light"' }],
    ['dark theme overrides the page', ':root { color-scheme: light }', 'light', DARK, { attributes: 'theme="dark"' }],
  ])) {
    it(name, async (t) => {
      const page = await open(t, css, { colorScheme: system, ...options })
      assert.deepEqual(await backgrounds(page), Array(ELEMENTS.length).fill(expected))
    })
  }

  it('changed scheme of the page changes the elements', async (t) => {
    const page = await open(t, '[data-theme=dark] { color-scheme: dark }')
    for (const [theme, expected] of [
      ['dark', DARK],
      ['light', LIGHT],
    ]) {
      await page.evaluate((theme) => (document.documentElement.dataset.theme = theme), theme)
      assert.deepEqual(await backgrounds(page), Array(ELEMENTS.length).fill(expected))
    }
  })
})

it('parts inherit computed colors, not formulas', async (t) => {
  const page = await open(t, '')
  const colors = await page.locator('activity-rank section').evaluate((section) => {
    const style = getComputedStyle(section)
    return ['base', 'strong', 'ink', 'text', 'muted', 'accent', 'line'].map((name) =>
      style.getPropertyValue(`--${name}`),
    )
  })
  for (const color of colors) assert.match(color, /^(rgba?|oklch|oklab|color)\([^()]+\)$/)
})

const CORS = { 'access-control-allow-origin': '*' }
const PERIOD = { kind: 'week', id: 'w', start: '2026-11-23T00:00:00Z', end: '2026-11-30T00:00:00Z', timezone: 'UTC' }
const LEVEL = { number: 2, name: 'Expert' }
// Initials have a hue for each id.
const ENTRIES = Array.from({ length: 8 }, (_, index) => ({
  user: { id: `m${index * 7}`, level: LEVEL },
  rank: index + 1,
  previous_rank: [3, 1, 4, null][index % 4],
  score: 100 - index,
}))
const STANDING = { period: PERIOD, ...ENTRIES[4], total: 90, next: { rank: 4, score: 97, points: 2 } }
const places = ['day', 'week', 'month', 'all'].map((kind, index) => [kind, { score: 9, rank: index + 1, total: 90 }])
const CARD = {
  user: { id: 'ada', level: LEVEL },
  standings: Object.fromEntries(places),
  streak: { current: 4, longest: 9 },
}
const days = Array.from({ length: 31 }, (_, day) => ({
  date: new Date(Date.UTC(2026, 10, 24 - day)).toISOString().slice(0, 10),
  points: day % 7,
}))

/** Answers the requests of all elements. */
const answer = (page) =>
  page.route(/\/v1\//, (route) => {
    const path = new URL(route.request().url()).pathname
    const [, kind = 'board'] =
      /\/(card|activity|winners|users)\b[^/]*$/.exec(path.replace(/users\/\w+$/, 'users')) ?? []
    const json = {
      board: { period: PERIOD, total: 90, entries: ENTRIES },
      card: CARD,
      activity: { user: { id: 'ada' }, timezone: 'UTC', days, streak: CARD.streak },
      winners: { boards: [{ period: PERIOD, total: 3, entries: ENTRIES.slice(0, 3) }] },
      users: STANDING,
    }[kind]
    return route.fulfill({ json, headers: CORS })
  })

/** Returns the texts of a page's elements whose contrast is below 4.5. Gradients count as their last color. */
const lowContrasts = (page) =>
  page.evaluate((names) => {
    const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', {
      willReadFrequently: true,
    })
    const parse = (color) => {
      context.clearRect(0, 0, 1, 1)
      context.fillStyle = color
      context.fillRect(0, 0, 1, 1)
      const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data
      return [red, green, blue, alpha / 255]
    }
    const over = ([...front], back) => [0, 1, 2].map((index) => front[index] * front[3] + back[index] * (1 - front[3]))
    const luminance = (color) => {
      const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4)
      const [red, green, blue] = color.map(linear)
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const backgroundOf = (element) => {
      if (!element) return [255, 255, 255]
      const behind = backgroundOf(element.parentElement ?? element.getRootNode().host)
      const { backgroundColor, backgroundImage } = getComputedStyle(element)
      const gradient = /(\w+\([^()]*\))\)$/.exec(backgroundImage)?.[1]
      return over(parse(gradient ?? backgroundColor), behind)
    }
    const low = []
    for (const name of names) {
      for (const element of document.querySelector(name).shadowRoot.querySelectorAll('section *')) {
        const hasText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim())
        if (!hasText || !element.checkVisibility({ visibilityProperty: true })) continue
        // The disabled arrow.
        if (element.closest('[aria-disabled]')) continue
        const background = backgroundOf(element)
        const text = over(parse(getComputedStyle(element).color), background)
        const [light, dark] = [luminance(text), luminance(background)].sort((a, b) => b - a)
        const contrast = (light + 0.05) / (dark + 0.05)
        const part = element.getAttribute('part') ?? element.parentElement.getAttribute('part')
        if (contrast < 4.5) low.push(`${name} ${part} ${element.textContent.slice(0, 9)} ${contrast.toFixed(2)}`)
      }
    }
    return low
  }, ELEMENTS)

describe('contrast', () => {
  /** Colors of hosts: page, background and text; without a background or text that of the element. */
  const PALETTES = /** @type {const} */ ([
    ['white', '#fff', '#fff', '#000'],
    ['cream', '#fdf6e3', '#fdf6e3', '#3b3228'],
    ['pink', '#ffe4ec', '#ffe4ec', '#5a0b2b'],
    ['pale text', '#fff', '#fff', '#6b6b6b'],
    ['yellow', '#ffe600', '#ffe600', '#111'],
    ['grey', '#444', '#444', '#fff'],
    ['navy', '#0d1b2a', '#0d1b2a', '#e0e1dd'],
    ['blue', '#1030d0', '#1030d0', '#fff'],
    ['black', '#000', '#000', '#fff'],
    ['black background alone', '#000', '#000', ''],
    ['white background alone', '#fff', '#fff', ''],
    ['transparent on black', '#000', 'transparent', '#fff'],
    ['transparent on white', '#fff', 'transparent', '#000'],
    ['default', '#fff', '', ''],
  ])
  const ATTRIBUTES = 'period="week" days="31" refresh="0" lang="en"'
  for (const [name, page, background, text] of PALETTES) {
    it(`${name} has 4.5 in both schemes`, async (t) => {
      const host = [background && `--activity-rank-background: ${background}`, text && `--activity-rank-text: ${text}`]
      const css = `main { background: ${page}; ${host.filter(Boolean).join(';')} }`
      const opened = await open(t, css, { attributes: ATTRIBUTES, before: answer, reducedMotion: 'reduce' })
      await opened.locator('[part~=winner]').nth(2).waitFor()
      await opened.getByText('2 points to rank').waitFor()
      await opened.locator('[part~=place]').nth(3).waitFor()
      await opened.locator('[part~=level-4]').first().waitFor()
      for (const scheme of ['light', 'dark']) {
        for (const layout of ['full', 'list']) {
          await opened.evaluate(
            ([scheme, layout]) => {
              document.documentElement.style.colorScheme = scheme
              document.querySelector('activity-rank').layout = layout
            },
            [scheme, layout],
          )
          assert.deepEqual(await lowContrasts(opened), [], `${scheme}, ${layout}`)
        }
      }
    })
  }
})
