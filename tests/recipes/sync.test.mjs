// The scheduled Worker of recipes/sync, with a deployment and its journal, and a stand-in for the REST API
// of WordPress.

import assert from 'node:assert/strict'
import { it } from 'node:test'

import { listen } from '../sdk/listen.mjs'
import { startBundled } from '../sdk/worker.mjs'
import { KEY, startProxy, startApp as startRank } from '../server-sdk/support.mjs'
import { receiverConfig } from './support.mjs'

const NIGHT = Date.parse('2026-11-20T03:00:00Z')
const DAY = 86_400_000
const APPLICATION_PASSWORD = 'abcd efgh'

/** A site: the posts and the comments of members. */
async function startSite(t) {
  const at = (number) => `2026-11-0${number}T08:00:00`
  const site = {
    posts: [1, 2, 3].map((id) => ({ id, author: 7, date_gmt: at(id), title: { rendered: `Post ${id}` } })),
    comments: [4, 5].map((id) => ({ id, post: 1, author: 8, date_gmt: at(id) })),
    users: [7, 8].map((id) => ({ id, name: `User ${id}` })),
    requests: 0,
    fault: false,
  }
  const { url, stop } = await listen((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://site')
    const credentials = Buffer.from(`admin:${APPLICATION_PASSWORD}`).toString('base64')
    assert.equal(request.headers.authorization, `Basic ${credentials}`)
    assert.equal(request.headers['user-agent'], 'activity-rank-sync')
    site.requests += 1
    if (site.fault) return response.writeHead(500).end()
    const lists = { users: site.users, posts: site.posts, comments: site.comments, pages: [] }
    const items = lists[pathname.split('/').at(-1)]
    response.writeHead(200, { 'x-wp-total': items.length, 'x-wp-totalpages': 1 }).end(JSON.stringify(items))
  })
  t.after(stop)
  return Object.assign(site, { url })
}

/** Starts a deployment, a site and the Worker. */
async function start(t, vars = {}) {
  const site = await startSite(t)
  const rank = await startRank({ vars: { CONTENT_PERIODS: 'all' }, databases: true })
  t.after(() => rank.stop())
  const proxy = await startProxy(rank)
  t.after(() => proxy.stop())
  const config = receiverConfig('sync', {
    SOURCE: 'wordpress',
    SOURCE_URL: site.url,
    WORDPRESS_USER: 'admin',
    WORDPRESS_APPLICATION_PASSWORD: APPLICATION_PASSWORD,
    ACTIVITY_RANK_URL: proxy.url,
    ACTIVITY_RANK_KEY: KEY,
    ...vars,
  })
  const worker = await startBundled(config)
  t.after(() => worker.stop())
  /** Runs the schedule at an instant. Returns the report of the run; nothing if it had nothing to do. */
  const run = async (time) => {
    const before = proxy.requests.length
    const response = await fetch(`${worker.url}/cdn-cgi/local/scheduled?time=${time}`)
    assert.equal(`${response.status} ${await response.text()}`, '200 ok')
    const isReported = proxy.requests.slice(before).some(({ url }) => url === '/v1/syncs/wordpress')
    return isReported ? stored() : undefined
  }
  /** Returns what the deployment has of the last run. */
  const stored = async () => {
    const { source, reported_at, completed_at, ...result } = (await rank.client.listSyncs()).syncs[0]
    assert.equal(source, 'wordpress')
    return result
  }
  const scores = () => Promise.all(['7', '8'].map(rank.score))
  return { site, run, scores, rank }
}

const DONE = { state: 'done', differences: 0, refused: {}, detail: '0 differ' }

it('failed run is repeated, each night mends once', async (t) => {
  const { site, run, scores, rank } = await start(t)
  const name = async () => (await rank.client.getProfile({ user: '7' })).name
  site.fault = true
  const { state, detail } = await run(NIGHT)
  assert.equal(state, 'failed')
  assert.match(detail, /did not answer: status 500$/)
  site.fault = false
  // Five activities, and the authors of three posts.
  assert.deepEqual(await run(NIGHT + 20 * 60_000), { ...DONE, mended: 8 })
  assert.deepEqual([await scores(), await name()], [[30, 6], 'User 7'])
  const { requests } = site
  assert.equal(await run(NIGHT + 40 * 60_000), undefined)
  assert.equal(site.requests, requests)
  site.comments.pop()
  site.posts[2].author = 8
  assert.deepEqual(await run(NIGHT + DAY), { ...DONE, mended: 4 })
  assert.deepEqual(await scores(), [20, 13])
  site.users[0].name = 'anon7'
  assert.deepEqual(await run(NIGHT + 2 * DAY), { ...DONE, mended: 0 })
  assert.equal(await name(), 'anon7')
})

it('run goes on where the budget has ended', async (t) => {
  const { site, run, scores } = await start(t, { REQUESTS: '1' })
  const states = []
  let report
  for (let step = 0; report?.state !== 'done' && step < 20; step++) {
    report = await run(NIGHT + step * 20 * 60_000)
    states.push(report.state)
  }
  assert.deepEqual(report, { ...DONE, mended: 8 })
  assert.ok(
    states.slice(0, -1).every((state) => state === 'running'),
    states.join(),
  )
  assert.deepEqual(await scores(), [30, 6])
  // Each page of the source is read once.
  assert.equal(site.requests, 4)
})

it('run without HEAL changes nothing', async (t) => {
  const { run, scores } = await start(t, { HEAL: 'false' })
  const { detail, ...report } = await run(NIGHT)
  assert.deepEqual(report, { state: 'done', differences: 8, mended: 0, refused: {} })
  assert.match(detail, /^other author: post-1 has none, and the source 7; other author: post-2/)
  assert.deepEqual(await scores(), [0, 0])
})
