// <activity-rank> with event streams and default settings.

import assert from 'node:assert/strict'
import { after, before, beforeEach, it } from 'node:test'

import { eventually, names, recordDelays, sendFrom, setHidden, startApp } from './support.mjs'

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

it('like in another tab moves a row without polling', async (t) => {
  await app.count([like('ada', 1), like('ada', 2), like('bob', 1)])
  let paths = []
  // It would poll every second.
  const element = ELEMENT.replace('user=', 'refresh="1" user=')
  const page = await app.open(t, element, { before: (page) => (paths = recordPaths(page)) })
  await eventually(() => names(page), ['ada', 'bob'])
  await eventually(() => paths, ['/v1/ranking/day', '/v1/ranking/day/live'])
  const tab = await app.open(t, '')
  const sendTwo = (undo) => sendFrom(tab, app, [like('bob', 2, undo), like('bob', 3, undo)])
  assert.deepEqual(await sendTwo(false), ['counted', 'counted'])
  await eventually(() => names(page), ['bob', 'ada'])
  assert.deepEqual(await sendTwo(true), ['undone', 'undone'])
  await eventually(() => names(page), ['ada', 'bob'])
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

/** They end a line of JavaScript, but not of an event stream. */
it('line separators in a name stay live', async (t) => {
  const name = 'A\u2028d\u2029a'
  // The service accepts no such name any more; one stored before is shown.
  const profile = JSON.stringify({ name })
  const stored = await fetch(`${app.store.url}/HSET/{ar:0}p/separators`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.store.token}` },
    body: profile,
  })
  assert.equal(stored.status, 200, await stored.text())
  await app.count([like('separators', 1), like('bob', 1), like('bob', 2)])
  let paths = []
  const page = await app.open(t, ELEMENT, { before: (page) => (paths = recordPaths(page)) })
  await eventually(() => names(page), ['bob', name])
  await eventually(() => paths, ['/v1/ranking/day', '/v1/ranking/day/live'])
  for (const target of [2, 3]) {
    await app.count([like('separators', target)])
  }
  await eventually(() => names(page), [name, 'bob'])
  assert.deepEqual(paths, ['/v1/ranking/day', '/v1/ranking/day/live'])
  assert.deepEqual(page.errors, [])
})

/** A deployment whose streams are written by a function. `streams` has those opened so far. */
async function serveStreams(write) {
  const board = await app.request('GET', `/v1/ranking/day?group=${group}`)
  const streams = []
  const url = app.serve(`/${group}/v1/ranking/day`, (_, response) => response.end(JSON.stringify(board)))
  app.serve(`/${group}/v1/ranking/day/live`, (_, response) => {
    const stream = { isOpen: true }
    response.on('close', () => (stream.isOpen = false))
    streams.push(stream)
    write(response, streams.length, board)
  })
  return { src: url.replace('/v1/ranking/day', ''), streams }
}

const event = (data) => `event: board\ndata: ${data}\n\n`

/** Opens the element with a stopped clock that records delays. It polls once an hour, so only streams have timers. */
const openStopped = (t, src) =>
  app.open(t, ELEMENT.replace('APP_URL', src).replace('user=', 'refresh="3600" user='), { before: recordDelays })

/** Waits until a number of streams have been opened and have ended, and returns the delay until the next. */
async function reconnectDelay(page, streams, count) {
  await eventually(() => streams.length, count)
  await eventually(() => streams.filter(({ isOpen }) => isOpen).length, 0)
  // The other timer is that of the stream.
  await eventually(() => page.evaluate('delays.at(-1) === 60_000'), false)
  return page.evaluate('delays.at(-1)')
}

/** Fails unless each stream ends and is followed by the next after such a delay, or up to twice as long. */
async function assertBackoffs(page, streams, backoffs) {
  for (const [index, backoff] of backoffs.entries()) {
    const delay = await reconnectDelay(page, streams, index + 1)
    assert.ok(backoff <= delay && delay <= 2 * backoff, `${delay} ms after stream ${index + 1}`)
    await page.clock.runFor(Math.ceil(delay))
  }
}

const HEADERS = { 'content-type': 'text/event-stream' }

for (const [name, data] of [
  ['broken JSON', '{"period":'],
  ['JSON without a board', 'null'],
]) {
  it(`${name} doubles the reconnect delay`, async (t) => {
    const { src, streams } = await serveStreams((response) => response.writeHead(200, HEADERS).write(event(data)))
    const page = await openStopped(t, src)
    await assertBackoffs(page, streams, [3000, 6000, 12_000, 24_000, 48_000, 96_000, 192_000, 300_000, 300_000])
  })
}

it('only a board resets the reconnect delay', async (t) => {
  const { src, streams } = await serveStreams((response, count, board) => {
    const text = ['', 'data: {}\n\n', ':\n\n', event(JSON.stringify(board)), ''][count - 1]
    response.writeHead(200, HEADERS).end(text)
  })
  const page = await openStopped(t, src)
  await assertBackoffs(page, streams, [3000, 6000, 12_000, 3000, 6000])
})

it('stream sets its reconnect delay', async (t) => {
  const { src, streams } = await serveStreams((response) =>
    response.writeHead(200, HEADERS).end('retry: 9000\n:\n\ndata: {}\n\n'),
  )
  const page = await openStopped(t, src)
  await assertBackoffs(page, streams, [9000, 18_000])
})

/** Otherwise the board would never change again. */
it('stream without a response is given up', async (t) => {
  const { src, streams } = await serveStreams(() => {})
  const page = await openStopped(t, src)
  await eventually(() => streams.length, 1)
  await page.clock.runFor(60_000)
  await assertBackoffs(page, streams, [3000])
})

it('refused stream keeps no connection', async (t) => {
  const { src, streams } = await serveStreams((response) => response.writeHead(503).write('{'))
  const page = await openStopped(t, src)
  await assertBackoffs(page, streams, [3000, 6000])
})
