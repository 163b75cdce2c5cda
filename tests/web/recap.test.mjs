// A year and a month of a member.

import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'

import { eventually, SCHEMES, scrollWidth, startApp, violations } from './support.mjs'

const DAY = 864e5 // ms
const at = (back) => new Date(Date.now() - back * DAY).toISOString()
const YEAR = at(0).slice(0, 4)
const MONTH = at(0).slice(0, 7)

let app

before(async () => {
  app = await startApp({ databases: true, vars: { CONTENT_PERIODS: 'month,year' } })
  await app.request('PUT', '/v1/users', [
    { id: 'ada', name: 'Ada' },
    { id: 'eve', name: 'Eve', public_activity: true },
  ])
  await app.request('PUT', '/v1/targets/post', { author: 'eve', title: 'A title' })
  await app.count([
    ...[0, 1, 2].map((back) => ({ user: 'eve', action: 'comment', target: `c${back}`, at: at(back) })),
    { user: 'eve', action: 'like', target: 'x', at: at(1) },
    { user: 'ada', action: 'like', target: 'post' },
  ])
  await eventually(async () => (await app.request('GET', `/v1/authors/year/users/eve`)).score, 2)
})
after(() => app?.stop())

const open = (t, member, period, as = undefined, options = {}) =>
  app.visit(t, `${app.url}/u/${member}/${period}${as ? `#token=${app.token(as)}` : ''}`, options)

/** Returns the facts of a recap by their text. */
const factsOf = async (page) => {
  const facts = await page.locator('#facts > li').allInnerTexts()
  return Object.fromEntries(
    facts.map((fact) => {
      const [value, text] = fact.split('\n')
      return [text, value]
    }),
  )
}

it('public year is shown to everyone', async (t) => {
  const page = await open(t, 'eve', YEAR)
  await page.locator('#recap:not([hidden])').waitFor()
  assert.equal(await page.locator('h1').innerText(), `Eve · ${YEAR}`)
  const facts = await factsOf(page)
  assert.equal(facts['place, of 2'], '#1')
  assert.equal(facts['points received as an author'], '2')
  // On the first days of a year, the days before are those of another one.
  assert.ok(Number(facts.points) <= 11 && Number(facts.points) >= 3, JSON.stringify(facts))
  await page.locator('#months').getByRole('link').first().click()
  await eventually(async () => page.url().startsWith(`${app.url}/u/eve/${YEAR}-`), true)
  assert.deepEqual(page.errors, [])
})

it('private year is shown to the member', async (t) => {
  const visitor = await open(t, 'ada', MONTH)
  await visitor.getByText('This recap is private. The member can show it to everyone.').waitFor()
  assert.equal(await visitor.locator('#facts > li').count(), 0)
  const own = await open(t, 'ada', MONTH, 'ada')
  await own.locator('#recap:not([hidden])').waitFor()
  assert.equal((await factsOf(own)).points, '2')
  assert.deepEqual(own.errors, [])
})

it('frozen days keep the longest streak', async (t) => {
  const days = [...'x-xfxx'].map((day, index) => ({
    date: `2025-11-0${index + 1}`,
    points: day === 'x' ? 2 : 0,
    ...(day === 'f' ? { frozen: true } : {}),
  }))
  const answer = (page) =>
    page.route(/\/v1\/users\/eve\/activity/, (route) =>
      route.fulfill({ json: { user: { id: 'eve' }, days: days.toReversed() } }),
    )
  const standing = { rank: 1, total: 2, score: 8, period: { closed: true } }
  const page = await open(t, 'eve', '2025-11', undefined, {
    before: async (page) => {
      await answer(page)
      await page.route(/\/v1\/ranking\//, (route) => route.fulfill({ json: standing }))
    },
  })
  await page.locator('#recap:not([hidden])').waitFor()
  const facts = await factsOf(page)
  assert.deepEqual([facts['longest streak, in days'], facts['active days']], ['3', '4'])
})

it('month without activity is empty', async (t) => {
  const page = await open(t, 'eve', '2001-01')
  await page.getByText('Nothing yet.').waitFor()
  assert.equal(await page.locator('#facts > li').count(), 0)
})

it('page of a member leads to recaps', async (t) => {
  const page = await app.visit(t, `${app.url}/u/eve`)
  const links = page.locator('#recaps a')
  await eventually(() => links.first().innerText(), YEAR)
  await links.first().click()
  await page.locator('#recap:not([hidden])').waitFor()
})

for (const colorScheme of SCHEMES) {
  it(`passes axe in ${colorScheme} mode and fits 240 pixels`, async (t) => {
    const options = { colorScheme, viewport: { width: 240, height: 900 } }
    const page = await open(t, 'eve', YEAR, undefined, options)
    await page.locator('#recap:not([hidden])').waitFor()
    assert.deepEqual(await violations(page), [])
    assert.equal(await scrollWidth(page), 240)
  })
}
