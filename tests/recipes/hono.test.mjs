// The Hono app that shows a deployment on its own domain, with a service binding between the two Workers.

import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, it } from 'node:test'

import { generateSignedCookie } from 'hono/cookie'

import { STORE_TIMEOUT } from '../sdk/slowness.mjs'
import { startWrangler, workerConfig } from '../sdk/worker.mjs'
import { eventually, names, startApp } from '../web/support.mjs'
import { receiverConfig } from './support.mjs'

const SESSION_SECRET = 'a secret of the session cookies'
const JWT_SECRET = 'a test secret that is longer than 32 bytes'
const HOST = 'rank.example.com'

let app
let site
before(async () => {
  app = await startApp()
  const vars = { RANK_HOST: HOST, JWT_SECRET, SESSION_SECRET }
  const { url, token } = app.store
  const store = { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token, STORE_TIMEOUT_MS: STORE_TIMEOUT }
  const rank = { ...workerConfig({ ...store, JWT_SECRET, SERVICE_KEYS: app.serviceKey }), name: 'activity-rank' }
  const { routes, ...config } = receiverConfig('hono', vars)
  site = await startWrangler({ ...config, services: [{ binding: 'RANK', service: 'activity-rank' }] }, [rank])
  await app.count([{ user: 'ada', action: 'like', target: 'post-1' }])
})
after(async () => {
  await site?.stop()
  await app?.stop()
})

it('API answers below the path', async () => {
  const board = await (await fetch(`${site.url}/rank/v1/ranking/all`)).json()
  assert.deepEqual(board.entries, [{ rank: 1, score: 2, user: { id: 'ada' } }])
  const post = await fetch(`${site.url}/rank/v1/activity`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.serviceKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ user: 'ada', action: 'like', target: 'post-1' }),
  })
  assert.deepEqual([post.status, (await post.json()).outcome], [200, 'duplicate'])
})

for (const [path, type] of [
  ['/rank/elements/activity-rank.js', 'text/javascript'],
  ['/rank/client.js', 'text/javascript'],
  ['/rank/v1/users/ada/badge.svg', 'image/svg+xml'],
]) {
  it(`${path} is served`, async () => {
    const response = await fetch(site.url + path)
    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type') ?? '', new RegExp(`^${type.replace('+', '\\+')}`))
  })
}

it('unknown path below it is a problem document', async () => {
  const response = await fetch(`${site.url}/rank/v1/nothing`)
  assert.deepEqual([response.status, response.headers.get('content-type')], [404, 'application/problem+json'])
})

it('page shows the board of the same origin', async (t) => {
  const requested = []
  const page = await app.visit(t, `${site.url}/`, {
    before: (page) => page.on('request', (request) => requested.push(new URL(request.url()).origin)),
  })
  await eventually(() => names(page), ['ada'])
  assert.deepEqual(
    [...new Set(requested)].filter((origin) => origin !== 'null'),
    [site.url],
  )
  assert.deepEqual(page.errors, [])
})

it('visit of a signed-in member counts', async (t) => {
  const cookie = await generateSignedCookie('member', 'grace', SESSION_SECRET)
  const [name, value] = cookie.split(';')[0].split('=')
  const page = await app.visit(t, `${site.url}/`, {
    before: (page) => page.context().addCookies([{ name, value, url: site.url }]),
  })
  await eventually(() => app.score('grace'), 1)
  assert.deepEqual(page.errors, [])
})

for (const [name, cookie] of [
  ['without cookie', ''],
  ['with a forged cookie', 'member=ada.AAAA'],
]) {
  it(`token ${name} is refused`, async () => {
    assert.equal((await fetch(`${site.url}/my-token`, { headers: { cookie } })).status, 401)
  })
}

/** `fetch` of Node.js sets the Host header itself. */
const pageOf = (path) =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(site.url)
    request({ hostname, port, path, headers: { host: HOST } }, async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve([response.statusCode, text])
    })
      .on('error', reject)
      .end()
  })

it('other host serves the pages', async () => {
  const [status, text] = await pageOf('/')
  assert.equal(status, 200)
  assert.match(text, /<activity-rank id="board"/)
  for (const path of ['/page/page.js', '/u/ada', '/v1/ranking/all']) {
    assert.deepEqual([path, (await pageOf(path))[0]], [path, 200])
  }
})
