// The files that pages embed, as a deployment serves them.

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'

import { eventually, shareApp } from './support.mjs'

let app

before(async () => {
  app = await shareApp({ live: false })
})

const urlOf = (path) => new URL(path, app.url).href
const integrity = async () => (await fetch(urlOf('/elements/integrity.json'))).json()

/** Opens a page of another origin that embeds an element by its hash, and records the URLs of its scripts. */
async function openEmbedded(t, hash) {
  const { file } = (await integrity())['activity-rank.js']
  const scripts = []
  const url = app.serveHtml(
    `/embedded-${hash.length}.html`,
    `<title>A page</title>
    <script type="module" src="${urlOf(file)}" integrity="${hash}" crossorigin></script>
    <activity-rank src="${app.url}"></activity-rank>`,
  )
  const before = (page) =>
    page.on('request', (request) => {
      if (request.resourceType() === 'script') scripts.push(new URL(request.url()).pathname)
    })
  return { page: await app.visit(t, url, { before }), scripts, file }
}

describe('embedded elements', () => {
  it('hashed file is one request and never changes', async (t) => {
    const { page, scripts, file } = await openEmbedded(t, (await integrity())['activity-rank.js'].integrity)
    await page.getByRole('tab', { name: 'Day' }).waitFor()
    assert.deepEqual(scripts, [file])
    const { headers } = await fetch(urlOf(file))
    assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.equal(headers.get('access-control-allow-origin'), '*')
  })

  it('wrong integrity blocks the file', async (t) => {
    const { page } = await openEmbedded(t, `sha384-${'A'.repeat(64)}`)
    await eventually(() => page.errors.some((error) => error.includes('integrity')), true)
    assert.equal(await page.evaluate(`customElements.get('activity-rank')`), undefined)
  })

  it('element has two names and a source map', async () => {
    const elements = Object.entries(await integrity())
    assert.ok(elements.length >= 2)
    for (const [name, { file }] of elements) {
      assert.match(file, new RegExp(`^/immutable/${name.slice(0, -3)}\\.[0-9a-f]{12}\\.js$`))
      const codes = []
      for (const path of [`/elements/${name}`, file]) {
        const code = await (await fetch(urlOf(path))).text()
        const [, map] = /\/\/# sourceMappingURL=(\S+)\n$/.exec(code)
        const { sources } = await (await fetch(new URL(map, urlOf(path)))).json()
        assert.ok(sources.includes(name), `${path}: ${sources}`)
        codes.push(code.replace(/\/\/# source.*/, ''))
      }
      assert.equal(codes[0], codes[1])
    }
  })

  it('imported element keeps its styles when moved', async (t) => {
    const names = ['activity-rank', 'activity-heatmap', 'activity-card', 'activity-climb', 'activity-like']
    const tags = names.map((name) => `<${name} src="APP_URL" user="42"></${name}>`).join('')
    const scripts = ['card', 'climb', 'like']
      .map((name) => `<script type="module" src="APP_URL/elements/activity-${name}.js"></script>`)
      .join('')
    const page = await app.open(t, `${tags}${scripts}<iframe></iframe>`)
    const module = await page.evaluate(async (url) => (await import(url)).ActivityRank.name, urlOf('/elements/rank.js'))
    assert.equal(module, 'ActivityRank')
    await page.waitForFunction((names) => names.every((name) => customElements.get(name)), names)
    const styles = await page.evaluate((names) => {
      const { contentDocument } = /** @type {any} */ (document.querySelector('iframe'))
      const elements = names.map((name) => document.querySelector(name))
      const styleOf = (element) => {
        // They do not depend on the width.
        const { borderRadius, display, borderTopStyle } = getComputedStyle(element.shadowRoot.querySelector('section'))
        return [borderRadius, display, borderTopStyle]
      }
      const stylesIn = (target) => {
        target.body.append(...elements)
        return elements.map(styleOf)
      }
      const before = elements.map(styleOf)
      const inFrame = stylesIn(contentDocument)
      // It has no window.
      document.implementation.createHTMLDocument().body.append(...elements)
      return { before, inFrame, moved: stylesIn(document) }
    }, names)
    const { before, inFrame, moved } = styles
    assert.notEqual(before[0][0], '0px')
    assert.deepEqual(inFrame, before)
    assert.deepEqual(moved, before)
    assert.deepEqual(page.errors, [])
  })
})
