// The API reference.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'

import { delayRequests, eventually, layoutShift, PHONE, startApp } from './support.mjs'

const api = JSON.parse(readFileSync(new URL('../../web/openapi.json', import.meta.url), 'utf8'))

let app

before(async () => {
  app = await startApp()
})
after(() => app?.stop())

const urlOf = (hash) => `${new URL('/docs', app.url)}${hash}`

/** Opens the reference and waits until it is rendered. */
async function open(t, options = {}, hash = '') {
  const page = await app.visit(t, urlOf(hash), options)
  await page.locator('[data-ready]').waitFor()
  return page
}

/** Returns the focused element, and whether it and its outline are in the viewport. */
const focused = (page) =>
  page.evaluate(() => {
    const element = document.activeElement
    const { top, left, bottom, right } = element.getBoundingClientRect()
    const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(element)
    const [width, offset] = [outlineWidth, outlineOffset].map(parseFloat)
    const hasOutline = outlineStyle === 'solid' && width >= 2
    const edge = width + offset
    const isInView = top >= edge && left >= edge && bottom <= innerHeight - edge && right <= innerWidth - edge
    return {
      tag: element.localName,
      id: element.id,
      href: element.getAttribute('href'),
      isVisible: hasOutline && isInView,
    }
  })

describe('API reference', () => {
  it('every operation and schema is rendered', async (t) => {
    const page = await open(t)
    const ids = Object.values(api.paths).flatMap((item) =>
      Object.values(item).flatMap(({ operationId }) => operationId ?? []),
    )
    const schemas = Object.keys(api.components.schemas).map((name) => `schema-${name}`)
    for (const id of [...ids, ...schemas]) assert.equal(await page.locator(`h3[id="${id}"]`).count(), 1, id)
    const broken = await page.evaluate(() => {
      /** @type {NodeListOf<HTMLAnchorElement>} */
      const nodes = document.querySelectorAll('a[href^="#"]')
      const links = [...nodes]
      return links.map((a) => a.hash.slice(1)).filter((id) => !document.getElementById(decodeURIComponent(id)))
    })
    assert.deepEqual(broken, [])
    const text = await page.locator('main').innerText()
    assert.ok(!/undefined|\[object|NaN/.test(text))
    assert.deepEqual(page.errors, [])
  })

  it('URL hash scrolls to its section', async (t) => {
    const page = await open(t, {}, '#schema-Board')
    await eventually(() => focused(page), { tag: 'h3', id: 'schema-Board', href: null, isVisible: true })
    assert.ok((await page.locator('#schema-Board').boundingBox()).y < 300)
  })

  it('missing document is reported', async (t) => {
    const before = (page) => page.route('**/openapi.json', (route) => route.fulfill({ status: 503, body: '' }))
    const page = await open(t, { before })
    assert.equal(await page.getByRole('alert').innerText(), 'Could not load the API document: status 503')
  })

  it('layout does not shift while loading', async (t) => {
    for (const [options, hash] of /** @type {[object, string][]} */ ([
      [{}, ''],
      [PHONE, ''],
      [{}, '#schema-Board'],
    ])) {
      let release = () => {}
      const before = async (page) => (release = await delayRequests(page, '**/openapi.json'))
      const page = await app.visit(t, urlOf(hash), { ...options, before })
      await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => setTimeout(painted))))
      release()
      await page.locator('#schemas').waitFor()
      const shift = await layoutShift(page)
      assert.ok(shift < 0.001, `${JSON.stringify(options)} ${hash}: ${shift}`)
    }
  })
})

describe('API reference by keyboard', () => {
  it('Tab visits every link in order', async (t) => {
    const page = await open(t)
    const links = await page.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    assert.ok(links.length > 100, `${links.length}`)
    // Nothing else on the page takes the focus.
    const others = page.locator('button, summary, input, select, textarea, [role=button], [tabindex="0"]')
    assert.equal(await others.count(), 0)
    for (const href of links) {
      await page.keyboard.press('Tab')
      await eventually(() => focused(page), { tag: 'a', id: '', href, isVisible: true })
    }
    await page.keyboard.press('Shift+Tab')
    assert.equal((await focused(page)).href, links.at(-2))
  })

  it('first link skips the contents', async (t) => {
    const page = await open(t)
    await page.keyboard.press('Tab')
    const skip = page.locator(':focus')
    assert.equal(await skip.innerText(), 'Skip to the endpoints')
    await page.keyboard.press('Enter')
    await eventually(() => focused(page), { tag: 'h2', id: 'tag-Activity', href: null, isVisible: true })
    assert.equal(await skip.isVisible(), true)
    await page.keyboard.press('Tab')
    assert.equal(await page.locator('section:has(#tag-Activity) a:focus').count(), 1)
  })

  it('every linked section takes the focus', async (t) => {
    const page = await open(t)
    const [contents, ...ids] = await page.locator('main :is(h2, h3)').evaluateAll((all) => all.map(({ id }) => id))
    assert.equal(contents, '')
    for (const id of ids) {
      await page.locator(`a[href="#${id}"]`).first().focus()
      await page.keyboard.press('Enter')
      const target = async () => {
        const { tag, ...rest } = await focused(page)
        return { isHeading: /^h[23]$/.test(tag), ...rest }
      }
      await eventually(target, { isHeading: true, id, href: null, isVisible: true })
      assert.equal(new URL(page.url()).hash, `#${id}`)
    }
  })
})
