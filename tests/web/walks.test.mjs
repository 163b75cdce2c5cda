// Walks of members through several pages, windows and by the keyboard alone.

import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'

import { eventually, startApp } from './support.mjs'

let app

before(async () => {
  app = await startApp({ vars: { CONTENT_PERIODS: 'week', PLAYGROUND: 'true' } })
  await app.request('PUT', '/v1/users', [{ id: 'ada', name: 'Ada' }])
  await app.count(
    Array.from({ length: 4 }, (_, n) => ({ user: `m${n}`, action: n ? 'comment' : 'like', target: `p${n}` })),
  )
  await app.count([{ user: 'ada', action: 'visit', target: '/' }])
})
after(() => app?.stop())

const urlOf = (path) => new URL(path, app.url).href
const open = (t, path) => app.visit(t, urlOf(path))
const ranks = (page) => page.locator('#board tbody [part~=name]').allTextContents()

/** Ada is the last of five, likes and comments on /try, and passes them all, which a visitor sees in another window. */
it('member acts, rises in another window and shares it', async (t) => {
  const visitor = await open(t, '/')
  await eventually(() => ranks(visitor), ['m1', 'm2', 'm3', 'm0', 'Ada'])

  const member = await open(t, `/#token=${app.token('ada')}`)
  const climb = member.locator('activity-climb')
  await eventually(() => climb.locator('[part=rank]').innerText(), '#5')
  await member.goto(urlOf('/try'))
  await member.getByRole('button', { name: 'Like +2' }).click()
  await eventually(() => ranks(visitor), ['m1', 'm2', 'm3', 'Ada', 'm0'])
  await member.getByRole('button', { name: 'Comment +3' }).click()
  await eventually(() => ranks(visitor), ['Ada', 'm1', 'm2', 'm3', 'm0'])

  await member.goto(urlOf('/'))
  await eventually(() => climb.locator('[part=rank]').innerText(), '#1')
  const downloading = member.waitForEvent('download')
  await climb.getByRole('button', { name: 'Share' }).click()
  assert.equal((await downloading).suggestedFilename(), 'ada.png')

  await visitor.locator('#board').getByRole('link', { name: 'Ada' }).first().click()
  await eventually(() => visitor.url(), urlOf('/u/ada'))
  await eventually(() => visitor.locator('h1').innerText(), 'Ada')
  for (const { errors } of [visitor, member]) assert.deepEqual(errors, [])
})

/** Presses Tab until an element has the focus, by its id or its text. */
async function tabTo(page, name) {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab')
    const names = await page.evaluate(() => {
      let element = document.activeElement
      while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
      return [element.id, element.ariaLabel, element.textContent.trim()]
    })
    if (names.includes(name)) return
  }
  assert.fail(`Tab does not reach ${name}`)
}

it('keyboard reaches everything on the front page', async (t) => {
  const page = await open(t, `/#token=${app.token('m1')}`)
  await page.locator('#aside:not([hidden])').waitFor({ state: 'attached' })
  await tabTo(page, 'Skip to the content')
  await tabTo(page, 'home')
  await tabTo(page, 'Menu')
  await page.keyboard.press('Enter')
  await eventually(() => page.getByRole('switch').isEnabled(), true)
  await tabTo(page, 'me')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await page.getByText('Everyone can see your activity now.').waitFor()
  await tabTo(page, 'language')
  await tabTo(page, 'theme')
  await page.keyboard.press('Enter')
  assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
  await page.keyboard.press('Escape')
  await tabTo(page, 'Share')
  await tabTo(page, 'Content')
  await page.keyboard.press('Enter')
  await eventually(() => page.evaluate('location.hash'), '#content/week')
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Content')
  await page.evaluate(`location.hash = '#week'`)
  await eventually(async () => (await ranks(page)).length, 5)
  await tabTo(page, 'm3')
  await page.keyboard.press('Enter')
  await eventually(() => page.evaluate('location.pathname'), '/u/m3')
})

it('keyboard reaches everything in the playground', async (t) => {
  const page = await open(t, '/try')
  await page.locator('#snippet-curl').waitFor()
  await tabTo(page, 'token')
  await page.keyboard.insertText(app.token('m2'))
  await page.keyboard.press('Enter')
  await page.locator('#signed-in').waitFor()
  assert.equal(await page.evaluate('document.activeElement.id'), 'target')
  await tabTo(page, 'Bookmark +2')
  await page.keyboard.press('Enter')
  await eventually(() => app.score('m2'), 5)
  await tabTo(page, 'Undo: Bookmark')
  await page.keyboard.press('Space')
  await eventually(() => app.score('m2'), 3)
  await tabTo(page, 'My points')
  await page.keyboard.press('Enter')
  await eventually(() => page.locator('#exchanges details').count(), 3)
  await tabTo(page, 'snippet-curl-copy')
})
