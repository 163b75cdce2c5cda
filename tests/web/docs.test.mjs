// The API reference, in Chromium.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'

import { eventually, shift, start } from './support.mjs'

const PHONE = { viewport: { width: 320, height: 640 } }
const document = JSON.parse(readFileSync(new URL('../../web/openapi.json', import.meta.url), 'utf8'))

let site

before(async () => {
  site = await start()
})
after(() => site?.stop())

/** Opens it, and waits until it is there. */
async function open(t, options, hash = '') {
  const page = await site.visit(t, `${new URL('/docs', site.url)}${hash}`, options)
  await page.locator('[data-ready]').waitFor()
  return page
}

/** What has the focus, and whether that can be seen, with the line around it. */
const focused = (page) =>
  page.evaluate(() => {
    const { activeElement: element } = document
    const { top, left, bottom, right } = element.getBoundingClientRect()
    const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(element)
    const [width, offset] = [outlineWidth, outlineOffset].map(parseFloat)
    const isMarked = outlineStyle === 'solid' && width >= 2
    const edge = width + offset
    const isInSight = top >= edge && left >= edge && bottom <= innerHeight - edge && right <= innerWidth - edge
    return { tag: element.localName, id: element.id, href: element.getAttribute('href'), isSeen: isMarked && isInSight }
  })

describe('the API reference', () => {
  it('has every operation, schema and word of the document', async (t) => {
    const page = await open(t)
    const ids = Object.values(document.paths).flatMap((item) => Object.values(item).flatMap(({ operationId }) => operationId ?? []))
    const schemas = Object.keys(document.components.schemas).map((name) => `schema-${name}`)
    for (const id of [...ids, ...schemas]) assert.equal(await page.locator(`h3[id="${id}"]`).count(), 1, id)
    const broken = await page.evaluate(() =>
      [...document.querySelectorAll('a[href^="#"]')].map((a) => a.hash.slice(1)).filter((id) => !document.getElementById(decodeURIComponent(id))),
    )
    assert.deepEqual(broken, [])
    const text = await page.locator('main').innerText()
    assert.ok(!/undefined|\[object|NaN/.test(text))
    assert.deepEqual(page.errors, [])
  })

  it('goes to what its address names', async (t) => {
    const page = await open(t, {}, '#schema-Board')
    await eventually(() => focused(page), { tag: 'h3', id: 'schema-Board', href: null, isSeen: true })
    assert.ok((await page.locator('#schema-Board').boundingBox()).y < 300)
  })

  it('says when there is no document', async (t) => {
    const before = (page) => page.route('**/openapi.json', (route) => route.fulfill({ status: 503, body: '' }))
    const page = await open(t, { before })
    assert.equal(await page.getByRole('alert').innerText(), 'The document cannot be had: status 503')
  })

  it('moves nothing while it loads, however late the document is', async (t) => {
    for (const [options, hash] of [[{}, ''], [PHONE, ''], [{}, '#schema-Board']]) {
      let release
      const released = new Promise((resolve) => (release = resolve))
      const before = (page) =>
        page.route('**/openapi.json', async (route) => {
          await released
          await route.continue()
        })
      const page = await site.visit(t, `${new URL('/docs', site.url)}${hash}`, { ...options, before })
      await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => setTimeout(painted))))
      release()
      await page.locator('#schemas').waitFor()
      assert.ok((await shift(page)) < 0.001, `${JSON.stringify(options)} ${hash}: ${await shift(page)}`)
    }
  })
})

describe('the API reference, by keys alone', () => {
  it('has every link in the order of the page, each in sight when it has the focus', async (t) => {
    const page = await open(t)
    const links = await page.locator('a').evaluateAll((all) => all.map((one) => one.getAttribute('href')))
    assert.ok(links.length > 100, `${links.length}`)
    // There is nothing else that a key could open.
    assert.equal(await page.locator('button, summary, input, select, textarea, [role=button], [tabindex="0"]').count(), 0)
    for (const href of links) {
      await page.keyboard.press('Tab')
      await eventually(() => focused(page), { tag: 'a', id: '', href, isSeen: true })
    }
    await page.keyboard.press('Shift+Tab')
    assert.equal((await focused(page)).href, links.at(-2))
  })

  it('has a link first that skips the contents', async (t) => {
    const page = await open(t)
    await page.keyboard.press('Tab')
    const skip = page.locator(':focus')
    assert.equal(await skip.innerText(), 'Skip the contents')
    await page.keyboard.press('Enter')
    await eventually(() => focused(page), { tag: 'h2', id: 'tag-Activity', href: null, isSeen: true })
    assert.equal(await skip.isVisible(), true)
    await page.keyboard.press('Tab')
    assert.equal(await page.locator('section:has(#tag-Activity) a:focus').count(), 1)
  })

  it('goes to every section that is linked, and shows where it is', async (t) => {
    const page = await open(t)
    const [contents, ...ids] = await page.locator('main :is(h2, h3)').evaluateAll((all) => all.map(({ id }) => id))
    assert.equal(contents, '')
    for (const id of ids) {
      await page.locator(`a[href="#${id}"]`).first().focus()
      await page.keyboard.press('Enter')
      const isHeading = async () => {
        const { tag, ...rest } = await focused(page)
        return { isHeading: /^h[23]$/.test(tag), ...rest }
      }
      await eventually(isHeading, { isHeading: true, id, href: null, isSeen: true })
      assert.equal(new URL(page.url()).hash, `#${id}`)
    }
  })
})
