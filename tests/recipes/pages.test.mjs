// The HTML in the documents of recipes, in a page of another origin.

import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'

import { eventually, names, startApp } from '../web/support.mjs'
import { blocksOf, replace } from './commands.mjs'

const DEPLOYMENT = 'https://activity-rank.example.com'
const NONCE = 'Q29udGVudA'

let app
before(async () => {
  app = await startApp({ vars: { MEMBER_ACCOUNTS: 'true', ALLOWED_ORIGINS: 'http://127.0.0.1:*' } })
  await app.count([{ user: 'ada', action: 'comment', target: 'comment-1' }])
})
after(() => app?.stop())

for (const recipe of ['giscus', 'discourse', 'ghost', 'github', 'generic']) {
  it(`page of ${recipe} shows the board`, async (t) => {
    const html = replace(blocksOf(`recipes/${recipe}/README.md`, 'html').join(''), { [DEPLOYMENT]: app.url })
    const url = app.serveHtml('/posts/1', html)
    const page = await app.visit(t, url, {
      before: (page) => page.route('https://giscus.app/**', (route) => route.abort()),
    })
    await eventually(() => names(page), ['ada'])
    assert.deepEqual(page.errors, [])
  })
}

/** Discourse 3.3 gives scripts of themes a nonce; before, it allowed addresses. */
for (const { version, policy } of [
  { version: '3.3', policy: () => `script-src 'nonce-${NONCE}' 'strict-dynamic'` },
  { version: '3.2', policy: (deployment) => `script-src 'self' ${deployment}` },
]) {
  it(`policy of Discourse ${version} allows the board`, async (t) => {
    const html = replace(blocksOf('recipes/discourse/README.md', 'html').join(''), { [DEPLOYMENT]: app.url })
    const themed = version === '3.3' ? html.replace('<script ', `<script nonce="${NONCE}" `) : html
    const [, setting] = blocksOf('recipes/discourse/README.md', 'yaml')[0].match(/default: "script-src: (.*)"/)
    assert.equal(setting, DEPLOYMENT)
    const url = app.serve('/', (_, response) => {
      const csp = `${policy(app.url)}; base-uri 'self'; object-src 'none'; worker-src 'self'`
      response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': csp })
      response.end(`<!doctype html><html lang="en"><link rel="icon" href="data:,">${themed}`)
    })
    const page = await app.visit(t, url)
    await eventually(() => names(page), ['ada'])
    assert.deepEqual(page.errors, [])
  })
}

for (const recipe of ['discord', 'slack']) {
  it(`page of ${recipe} links an account`, async (t) => {
    const [html] = blocksOf(`recipes/${recipe}/README.md`, 'html')
    const url = app.serveHtml('/link', replace(html, { 'https://activity-rank.example.com': app.url }))
    const [account, user] = [`${recipe}:U7`, `member-${recipe}`]
    const token = app.token(account)
    const page = await app.visit(t, `${url}#${new URLSearchParams({ account, token })}`, {
      before: (page) =>
        page.route('**/my-account', (route) => route.fulfill({ json: { user, token: app.token(user) } })),
    })
    await page.click('#join')
    await eventually(() => page.textContent('#join'), 'Linked')
    assert.equal(page.url().includes(token), false)
    const { accounts } = await app.request('GET', `/v1/users/${user}/account`)
    assert.deepEqual([accounts, page.errors], [[account], []])
  })
}
