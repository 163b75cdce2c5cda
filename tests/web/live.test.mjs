// <activity-rank> with event streams and default settings.

import assert from 'node:assert/strict'
import { after, before, beforeEach, it } from 'node:test'

import { eventually, names, sendFrom, setHidden, startApp } from './support.mjs'

let app
let group

before(async () => {
  app = await startApp()
})
after(() => app?.stop())
beforeEach(() => {
  group = app.newGroup()
})

const ELEMENT = '<activity-rank src="APP_URL" group="GROUP" user="bob"></activity-rank>'

const like = (user, target, undo = false) => ({
  user,
  action: 'like',
  target: group + target,
  groups: [group],
  ...(undo && { undo }),
})

/** Collects the paths of requests for boards and streams. */
function recordPaths(page) {
  const paths = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (/^\/v1\/ranking\/\w+(\/live)?$/.test(pathname)) paths.push(pathname)
  })
  return paths
}

it('like in another tab moves a row in two seconds', async (t) => {
  await app.count([like('ada', 1), like('ada', 2), like('bob', 1)])
  let paths = []
  const page = await app.open(t, ELEMENT, { before: (page) => (paths = recordPaths(page)) })
  await eventually(() => names(page), ['ada', 'bob'])
  await eventually(() => paths, ['/v1/ranking/day', '/v1/ranking/day/live'])
  const tab = await app.open(t, '')
  const sendTwo = (undo) => sendFrom(tab, app, [like('bob', 2, undo), like('bob', 3, undo)])
  assert.deepEqual(await sendTwo(false), ['counted', 'counted'])
  await eventually(() => names(page), ['bob', 'ada'], 2000)
  assert.deepEqual(await sendTwo(true), ['undone', 'undone'])
  await eventually(() => names(page), ['ada', 'bob'], 2000)
  assert.deepEqual(paths, ['/v1/ranking/day', '/v1/ranking/day/live'])
})

/** The stream closes while the page is hidden and reopens afterwards. */
it('hundred elements share one stream', async (t) => {
  await app.count([like('ada', 1)])
  let paths = []
  const page = await app.open(t, ELEMENT.repeat(100), { before: (page) => (paths = recordPaths(page)) })
  await eventually(() => page.locator('tbody tr').count(), 100)
  await eventually(() => paths, ['/v1/ranking/day', '/v1/ranking/day/live'])
  const closed = page.waitForEvent('requestfailed', (request) => request.url().includes('/live'))
  await setHidden(page, true)
  await closed
  await app.count([like('bob', 1), like('bob', 2)])
  await setHidden(page, false)
  await eventually(async () => (await names(page)).slice(0, 2), ['bob', 'ada'])
  await eventually(() => paths.filter((path) => path.endsWith('/live')).length, 2)
})
