// A site of its own that shows boards on its own domain: a service binding passes `/rank/…` to the deployment. A browser
// sees one origin, so the deployment needs no `ALLOWED_ORIGINS`.

import { Hono } from 'hono'
import { getSignedCookie } from 'hono/cookie'
import { html } from 'hono/html'
import { sign } from 'hono/jwt'

const TOKEN_LIFETIME = 900 // seconds

/**
 * @typedef {object} Bindings
 * @property {{ fetch: (request: Request) => Promise<Response> }} RANK the deployment
 * @property {string} RANK_HOST the host name of the deployment's pages
 * @property {string} JWT_SECRET that of the deployment
 * @property {string} SESSION_SECRET signs the cookies of this site
 */

/** @type {Hono<{ Bindings: Bindings }>} */
const app = new Hono()

// The pages of the deployment name their files from the root, so they have a host name of their own.
app.use(async (context, next) => {
  const { RANK, RANK_HOST } = context.env
  if (new URL(context.req.url).host === RANK_HOST) return RANK.fetch(context.req.raw)
  await next()
})

// `/rank/v1/…` is `/v1/…` of the deployment. Elements and client call the folder that they were loaded from.
app.mount('/rank', (request, /** @type {Bindings} */ { RANK }) => RANK.fetch(request))

// The cookie is that of the site's sign-in. Replace it with your own.
const memberOf = (/** @type {import('hono').Context<{ Bindings: Bindings }>} */ context) =>
  getSignedCookie(context, context.env.SESSION_SECRET, 'member')

app.get('/my-token', async (context) => {
  const member = await memberOf(context)
  if (!member) return context.body(null, 401)
  const exp = Math.floor(Date.now() / 1000) + TOKEN_LIFETIME
  const token = await sign({ sub: member, exp }, context.env.JWT_SECRET, 'HS256')
  return context.text(token, 200, { 'cache-control': 'no-store' })
})

app.get('/', async (context) => {
  const member = (await memberOf(context)) || ''
  return context.html(html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>Members</title>
<script type="module" src="/rank/elements/activity-rank.js"></script>
<main>
  <h1>Members</h1>
  <activity-rank period="week" user="${member}">The most active members</activity-rank>
</main>
<script type="module">
  import { Client } from '/rank/client.js'
  const user = document.querySelector('activity-rank').getAttribute('user')
  if (user) {
    const token = async () => {
      const response = await fetch('/my-token')
      return response.ok ? response.text() : undefined
    }
    new Client({ user, token }).visits()
  }
</script>
</html>`)
})

export default app
