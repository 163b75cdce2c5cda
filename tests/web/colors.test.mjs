// Colours of all elements: they follow the page and the host's own colours, not the reader's system.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'

import { startApp } from './support.mjs'

const ELEMENTS = ['activity-rank', 'activity-card', 'activity-heatmap']
const LIGHT = 'rgb(255, 255, 255)'
const DARK = 'rgb(24, 30, 38)'

let app

before(async () => {
  app = await startApp({ live: false })
})
after(() => app?.stop())

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
