// `recipes/ghost` and `activity-rank sync` with a real Ghost: the posts of the demo community, webhooks, lost ones, and members.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'

import { experimental_readRawConfig } from 'wrangler'

import { blocksOf, run } from '../recipes/commands.mjs'
import { KEY, ROOT, SECRET, startReceiver } from '../recipes/support.mjs'
import { eventually } from '../sdk/eventually.mjs'
import { startGhost } from './ghost.mjs'

/** Changes of the source that no webhook reports. */
const CHANGES = 60

const folder = mkdtempSync(join(tmpdir(), 'ghost-'))
let ghost
let app
let key
before(async () => {
  ghost = await startGhost()
  app = await startReceiver('ghost', { vars: { ...memberVars(), BOARD_MAX_AGE: '0' }, databases: true })
  const created = await ghost.admin('POST', 'integrations/?include=api_keys', { integrations: [{ name: 'Sync' }] })
  const [integration] = created.integrations
  key = integration.api_keys.find(({ type }) => type === 'admin').secret
  for (const event of ['post.published', 'post.unpublished', 'post.deleted', 'member.deleted']) {
    const webhook = { event, name: event, target_url: app.url, secret: SECRET, integration_id: integration.id }
    await ghost.admin('POST', 'webhooks/', { webhooks: [webhook] })
  }
})
after(async () => {
  await app?.stop()
  await ghost?.stop()
  rmSync(folder, { recursive: true })
})

/** Returns the variables of the document for this site. */
function memberVars() {
  const file = join(folder, 'wrangler.toml')
  const [toml] = blocksOf('recipes/ghost/README.md', 'toml')
  writeFileSync(file, toml.replaceAll('https://blog.example.com', ghost.url))
  return { ...experimental_readRawConfig({ config: file }).rawConfig.vars, JWT_SECRET: undefined }
}

/** Runs the command line. */
function sync(source, args) {
  const command = `${ROOT}/target/debug/activity-rank sync ghost '${source}' ${args}`
  return run(command, { ACTIVITY_RANK_URL: app.rank.url, ACTIVITY_RANK_KEY: KEY, GHOST_ADMIN_API_KEY: key })
}

/** Asserts the exit code and the last line of the output. */
async function assertEnds(running, status, line) {
  const ended = await running
  assert.deepEqual([ended.status, ended.stdout.trim().split('\n').at(-1)], [status, line], ended.output)
}

async function read(path) {
  const response = await fetch(app.rank.url + path, { headers: { authorization: `Bearer ${KEY}` } })
  return response.json()
}

/** Returns the points of all time. */
async function board() {
  const points = {}
  for (let offset = 0; ; offset += 100) {
    const { entries } = await read(`/v1/ranking/all?limit=100&offset=${offset}`)
    for (const { user, score } of entries) points[user.id] = score
    if (entries.length < 100) return points
  }
}

/** Returns the points of authors, by the tables of Ghost. */
function reference() {
  const rows = ghost.sql(`SELECT author_id, COUNT(*) AS number FROM posts JOIN posts_authors ON post_id = posts.id
    WHERE type = 'post' AND status IN ('published', 'sent') AND visibility = 'public' AND sort_order = 0 GROUP BY author_id`)
  return Object.fromEntries(rows.map(({ author_id, number }) => [`ghost:${author_id}`, 10 * Number(number)]))
}

const hexadecimal = (kind, text) => `${kind}${Number(text).toString(16).padStart(20, '0')}`

/** Writes the posts of the demo community into the tables. */
function insertCommunity() {
  const lines = readFileSync(join(ROOT, 'demo/community.jsonl'), 'utf8').trim().split('\n')
  const posts = lines.map((line) => JSON.parse(line)).filter(({ action }) => action === 'publish')
  const id = ({ target }) => hexadecimal('beef', target.replace('post-', ''))
  const author = ({ user }) => hexadecimal('cafe', user)
  const values = (rows) => [...new Set(rows.map((row) => `(${row.map((value) => `'${value}'`).join()})`))].join()
  const instant = ({ at }) => at.slice(0, 19).replace('T', ' ')
  const users = posts.map((post) => {
    const user = author(post)
    return [user, `Member ${user}`, user, '-', `${user}@example.com`, '2020-01-01']
  })
  const uuid = (post) => `00000000-0000-4000-8000-${id(post).slice(-12)}`
  const published = posts.map((post) => [
    ...[id(post), uuid(post), `Post ${id(post)}`, id(post), 'all'],
    ...[instant(post), instant(post), instant(post), 'published', 'post'],
  ])
  const authors = posts.map((post, index) => [hexadecimal('face', index), id(post), author(post), 0])
  ghost.sql(`INSERT INTO users (id, name, slug, password, email, created_at) VALUES ${values(users)};
    INSERT INTO posts (id, uuid, title, slug, email_recipient_filter, created_at, updated_at, published_at, status, type)
      VALUES ${values(published)};
    INSERT INTO posts_authors (id, post_id, author_id, sort_order) VALUES ${values(authors)};`)
  return posts.length
}

it('history of a site is counted', async () => {
  assert.ok(insertCommunity() > 500)
  const { status, output } = await sync(ghost.url, '')
  assert.equal(status, 0, output)
  await assertEnds(sync(ghost.url, '--compare'), 0, '0 differ')
  await eventually(board, reference())
  const [user] = Object.keys(reference()).filter((id) => id.includes('cafe'))
  assert.equal((await read(`/v1/users/${user}`)).name, `Member ${user.replace('ghost:', '')}`)
})

it('export has the same activity', async () => {
  const file = join(folder, 'export.json')
  writeFileSync(file, JSON.stringify(await ghost.admin('GET', 'db/')))
  await assertEnds(sync(file, '--compare'), 0, '0 differ')
})

it('webhooks keep the board in step', async () => {
  const { posts } = await ghost.admin('POST', 'posts/', { posts: [{ title: 'Hello', status: 'published' }] })
  const [{ id, updated_at }] = posts
  await eventually(board, reference())
  const target = await read(`/v1/targets/ghost:post:${id}`)
  const [{ author_id }] = ghost.sql(`SELECT author_id FROM posts_authors WHERE post_id = '${id}'`)
  // A site without https has no links.
  assert.deepEqual(target, { id: `ghost:post:${id}`, title: 'Hello', author: `ghost:${author_id}` })
  await ghost.admin('PUT', `posts/${id}/`, { posts: [{ status: 'draft', updated_at }] })
  await eventually(board, reference())
  const [{ post }] = ghost.sql("SELECT id AS post FROM posts WHERE id LIKE 'beef%' ORDER BY id LIMIT 1")
  await ghost.admin('DELETE', `posts/${post}/`)
  await eventually(board, reference())
  await assertEnds(sync(ghost.url, '--compare'), 0, '0 differ')
})

it('heal mends what webhooks missed', async () => {
  ghost.sql('DELETE FROM webhooks WHERE event LIKE "post%"')
  const posts = ghost.sql("SELECT id FROM posts WHERE id LIKE 'beef%' ORDER BY id")
  const authors = ghost.sql("SELECT id FROM users WHERE id LIKE 'cafe%' ORDER BY id")
  for (let change = 0; change < CHANGES; change++) {
    const { id } = posts[(change * 7) % posts.length]
    const author = authors[(change * 5) % authors.length].id
    const created = { title: `New ${change}`, status: 'published', authors: [{ id: author }] }
    if (change % 5 === 0) await ghost.admin('POST', 'posts/', { posts: [created] })
    else if (change % 5 === 1) await ghost.admin('POST', 'posts/', { posts: [{ ...created, visibility: 'members' }] })
    else if (change % 5 === 2) await ghost.admin('DELETE', `posts/${id}/`)
    else {
      const [{ updated_at }] = (await ghost.admin('GET', `posts/${id}/`)).posts
      const values = change % 5 === 3 ? { status: 'draft' } : { authors: [{ id: author }] }
      await ghost.admin('PUT', `posts/${id}/`, { posts: [{ ...values, updated_at }] })
    }
  }
  const { status, output } = await sync(ghost.url, '--compare --limit 5')
  assert.equal(status, 4, output)
  await assertEnds(sync(ghost.url, '--heal'), 0, '0 differ')
  const second = await sync(ghost.url, '')
  assert.match(second.stdout, /^ +points +\+0$/m)
  await eventually(board, reference())
})

it('token of a member has the id of webhooks', async () => {
  const created = await ghost.admin('POST', 'members/', { members: [{ name: 'Grace', email: 'grace@example.com' }] })
  const [{ id, uuid }] = created.members
  const { member_signin_urls } = await ghost.admin('GET', `members/${id}/signin_urls/`)
  const signedIn = await fetch(member_signin_urls[0].url, { redirect: 'manual' })
  const cookie = signedIn.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ')
  const send = async (path) => {
    const token = await (await fetch(`${ghost.url}/members/api/${path}`, { headers: { cookie } })).text()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ user: `ghost:member:${uuid}`, action: 'like', target: 'ghost:post:any' })
    return (await fetch(`${app.rank.url}/v1/activity`, { method: 'POST', headers, body })).status
  }
  assert.deepEqual([await send('session'), await send('entitlements')], [403, 200])
  assert.equal(await app.rank.score(`ghost:member:${uuid}`), 2)
  await ghost.admin('DELETE', `members/${id}/`)
  await eventually(() => app.rank.score(`ghost:member:${uuid}`), 0)
})
