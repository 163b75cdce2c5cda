// <activity-rank> where boards are live, with all settings as they are.

import assert from 'node:assert/strict'
import { after, before, beforeEach, it } from 'node:test'

import { eventually, start } from './support.mjs'

let site
let group

before(async () => {
  site = await start()
})
after(() => site?.stop())
beforeEach(() => {
  group = site.newGroup()
})

const ELEMENT = '<activity-rank src="SITE" group="GROUP" user="bob"></activity-rank>'

const like = (user, target, undo) => ({ user, action: 'like', target: group + target, groups: [group], ...(undo && { undo }) })
const names = (page) => page.locator('tbody [part=name]').allTextContents()

/** Requests for boards and streams. */
function asked(page) {
  const paths = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (/^\/v1\/ranking\/\w+(\/live)?$/.test(pathname)) paths.push(pathname)
  })
  return paths
}

it('a like in one tab moves the row in another within two seconds, and its undo moves it back', async (t) => {
  await site.count([like('ada', 1), like('ada', 2), like('bob', 1)])
  let paths
  const page = await site.open(t, ELEMENT, { before: (page) => (paths = asked(page)) })
  await eventually(() => names(page), ['ada', 'bob'])
  await eventually(() => paths, ['/v1/ranking/day', '/v1/ranking/day/live'])
  const tab = await site.open(t, '')
  const send = (activity, key) =>
    tab.evaluate(
      async ([url, key, body]) => {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
        const answer = await fetch(`${url}/v1/activity`, { method: 'POST', headers, body })
        return (await answer.json()).results.map(({ outcome }) => outcome)
      },
      [site.url, key, JSON.stringify(activity)],
    )
  const two = (undo) => send([like('bob', 2, undo), like('bob', 3, undo)], site.serviceKey)
  assert.deepEqual(await two(false), ['counted', 'counted'])
  await eventually(() => names(page), ['bob', 'ada'], 2000)
  assert.deepEqual(await two(true), ['undone', 'undone'])
  await eventually(() => names(page), ['ada', 'bob'], 2000)
  assert.deepEqual(paths, ['/v1/ranking/day', '/v1/ranking/day/live'])
})

it('a hundred elements have one stream, which ends while the page is hidden', async (t) => {
  await site.count([like('ada', 1)])
  let paths
  const page = await site.open(t, ELEMENT.repeat(100), { before: (page) => (paths = asked(page)) })
  await eventually(() => page.locator('tbody tr').count(), 100)
  await eventually(() => paths, ['/v1/ranking/day', '/v1/ranking/day/live'])
  const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/live'))
  const hide = (hidden) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }, hidden)
  await hide(true)
  await ended
  await site.count([like('bob', 1), like('bob', 2)])
  await hide(false)
  await eventually(() => names(page).then((all) => all.slice(0, 2)), ['bob', 'ada'])
  await eventually(() => paths.filter((path) => path.endsWith('/live')).length, 2)
})
