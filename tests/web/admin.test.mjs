// The admin page: a moderator signs in with a service key and works on members, targets and events.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'

import { SEARCH_PATH } from '../../web/admin/cases.js'
import { openAdmin, signIn } from './admin_page.mjs'
import {
  eventually,
  layoutShift,
  names,
  recordRequests,
  SCHEMES,
  scrollWidth,
  startApp,
  violations,
  WIDTHS,
} from './support.mjs'

const OTHER_KEY = 'a-key-for-activity-only'
const VIEWS = [
  'overview',
  'members',
  'member/kim',
  'targets',
  'target/post-1',
  'cases',
  'audit',
  'rules',
  'numbers/7',
  'health',
  'events',
  'webhooks',
]

let app
let user
let users = 0

before(async () => {
  const vars = {
    SERVICE_KEYS: `test-service-key,activity:${OTHER_KEY},anna@admin:anna-key`,
    CONTENT_PERIODS: 'week,all',
    FAIR_PLAY: {},
    ACHIEVEMENTS: { helper: { name: 'Helper', count: 'like', steps: [1, 10, 1000] } },
  }
  app = await startApp({ databases: true, vars })
  await app.request('PUT', '/v1/users', [{ id: 'kim', name: 'Kim', url: 'https://example.com/kim' }])
  await app.request('PUT', '/v1/targets', [{ id: 'post-1', title: 'First post', author: 'kim' }])
  const past = new Date(Date.now() - 2 * 864e5).toISOString()
  await app.count([
    { user: 'kim', action: 'like', target: 'p', at: past },
    ...['like', 'bookmark', 'comment'].map((action) => ({ user: 'lee', action, target: 'post-1' })),
  ])
  await app.request('PUT', '/v1/users/lee/moderation', { hidden: false, frozen: true, reason: 'Automated' })
  await app.request('POST', '/v1/users/lee/adjustments', { id: 'case-1', points: 5, reason: 'A prize' })
  await app.request('PUT', '/v1/events/quiz', event('Quiz', 1, 2))
  await app.runCron()
})
after(() => app?.stop())
beforeEach(() => {
  user = `member-${++users}`
})

const day = (days) => new Date(Date.now() + days * 864e5).toISOString()
const event = (title, from, to) => ({ title, from: day(from), to: day(to) })
const button = (page, name) => page.getByRole('button', { name, exact: true })
const card = (page, title) => page.locator('.card', { has: page.getByRole('heading', { name: title, exact: true }) })
const news = (page) => page.locator('#news').innerText()
const rowOf = (page, title, name) => card(page, title).getByRole('row', { name }).getByRole('cell').allInnerTexts()

/** Fills the fields of the dialog and sends it. */
async function answer(page, values, submit) {
  const dialog = page.getByRole('dialog')
  for (const [label, value] of Object.entries(values)) await dialog.getByLabel(label, { exact: true }).fill(value)
  await button(dialog, submit).click()
}

/** @type {Promise<string> | undefined} */
let ring

/** Returns the id of a case of three members who like each other's posts. The first call makes them do so. */
const ringCase = () => (ring ??= makeRing())

async function makeRing() {
  const authors = Array.from({ length: 10 }, (_, index) => `other-${index}`)
  const members = ['ann', 'ben', 'cleo']
  const like = (user, author, post) => ({ user, action: 'like', target: `${author}-${post}` })
  const likes = (group, posts) =>
    group.flatMap((user) =>
      group
        .filter((author) => author !== user)
        .flatMap((author) => Array.from({ length: posts }, (_, post) => like(user, author, post))),
    )
  const posts = (author, count) =>
    Array.from({ length: count }, (_, post) => ({
      id: `${author}-${post}`,
      title: `Post ${post} by ${author}`,
      author,
    }))
  await app.request('PUT', '/v1/users', [{ id: 'ann', name: 'Ann' }])
  await app.request('PUT', '/v1/targets', [
    ...authors.flatMap((author) => posts(author, 1)),
    ...members.flatMap((author) => posts(author, 6)),
  ])
  await app.count([...likes(authors, 1), ...likes(members, 6)])
  await app.runCron('* * * * *')
  await app.request('POST', SEARCH_PATH)
  const { cases } = await app.request('GET', '/v1/cases')
  return cases.find(({ members: found }) => found.join() === members.join()).id
}

/** Opens another view, as a link does. */
async function go(page, hash) {
  await page.evaluate((hash) => {
    location.hash = hash
  }, hash)
  await page.locator('#view:not([aria-busy]) h1').waitFor()
}

describe('sign-in', () => {
  const error = (page) => page.locator('#sign-in-error').innerText()

  it('page opens if the browser language is invalid', async (t) => {
    const before = (page) =>
      page.addInitScript(() =>
        Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix', configurable: true }),
      )
    const page = await openAdmin(t, app, '', { key: null, before })
    assert.deepEqual(page.errors, [])
  })

  it('key lasts for the tab and is in no URL', async (t) => {
    /** @type {string[]} */
    let urls = []
    const page = await openAdmin(t, app, '#audit', {
      before: (page) => {
        urls = recordRequests(page, /./)
      },
    })
    await page.reload()
    await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor()
    assert.deepEqual(
      [...urls, page.url()].filter((url) => url.includes(app.serviceKey)),
      [],
    )
    const other = await page.context().newPage()
    await other.route(`${app.url}/admin`, (route) => route.fulfill({ body: 'another tab', contentType: 'text/html' }))
    await other.goto(`${app.url}/admin`)
    assert.equal(await other.evaluate('sessionStorage.length + localStorage.length'), 0)
    await button(page, 'Sign out').click()
    assert.equal(await page.evaluate('sessionStorage.length'), 0)
    await page.reload()
    await page.locator('#key').waitFor()
    assert.equal(await page.locator('#view').isVisible(), false)
  })

  it('revoked key signs out', async (t) => {
    const page = await openAdmin(t, app)
    await page.route('**/v1/moderation?*', (route) =>
      route.fulfill({ status: 401, json: { title: 'Unauthenticated' } }),
    )
    await page.getByRole('link', { name: 'Audit log' }).click()
    await eventually(() => error(page), 'The service no longer accepts the key. Sign in again.')
    assert.equal(await page.evaluate('sessionStorage.length'), 0)
  })

  it('sign-in form stores nothing, explains refusals', async (t) => {
    const page = await openAdmin(t, app, '', { key: null })
    assert.equal(await page.locator('#key').getAttribute('autocomplete'), 'off')
    assert.equal(await page.locator('#key').getAttribute('type'), 'password')
    assert.equal(await page.locator('#key').getAttribute('name'), null)
    await page.keyboard.press('Control+k')
    assert.equal(await page.getByRole('dialog').count(), 0)
    await signIn(page, 'nonsense')
    await eventually(() => error(page), 'This is not one of the service keys of this deployment.')
    await signIn(page, OTHER_KEY)
    await eventually(async () => (await error(page)).startsWith('This key does not have the scope admin.'), true)
    assert.equal(await page.locator('#view').isVisible(), false)
    assert.equal(await page.locator('#key').inputValue(), '')
    await page.route('**/v1/moderation?*', (route) => route.abort())
    await signIn(page, app.serviceKey)
    await eventually(async () => (await error(page)).startsWith('The service could not be reached.'), true)
    assert.deepEqual(page.errors, [])
  })
})

describe('overview', () => {
  const status = {
    version: '1.2.3',
    store: { latency_ms: 12, circuit: 'closed' },
    ...{ outbox: { entries: 0, oldest: null }, queue: null, commands: null },
  }
  const lines = (page) => card(page, 'Needs attention').locator('.feed .line').allInnerTexts()

  const notes = (page) => card(page, 'Needs attention').locator('p.note').allInnerTexts()

  it('is the first view, and says if all is good', async (t) => {
    const before = (page) =>
      page.route('**/healthz', async (route) => {
        const response = await route.fetch()
        await route.fulfill({ json: { ...(await response.json()), warnings: [] } })
      })
    const page = await openAdmin(t, app, '', { before, status })
    assert.equal(await page.locator('#view h1').innerText(), 'Overview')
    assert.deepEqual(await lines(page), [])
    await page.getByText('Nothing needs attention.').waitFor()
    assert.match((await notes(page)).join('\n'), /The last recorded run of cron was .* ago\./)
    const { days } = await app.request('GET', '/v1/stats')
    const today = page.locator('.tiles').first().locator('> div').filter({ hasText: 'Active members' })
    assert.equal(await today.locator('b').innerText(), String(days[0].active))
    await page.getByRole('heading', { name: 'Last 7 whole days' }).waitFor()
    const { entries } = await app.request('GET', '/v1/ranking/week?limit=5')
    assert.deepEqual(
      await card(page, 'Top members: Week').locator('.line').allInnerTexts(),
      entries.map(({ user: { id, name } }) => (name ? `${name} ${id}` : id)),
    )
    assert.deepEqual(await card(page, 'Top content: Week').locator('.line').allInnerTexts(), ['First post post-1'])
    assert.equal(await card(page, 'Sources').count(), 0)
  })

  it('attention links to the view that handles it', async (t) => {
    const hours = (ago) => new Date(Date.now() - ago * 3_600_000).toISOString()
    const health = await (await fetch(`${app.url}/healthz`)).json()
    const metrics = `activity_rank_pending_changes 2
activity_rank_cron_run_timestamp_seconds ${Date.parse(hours(3)) / 1000}
activity_rank_cron_run_success 0
activity_rank_journal_up 0
activity_rank_webhook_messages 5
activity_rank_webhook_oldest_timestamp_seconds ${Date.parse(hours(2)) / 1000}
# EOF
`
    const before = async (page) => {
      await page.route('**/healthz', (route) => route.fulfill({ json: { ...health, warnings: ['The disk is full.'] } }))
      await page.route('**/metrics', (route) => route.fulfill({ body: metrics }))
      const deliveries = { deliveries: [{ id: 'msg_1' }, { id: 'msg_2' }], next: null }
      await page.route('**/v1/webhooks/deliveries?*', (route) => route.fulfill({ json: deliveries }))
    }
    const page = await openAdmin(t, app, '', {
      before,
      status: { ...status, store: { latency_ms: 412, circuit: 'open' }, outbox: { entries: 3, oldest: hours(4) } },
    })
    assert.deepEqual(await lines(page), [
      'Problem The store does not respond',
      'Problem The database of the journal does not respond.',
      'Problem The last run of cron failed.',
      'Problem Failed deliveries to webhooks: 2.',
      'Warning The disk is full.',
      'Warning Store latency: 412 ms',
      'Warning Cron is late: its last run was 3 hours ago.',
      'Warning Changes that the journal does not have yet: 3. The oldest has waited 4 hours.',
      'Warning Messages to webhooks that wait: 5. The oldest has waited 2 hours.',
      'Warning Changes of visibility and erasures in progress: 2.',
    ])
    const links = await card(page, 'Needs attention').getByRole('link').all()
    const hashes = await Promise.all(links.map((link) => link.getAttribute('href')))
    assert.deepEqual([...new Set(hashes)], ['#health', '#webhooks/failed', '#webhooks', '#audit'])
  })

  it('key without the scope metrics says what it does not show', async (t) => {
    const needed = 'The last run of cron and changes in progress are not shown: the key needs the scope metrics.'
    const page = await openAdmin(t, app, '', { key: 'anna-key' })
    await eventually(() => notes(page).then((texts) => texts.includes(needed)), true)
    const health = await (await fetch(`${app.url}/healthz`)).json()
    health.configured.bound = ['queue']
    await page.route('**/healthz', (route) => route.fulfill({ json: health }))
    await page.getByRole('button', { name: 'Refresh' }).click()
    await eventually(
      () => notes(page).then((texts) => texts.slice(-2)),
      [needed, 'The dead-letter queue is in Cloudflare’s dashboard.'],
    )
  })

  it('fairness is explained, and links to the cases', async (t) => {
    const fairness = { days: 30, gifts: 9, top_givers_share: 0.314, gini: 0.625, mutual_share: null }
    const cases = { cases: [{}, {}], next: 'case_1', search: { at: day(0), fairness } }
    const before = (page) => page.route('**/v1/cases?*', (route) => route.fulfill({ json: cases }))
    const page = await openAdmin(t, app, '', { before })
    assert.ok((await lines(page)).includes('Warning Open cases: 2+'))
    const part = page.locator('.overview > div', { has: page.getByRole('heading', { name: 'Fairness' }) })
    assert.deepEqual(await part.locator('dt').allInnerTexts(), [
      'Given by the top ten',
      'Gini coefficient',
      'Mutual share',
    ])
    assert.deepEqual(await part.locator('dd b').allInnerTexts(), ['31%', '0.63', '–'])
    await part.getByText('The share of received points that go both ways').waitFor()
    assert.equal(await part.getByRole('link', { name: 'Open cases: 2+' }).getAttribute('href'), '#cases')
  })

  it('sources of sync runs have a table', async (t) => {
    const sync = (source, report) => app.request('PUT', `/v1/syncs/${encodeURIComponent(source)}`, report)
    t.after(() =>
      Promise.all(
        ['ghost', 'github/acme'].map((source) => app.request('DELETE', `/v1/syncs/${encodeURIComponent(source)}`)),
      ),
    )
    await sync('ghost', { state: 'done', differences: 0, mended: 1204 })
    await sync('github/acme', { state: 'running', detail: 'Page 3 of 8' })
    const page = await openAdmin(t, app)
    const [state, completed, ...numbers] = await rowOf(page, 'Sources', 'ghost')
    assert.match(completed, /^\w+ \d+, \d{4}, /)
    assert.deepEqual([state, ...numbers], ['Done', '0', '1,204'])
    assert.deepEqual(await rowOf(page, 'Sources', 'github/acme'), ['Running\nPage 3 of 8', '–', '–', '–'])
    assert.deepEqual(page.errors, [])
  })

  it('late, failed and differing syncs need attention', async (t) => {
    const sync = (source, state, differences, days) => {
      const completed_at = days === null ? null : day(days)
      return { source, state, detail: null, completed_at, differences, mended: differences }
    }
    const syncs = [sync('a', 'failed', 3, -4), sync('b', 'done', 0, -1), sync('c', 'running', null, null)]
    const before = (page) => page.route('**/v1/syncs', (route) => route.fulfill({ json: { syncs } }))
    const page = await openAdmin(t, app, '', { before })
    const found = (await lines(page)).filter((line) => / [abc] /.test(line))
    assert.deepEqual(found, [
      'Problem The last sync run of a failed.',
      'Warning Differences between a and the boards: 3.',
      'Warning The last completed sync run of a was 4 days ago.',
    ])
  })

  it('unavailable store leaves the rest', async (t) => {
    const problem = { title: 'The store is unavailable', status: 503, detail: 'The store did not respond.' }
    const body = { status: 'store-unavailable', problem, configured: null, warnings: [] }
    const page = await openAdmin(t, app, '#audit')
    await page.route('**/healthz', (route) => route.fulfill({ status: 503, json: body }))
    await page.route(/\/v1\/(status|stats)|metrics/, (route) => route.fulfill({ status: 503, json: problem }))
    await go(page, '#overview')
    assert.deepEqual(await lines(page), ['Problem Store unavailable: The store did not respond.'])
    assert.deepEqual(page.errors, [])
  })
})

describe('members', () => {
  it('search finds names and exact ids', async (t) => {
    const page = await openAdmin(t, app, '#members')
    const rows = () => page.locator('.results .line').allInnerTexts()
    await page.getByLabel('Search members').fill('KI')
    await eventually(rows, ['Kim kim'])
    await page.getByLabel('Search members').fill('nobody-yet')
    await eventually(rows, [])
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'nobody-yet', level: 1 }).waitFor()
    assert.equal(new URL(page.url()).hash, '#member/nobody-yet')
  })

  it('member page shows standings, points and audit', async (t) => {
    const page = await openAdmin(t, app, '#member/lee')
    assert.deepEqual(await rowOf(page, 'Standings', 'All time'), ['1', '12', '2'])
    const points = card(page, 'Points and why').getByRole('listitem')
    assert.deepEqual(await points.locator('.line').allInnerTexts(), [
      'Adjustment',
      'Comment First post post-1',
      'Bookmark First post post-1',
      'Like First post post-1',
    ])
    assert.deepEqual(await points.locator('.value').allInnerTexts(), ['+5', '+3', '+2', '+2'])
    const audit = card(page, 'Audit log').getByRole('listitem').locator('.line')
    assert.deepEqual(await audit.allInnerTexts(), ['Adjusted A prize', 'Frozen Automated'])
    assert.deepEqual(await page.locator('.facts .badge').allInnerTexts(), ['Frozen'])
  })

  it('unknown member is reported, and may be frozen', async (t) => {
    const page = await openAdmin(t, app, `#member/${user}`)
    await page.getByText('There is no member with this ID').waitFor()
    assert.equal(await page.locator('#view .card').count(), 0)
    assert.equal(await button(page, 'Erase').count(), 0)
    await button(page, 'Freeze').click()
    await answer(page, { Reason: 'Automated' }, 'Freeze')
    await eventually(() => page.locator('.facts .badge').allInnerTexts(), ['Frozen'])
    await go(page, '#target/no-such-target')
    await page.getByText('The target no-such-target is not registered.').waitFor()
    assert.equal(await button(page, 'Retry').count(), 0)
  })

  it('dialog names the member and the id', async (t) => {
    const page = await openAdmin(t, app, '#member/kim')
    for (const action of ['Hide', 'Freeze', 'Adjust points', 'Join an account', 'Erase']) {
      await button(page, action).click()
      await page.getByRole('dialog', { name: `${action}: Kim (kim)`, exact: true }).waitFor()
      await page.keyboard.press('Escape')
    }
  })

  it('points load page after page', async (t) => {
    await app.count(Array.from({ length: 25 }, (_, n) => ({ user, action: 'like', target: `t${n}` })))
    await app.runCron()
    const page = await openAdmin(t, app, `#member/${user}`)
    const rows = () => card(page, 'Points and why').getByRole('listitem').count()
    assert.equal(await rows(), 20)
    await button(page, 'Load more').click()
    await eventually(rows, 25)
    assert.equal(await button(page, 'Load more').isVisible(), false)
  })

  it('open board follows hide and show', async (t) => {
    app.newGroup()
    const like = (user, target) => ({ user, action: 'like', target, groups: [app.group] })
    await app.count([like(user, 'a'), like(user, 'b'), like('other', 'a')])
    const board = await app.open(t, '<activity-rank src="APP_URL" group="GROUP" period="all"></activity-rank>')
    await eventually(() => names(board), [user, 'other'])
    const page = await openAdmin(t, app, `#member/${user}`)
    await button(page, 'Hide').click()
    await answer(page, { Reason: 'Under review' }, 'Hide')
    await eventually(() => news(page), `${user}: Hidden`)
    await eventually(() => names(board), ['other'])
    await eventually(() => page.locator('.facts .badge').allInnerTexts(), ['Hidden'])
    await button(page, 'Show').click()
    await answer(page, { Reason: 'Fine' }, 'Show')
    await eventually(() => news(page), `${user}: Shown`)
    await eventually(() => names(board), [user, 'other'])
    assert.deepEqual(page.errors, [])
  })

  it('flags that others set meanwhile stay', async (t) => {
    const page = await openAdmin(t, app, `#member/${user}`)
    await app.request('PUT', `/v1/users/${user}/moderation`, { hidden: true, frozen: false, reason: 'Spam' })
    await button(page, 'Freeze').click()
    await answer(page, { Reason: 'Spam too' }, 'Freeze')
    await eventually(() => page.locator('.facts .badge').allInnerTexts(), ['Hidden', 'Frozen'])
    const state = await app.request('GET', `/v1/users/${user}/moderation`)
    assert.deepEqual([state.hidden, state.frozen], [true, true])
  })

  it('reason for the member is sent as public', async (t) => {
    const page = await openAdmin(t, app, `#member/${user}`)
    await button(page, 'Freeze').click()
    await page.getByLabel('The reason is for').selectOption('Moderators and the member')
    const request = page.waitForRequest((request) => request.method() === 'PUT')
    await answer(page, { Reason: 'Spam' }, 'Freeze')
    const body = { hidden: false, frozen: true, reason: 'Spam', public_reason: true }
    assert.deepEqual((await request).postDataJSON(), body)
    await eventually(() => page.locator('.facts .badge').allInnerTexts(), ['Frozen'])
  })

  it('adjustment counts and is undone', async (t) => {
    await app.count([{ user, action: 'like', target: 'a' }])
    const page = await openAdmin(t, app, `#member/${user}`)
    await button(page, 'Adjust points').click()
    await answer(page, { Points: '7', Reason: 'A prize' }, 'Adjust')
    await eventually(() => news(page), `${user}: adjustment counted (+7 points).`)
    assert.equal(await app.score(user), 9)
    await eventually(async () => (await rowOf(page, 'Standings', 'Day'))[1], '9')
    await button(page, 'Undo the adjustment of +7 points').click()
    await answer(page, { Reason: 'By mistake' }, 'Undo')
    await eventually(() => news(page), 'adjustment undone (−7 points).')
    assert.equal(await app.score(user), 2)
    await eventually(() => button(page, 'Undo the adjustment of +7 points').count(), 0)
    const { entries } = await app.request('GET', '/v1/moderation?limit=2')
    assert.deepEqual(
      entries.map(({ action, reason }) => [action, reason]),
      [
        ['undo-adjust', 'By mistake'],
        ['adjust', 'A prize'],
      ],
    )
  })

  it('adjustment of an earlier day changes its boards', async (t) => {
    await app.count([{ user, action: 'like', target: 'a' }])
    const page = await openAdmin(t, app, `#member/${user}`)
    const date = day(-1).slice(0, 10)
    await button(page, 'Adjust points').click()
    await answer(page, { Points: '4', Reason: 'A prize', Day: date }, 'Adjust')
    await eventually(() => news(page), `${user}: adjustment counted (+4 points).`)
    assert.equal((await app.request('GET', `/v1/ranking/day/users/${user}?date=${date}`)).score, 4)
    assert.equal((await app.request('GET', `/v1/ranking/day/users/${user}`)).score, 2)
  })

  it('refused request shows detail and pointer', async (t) => {
    const page = await openAdmin(t, app, `#member/${user}`)
    await button(page, 'Adjust points').click()
    await answer(page, { Points: '1.5', Reason: 'Half' }, 'Adjust')
    const dialog = page.getByRole('dialog')
    await eventually(async () => /points: .+ \(400\)/.test(await dialog.getByRole('alert').innerText()), true)
    assert.equal(await dialog.getByLabel('Points').getAttribute('aria-invalid'), 'true')
    assert.equal(await page.evaluate('document.activeElement.name'), 'points')
    await page.keyboard.press('Escape')
    assert.equal(await dialog.count(), 0)
    assert.equal(await app.score(user), 0)
  })

  it('erasure needs the typed id', async (t) => {
    await app.count([{ user, action: 'like', target: 'a' }])
    const page = await openAdmin(t, app, `#member/${user}`)
    await button(page, 'Erase').click()
    await answer(page, { [`Type ${user} to confirm`]: 'someone' }, 'Erase')
    assert.equal(await app.score(user), 2)
    await answer(page, { [`Type ${user} to confirm`]: user }, 'Erase')
    await eventually(() => news(page), `${user}: Erased.`)
    assert.equal(new URL(page.url()).hash, '#members')
    assert.equal(await app.score(user), 0)
  })

  it('achievement is awarded and withdrawn', async (t) => {
    await app.count([{ user, action: 'like', target: 'a' }])
    const page = await openAdmin(t, app, `#member/${user}`)
    const badges = () => card(page, 'Achievements').locator('.badge').allInnerTexts()
    await button(page, 'Award: Helper').click()
    await page.getByRole('dialog').getByLabel('Step').selectOption('10')
    await answer(page, { Reason: 'Helped' }, 'Award')
    await eventually(() => news(page), 'Helper: Awarded.')
    await eventually(badges, ['1', '10, awarded'])
    await button(page, 'Withdraw: Helper').click()
    await page.getByRole('dialog').getByLabel('Step').selectOption('1')
    await answer(page, { Reason: 'A mistake' }, 'Withdraw')
    await eventually(() => news(page), 'Helper: Withdrawn.')
    await eventually(badges, [])
    const entries = card(page, 'Audit log').getByRole('listitem')
    await eventually(
      async () => (await entries.allInnerTexts()).map((text) => text.split('\n')[0]),
      ['Withdrawn A mistake', 'Awarded Helped'],
    )
  })

  it('account is joined and detached', async (t) => {
    await app.count([{ user, action: 'like', target: 'a' }])
    const account = `${user}-blog`
    await app.count([{ user: account, action: 'comment', target: 'c' }])
    const page = await openAdmin(t, app, `#member/${user}`)
    await button(page, 'Join an account').click()
    await answer(page, { 'User ID of the account': 'a b' }, 'Compare')
    await page.locator('dialog .problem, dialog [aria-invalid]').first().waitFor()
    await answer(page, { 'User ID of the account': user }, 'Compare')
    await answer(page, {}, 'Join an account')
    await page.getByText('must be another user than the account').waitFor()
    await page.keyboard.press('Escape')
    await button(page, 'Join an account').click()
    await answer(page, { 'User ID of the account': account }, 'Compare')
    const compared = page.getByRole('dialog').locator('table tr')
    await compared.nth(1).waitFor()
    assert.deepEqual(await compared.first().locator('th').allInnerTexts(), [
      'Board',
      account,
      user,
      'At most, after a recount',
    ])
    assert.match(
      (await compared.nth(1).innerText()).replace(/\s+/g, ' '),
      /^All time 3, rank \d+ 2, rank \d+ 5, rank \d+$/,
    )
    await answer(page, {}, 'Join an account')
    await eventually(() => news(page), `${account}: An account of ${user} now.`)
    await app.count([{ user: account, action: 'like', target: 'b' }])
    assert.equal(await app.score(user), 4)
    await page.locator('.facts').getByRole('link', { name: account }).click()
    await page.getByText(`An account of ${user}.`).waitFor()
    await button(page, `Detach: ${account}`).click()
    await answer(page, {}, 'Detach')
    await eventually(() => news(page), `${account}: Detached.`)
    await app.count([{ user: account, action: 'like', target: 'c' }])
    assert.equal(await app.score(user), 4)
    await go(page, '#audit')
    await page.getByRole('listitem').filter({ hasText: 'Detached' }).first().waitFor()
  })

  it('keyboard alone hides and shows', async (t) => {
    const page = await openAdmin(t, app, '#members', { key: null })
    await page.keyboard.insertText(app.serviceKey)
    await page.keyboard.press('Enter')
    await page.locator('#view h1').waitFor()
    const tabTo = async (id) => {
      for (let presses = 0; presses < 40; presses++) {
        await page.keyboard.press('Tab')
        if ((await page.evaluate('document.activeElement.id')) === id) return
      }
      assert.fail(`Tab does not reach ${id}`)
    }
    await tabTo('search')
    await page.keyboard.insertText(user)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: user, level: 1 }).waitFor()
    for (const isHidden of [true, false]) {
      if (isHidden) await tabTo('set-hidden')
      // After an answer the focus is where it was.
      await eventually(() => page.evaluate('document.activeElement.id'), 'set-hidden')
      await page.keyboard.press('Enter')
      await eventually(() => page.evaluate('document.activeElement.name'), 'reason')
      await page.keyboard.insertText('Review')
      await page.keyboard.press('Enter')
      await eventually(async () => (await app.request('GET', `/v1/users/${user}/moderation`)).hidden, isHidden)
      await eventually(() => button(page, isHidden ? 'Show' : 'Hide').count(), 1)
    }
  })
})

describe('targets', () => {
  it('target is hidden, shown and deleted', async (t) => {
    const id = `post of/${user}`
    await app.request('PUT', '/v1/targets', [{ id, title: `By ${user}` }])
    await app.count([{ user, action: 'like', target: id }])
    // The search reads the boards once.
    const standing = () => app.request('GET', `/v1/content/all/targets/${encodeURIComponent(id)}`)
    await eventually(async () => (await standing()).score, 2)
    const page = await openAdmin(t, app, '#targets')
    await page.getByLabel('Search targets').fill(`by ${user}`)
    await page.getByRole('link', { name: new RegExp(`^By ${user}`) }).click()
    await page.getByRole('heading', { name: `By ${user}`, level: 1 }).waitFor()
    assert.deepEqual((await rowOf(page, 'Standings', 'All time'))[1], '2')
    await button(page, 'Hide').click()
    await answer(page, { Reason: 'Under review' }, 'Hide')
    await eventually(() => page.locator('.facts .badge').allInnerTexts(), ['Hidden'])
    const path = `/v1/targets/${encodeURIComponent(id)}`
    assert.equal((await app.request('GET', `${path}/moderation`)).hidden, true)
    await button(page, 'Show').click()
    await answer(page, { Reason: 'Fine' }, 'Show')
    await eventually(() => page.locator('.facts .badge').allInnerTexts(), ['Visible'])
    const audit = card(page, 'Audit log').locator('.line')
    assert.deepEqual(await audit.allInnerTexts(), ['Shown Fine', 'Hidden Under review'])
    await button(page, 'Delete').click()
    await answer(page, { [`Type ${id} to confirm`]: id }, 'Delete')
    await eventually(() => news(page), `${id}: Deleted.`)
    assert.equal((await fetch(app.url + path)).status, 404)
  })
})

describe('jump', () => {
  /** Opens the dialog by keyboard, and returns its field and its options. */
  async function openJump(page) {
    await page.keyboard.press('Control+k')
    const dialog = page.getByRole('dialog', { name: 'Go to' })
    return { field: dialog.getByRole('combobox'), options: dialog.getByRole('option') }
  }

  it('keyboard and button open the dialog', async (t) => {
    const page = await openAdmin(t, app, '#audit')
    for (const [query, presses, title, text] of [
      ['health', [], 'Health', 'Health\nSection'],
      ['kim', [], 'Kim', 'Kim (kim)\nMember'],
      ['first p', ['ArrowUp', 'ArrowDown'], 'First post', 'First post (post-1)\nTarget'],
      ['some-id', ['ArrowDown', 'ArrowUp'], 'some-id', 'Open the member with the ID some-id\nMember'],
    ]) {
      const { field, options } = await openJump(page)
      await field.fill(query)
      await eventually(() => options.first().innerText(), text)
      for (const key of presses) await page.keyboard.press(key)
      assert.equal(await options.and(page.locator('[aria-selected=true]')).innerText(), text)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
      assert.equal(await page.getByRole('dialog').count(), 0)
    }
    await button(page, 'Go to').click()
    assert.deepEqual(await violations(page), [])
    await page.keyboard.press('Escape')
    assert.equal(await page.evaluate('document.activeElement.id'), 'jump')
    assert.deepEqual(page.errors, [])
  })
})

describe('audit log', () => {
  it('filters select entries', async (t) => {
    const put = (hidden, reason) =>
      app.request('PUT', `/v1/users/${user}/moderation`, { hidden, frozen: false, reason })
    await put(true, 'Spam links')
    await put(false, 'Removed them')
    const page = await openAdmin(t, app, '#audit')
    const lines = () => page.locator('.feed .line').allInnerTexts()
    await page.getByLabel('Member or target').fill(user)
    await eventually(lines, [`Shown ${user}`, `Hidden ${user}`])
    await page.getByLabel('Action').selectOption('Hidden')
    await eventually(lines, [`Hidden ${user}`])
    await page.getByLabel('Reason').fill('REMOVED')
    await eventually(lines, [])
    await page.getByLabel('Action').selectOption('All actions')
    await eventually(lines, [`Shown ${user}`])
    await page.getByRole('link', { name: user }).click()
    await page.getByRole('heading', { name: user, level: 1 }).waitFor()
  })

  it('entry shows the name of the key', async (t) => {
    const body = { hidden: true, frozen: false, reason: 'Spam' }
    await app.request('PUT', `/v1/users/${user}/moderation`, body, 'anna-key')
    const page = await openAdmin(t, app, '#audit')
    await page.getByLabel('Member or target').fill(user)
    const facts = () => page.locator('.feed .more').allInnerTexts()
    await eventually(async () => (await facts()).map((text) => text.includes(' · by anna · Spam')), [true])
  })

  it('published rules link their version', async (t) => {
    const body = { rules: { like: { points: 3 } }, reason: 'Likes were too cheap' }
    const { version } = await app.request('POST', '/v1/rules', body)
    await app.request('DELETE', `/v1/rules/${version}?reason=They+are+worth+it`)
    const page = await openAdmin(t, app, '#audit')
    const lines = () => page.locator('.feed .line').allInnerTexts()
    await page.getByLabel('Reason').fill('Likes were too cheap')
    await eventually(lines, [`Rules published Version ${version}`])
    await page.getByLabel('Reason').fill('They are worth it')
    await eventually(lines, [`Rules taken back Version ${version}`])
    await page.getByRole('link', { name: `Version ${version}` }).click()
    await page.getByRole('heading', { name: 'Rules', level: 1 }).waitFor()
  })

  it('older entries follow on request', async (t) => {
    const put = (frozen) =>
      app.request('PUT', `/v1/users/${user}/moderation`, { hidden: false, frozen, reason: 'Test' })
    for (let n = 0; n < 51; n++) await put(n % 2 === 0)
    const page = await openAdmin(t, app, '#audit')
    await page.getByLabel('Member or target').fill(user)
    const rows = () => page.locator('.feed li').count()
    assert.equal(await rows(), 50)
    await button(page, 'Load more').click()
    await eventually(rows, 51)
  })
})

describe('numbers', () => {
  it('each chart has a table, and the hash its range', async (t) => {
    const { days } = await app.request('GET', '/v1/stats')
    const page = await openAdmin(t, app, '#numbers')
    for (const title of ['Active members', 'Points by action', 'New members']) {
      await page
        .getByRole('img', { name: `Chart: ${title}.` })
        .locator('canvas')
        .waitFor()
      await page.getByText(`${title} as a table`).press('Enter')
      assert.equal(await card(page, title).locator('tbody tr').count(), 30)
    }
    const numbers = (title) => card(page, title).locator('tbody td').allInnerTexts()
    assert.deepEqual(
      await numbers('Active members'),
      days.map(({ active }) => String(active)),
    )
    assert.deepEqual(
      await numbers('New members'),
      days.map((day) => String(day.new)),
    )
    const [points] = await card(page, 'Points by action').locator('tbody tr').allInnerTexts()
    const sum = points.split('\t').slice(1).map(Number)
    assert.equal(
      sum.reduce((total, value) => total + value, 0),
      days[0].points,
    )
    for (const range of [7, 90]) {
      await page.getByRole('link', { name: `${range} days` }).click()
      await eventually(() => card(page, 'Active members').locator('tbody tr').count(), range)
      assert.equal(new URL(page.url()).hash, `#numbers/${range}`)
    }
  })

  it('only whole days are compared and drawn whole', async (t) => {
    const date = (ago) => day(-ago).slice(0, 10)
    const stats = Array.from({ length: 15 }, (_, ago) => ({
      date: date(ago),
      ...{ active: ago > 7 ? 4 : 3, activities: 0, points: 0, new: 0, actions: {} },
    }))
    const before = (page) =>
      page.route('**/v1/stats?*', (route) => route.fulfill({ json: { timezone: 'UTC', days: stats, as_of: null } }))
    const page = await openAdmin(t, app, '#numbers/7', { before, colorScheme: 'light' })
    const tile = await page.locator('.tiles > div').first().innerText()
    assert.match(tile, /^Active members a day\s+3\s+−25% vs\. the period before$/)
    await page.getByText('Active members as a table').press('Enter')
    const [today] = await card(page, 'Active members').locator('tbody th').allInnerTexts()
    assert.match(today, / \(so far\)$/)
    const canvas = card(page, 'Active members').locator('canvas')
    await canvas.waitFor()
    // The line is level. The one to today has gaps.
    const lengths = await canvas.evaluate((canvas) => {
      const { width, height } = canvas
      const { data } = canvas.getContext('2d').getImageData(0, 0, width, height)
      const rows = Array.from({ length: height }, (_, y) => {
        const pixels = Array.from({ length: width }, (_, x) =>
          data.subarray(4 * (y * width + x), 4 * (y * width + x) + 3).join(),
        )
        return pixels.map((pixel) => (pixel === '0,121,107' ? '#' : ' ')).join('')
      })
      const [line] = rows.sort((a, b) => b.replaceAll(' ', '').length - a.replaceAll(' ', '').length)
      return line
        .trim()
        .split(/ +/)
        .map(({ length }) => length)
    })
    assert.ok(lengths[0] > 100 && lengths.length > 5 && Math.max(...lengths.slice(1)) < 10, lengths.join())
  })

  it('chart is readable in forced colours', async (t) => {
    const page = await openAdmin(t, app, '#numbers/7', { forcedColors: 'active', colorScheme: 'dark' })
    const canvas = card(page, 'Points by action').locator('canvas')
    await canvas.waitFor()
    /** Returns the number of colours of large areas. */
    const colors = () =>
      canvas.evaluate((canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
        const counts = {}
        for (let at = 0; at < data.length; at += 4) {
          const pixel = data.slice(at, at + 4).join()
          counts[pixel] = (counts[pixel] ?? 0) + 1
        }
        return Object.values(counts).filter((count) => count > 200).length
      })
    // The background, text and lines, and two actions.
    await eventually(async () => (await colors()) >= 4, true)
    const area = card(page, 'Active members').locator('canvas')
    const isSolid = await area.evaluate((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
      let solid = 0
      for (let at = 3; at < data.length; at += 4) if (data[at] === 255) solid++
      return solid > data.length / 40
    })
    assert.equal(isSolid, false)
  })

  it('colours follow the scheme', async (t) => {
    const page = await openAdmin(t, app, '#numbers', { colorScheme: 'light' })
    const pixels = () =>
      page
        .locator('.chart canvas')
        .first()
        .evaluate((canvas) => canvas.toDataURL())
    await page.locator('.chart canvas').first().waitFor()
    const light = await pixels()
    await page.emulateMedia({ colorScheme: 'dark' })
    await eventually(async () => (await pixels()) !== light, true)
  })
})

describe('health', () => {
  const status = {
    version: '1.2.3',
    store: { latency_ms: 12, circuit: 'open' },
    outbox: { entries: 3, oldest: new Date(Date.now() - 7_230_000).toISOString() },
    queue: { oldest: '2026-11-20T08:00:00Z', delivered: '2026-11-20T08:05:30Z' },
    commands: { processed: 1234, uptime_seconds: 7200 },
  }

  it('tiles show what the status says', async (t) => {
    const page = await openAdmin(t, app, '#health', { status })
    const tile = (name) => page.locator('.tiles > div', { hasText: name }).locator('dd').innerText()
    assert.equal(await tile('Store latency'), '12 ms')
    assert.match(await tile('Circuit breaker'), /^Open\s+The store does not respond$/)
    assert.match(await tile('Outbox entries'), /^3\s+Oldest: 2 hours$/)
    assert.match(await tile('Outage queue'), /^Waited 5 minutes\s+Last emptied \d+ days ago$/)
    assert.equal(await tile('Version'), '1.2.3')
    assert.match(await tile('Commands since'), /^1,234\s+Up for 2 hours, all clients of the store$/)
  })

  it('unused queue differs from one that is not bound', async (t) => {
    const page = await openAdmin(t, app, '#audit', { status: { ...status, queue: null } })
    const queue = () => page.locator('.tiles > div', { hasText: 'Outage queue' }).locator('dd').innerText()
    await go(page, '#health')
    assert.match(await queue(), /^Unused\s+Not bound$/)
    const health = await (await fetch(`${app.url}/healthz`)).json()
    health.configured.bound.push('queue')
    await page.route('**/healthz', (route) => route.fulfill({ json: health }))
    await button(page, 'Refresh').click()
    await eventually(async () => /^Unused\s+No activity has waited yet$/.test(await queue()), true)
  })

  it('commands of today are an estimate', async (t) => {
    const { days } = await app.request('GET', '/v1/stats')
    const { like, comment } = days[0].actions
    const page = await openAdmin(t, app, '#health')
    const estimate = card(page, 'Commands of today Estimate')
    const cell = (name) => estimate.getByRole('row', { name }).getByRole('cell').innerText()
    assert.equal(await cell('Like'), (22 * like.count).toLocaleString('en'))
    assert.equal(await cell('Comment'), (22 * comment.count).toLocaleString('en'))
    await estimate.getByText('Reads, duplicates and undos are not included.').waitFor()
  })

  it('unavailable store and warnings are shown', async (t) => {
    const problem = { title: 'The store is unavailable', status: 503, detail: 'The store did not respond.' }
    const body = { status: 'store-unavailable', problem, configured: null, warnings: ['The disk is full.'] }
    const page = await openAdmin(t, app, '#audit')
    await page.route('**/healthz', (route) => route.fulfill({ status: 503, json: body }))
    await page.route('**/v1/status', (route) => route.fulfill({ status: 503, json: problem }))
    await go(page, '#health')
    assert.equal(await page.locator('.state').innerText(), 'Store unavailable The store did not respond.')
    assert.deepEqual(await page.locator('.warnings li').allInnerTexts(), ['The disk is full.'])
    assert.equal(await page.getByRole('alert').last().innerText(), 'The store did not respond. (503)')
  })
})

describe('events', () => {
  it('event is defined, changed and deleted', async (t) => {
    const page = await openAdmin(t, app, '#events')
    const item = () => page.getByRole('listitem').filter({ hasText: user })
    await button(page, 'New event').click()
    const dialog = page.getByRole('dialog')
    for (const action of ['Add an action', 'Add an action', 'Add a prize', 'Add a prize', 'Add a prize']) {
      await button(dialog, action).click()
    }
    await button(dialog, 'Remove Prizes 2').click()
    const values = {
      Title: 'Hackathon',
      From: '2099-01-02T08:00',
      To: '2099-01-04T00:00',
      'What counts 1: Action': 'comment',
      'What counts 1: Points': '5',
      'What counts 2: Action': 'publish',
      'What counts 2: Points': '20',
      'Prizes 1: Ranks': '1',
      'Prizes 1: Title': 'A book',
      'Prizes 2: Ranks': '2-10',
      'Prizes 2: Title': 'A sticker',
      Groups: 'eu, us',
      ID: user,
    }
    await answer(page, values, 'Save')
    await eventually(() => news(page), 'Hackathon: saved (coming).')
    const read = async () => {
      const { final_at, ...stored } = await app.request('GET', `/v1/events/${user}`)
      return stored
    }
    const stored = {
      id: user,
      state: 'coming',
      title: 'Hackathon',
      from: '2099-01-02T08:00:00Z',
      to: '2099-01-04T00:00:00Z',
      actions: { comment: 5, publish: 20 },
      groups: ['eu', 'us'],
      prizes: [
        { ranks: '1', title: 'A book' },
        { ranks: '2-10', title: 'A sticker' },
      ],
    }
    assert.deepEqual(await read(), stored)
    await button(item(), `Change: ${user}`).click()
    await answer(page, { Title: 'Game jam' }, 'Save')
    await eventually(() => news(page), 'Game jam: saved (coming).')
    assert.deepEqual(await read(), { ...stored, title: 'Game jam' })
    await button(item(), `Delete: ${user}`).click()
    await answer(page, { [`Type ${user} to confirm`]: user }, 'Delete')
    await eventually(() => news(page), 'Game jam: deleted.')
    assert.equal(await item().count(), 0)
  })

  it('id follows the title until it is edited', async (t) => {
    const page = await openAdmin(t, app, '#events')
    await button(page, 'New event').click()
    const dialog = page.getByRole('dialog')
    const labels = await dialog.locator('label, legend').allInnerTexts()
    assert.deepEqual(labels, ['Title', 'From', 'To', 'What counts', 'Prizes', 'Groups', 'Website (https)', 'ID'])
    const [title, id] = ['Title', 'ID'].map((label) => dialog.getByLabel(label, { exact: true }))
    const problem = () => id.evaluate((input) => input.validationMessage)
    await title.fill('Übung: 2. Runde!')
    assert.equal(await id.inputValue(), 'ubung-2-runde')
    await title.fill('编程马拉松')
    await dialog.getByLabel('From').fill('2099-01-02T08:00')
    assert.equal(await id.inputValue(), 'event-2099-01-02')
    await title.fill('Quiz')
    assert.equal(await problem(), 'There is an event with this ID.')
    await id.fill('a b')
    assert.equal(await problem(), 'Use letters from A to Z, digits and _ . : @ | - only.')
    await id.fill('quiz-2')
    await title.fill('Another quiz')
    assert.deepEqual([await id.inputValue(), await problem()], ['quiz-2', ''])
  })

  it('refused prize is marked', async (t) => {
    const page = await openAdmin(t, app, '#events')
    await button(page, 'New event').click()
    const dialog = page.getByRole('dialog')
    for (let prize = 0; prize < 2; prize++) await button(dialog, 'Add a prize').click()
    const values = { Title: user, From: '2099-01-02T08:00', To: '2099-01-04T00:00' }
    await answer(page, { ...values, 'Prizes 2: Ranks': 'first', 'Prizes 2: Title': 'A book' }, 'Save')
    await dialog.getByRole('alert').waitFor()
    assert.equal(await page.evaluate('document.activeElement.ariaLabel'), 'Prizes 2: Ranks')
  })

  it('recount checks a definition and shows its commands', async (t) => {
    const page = await openAdmin(t, app, '#events')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await button(page, 'Recount: quiz').click()
    await answer(page, { From: '2026-01-01T00:00', To: '2025-01-01T00:00' }, 'Check')
    const form = page.getByRole('dialog', { name: 'Recount: Quiz' })
    await form.getByText('must be after from').waitFor()
    await answer(page, { To: '2026-01-02T00:00' }, 'Check')
    const dialog = page.getByRole('dialog', { name: 'Recount Quiz', exact: true })
    const commands = await dialog.locator('pre').innerText()
    const [, definition] = commands.split('\n')
    assert.deepEqual(JSON.parse(definition), {
      ...{ title: 'Quiz', from: new Date('2026-01-01T00:00').toISOString() },
      to: new Date('2026-01-02T00:00').toISOString(),
    })
    assert.equal(
      commands,
      `cat > event.json <<'END'\n${definition}\nEND\n` +
        "activity-rank recount --event='quiz' --definition event.json --dry-run",
    )
    await button(dialog, 'Copy').click()
    await eventually(() => news(page), 'Quiz: commands copied.')
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), commands)
  })
})

describe('webhooks', () => {
  const delivery = {
    ...{ id: 'msg_1', type: 'period.closed', endpoint: 'example.com', state: 'failed', attempts: 9, status: 503 },
    ...{ error: null, at: '2026-11-23T00:00:00Z', attempted: '2026-11-23T03:00:04Z', due: null },
  }

  it('only failed deliveries are retried', async (t) => {
    let stored = ['failed', 'pending', 'delivered', 'dropped'].map((state) => ({
      ...delivery,
      id: `msg_${state}`,
      state,
    }))
    const urls = []
    const before = async (page) => {
      await page.route('**/v1/webhooks/deliveries?*', (route) => {
        urls.push(new URL(route.request().url()).search)
        return route.fulfill({ json: { deliveries: stored, next: null } })
      })
      await page.route('**/v1/webhooks/deliveries/msg_failed/retry', (route) => {
        stored = [{ ...stored[0], state: 'pending', attempts: 0 }]
        return route.fulfill({ json: stored[0] })
      })
    }
    const page = await openAdmin(t, app, '#webhooks/failed', { before })
    assert.equal(urls.at(-1), '?limit=30&state=failed')
    assert.equal(await page.locator('.feed .line').first().innerText(), 'Failed period.closed example.com')
    const retried = page.locator('.feed li').filter({ has: page.getByRole('button') })
    assert.deepEqual(await retried.locator('.badge').allInnerTexts(), ['Failed'])
    await page.getByRole('button', { name: 'Retry: period.closed, example.com' }).click()
    await eventually(() => news(page), 'period.closed: Pending')
    await eventually(() => page.locator('.feed .badge').innerText(), 'Pending')
  })

  it('missing webhooks are explained, outages retried', async (t) => {
    const page = await openAdmin(t, app, '#webhooks')
    await page.getByText('This deployment has no webhooks.').waitFor()
    const problem = { title: 'The store is unavailable', status: 503 }
    await page.route('**/v1/events', (route) => route.fulfill({ status: 503, json: problem }))
    await go(page, '#events')
    await page.unroute('**/v1/events')
    await button(page, 'Retry').click()
    await button(page, 'New event').waitFor()
  })
})

describe('cases', () => {
  const badges = (page) => page.locator('.facts .badge').allInnerTexts()

  it('case is dismissed and opened again', async (t) => {
    const id = await ringCase()
    const page = await openAdmin(t, app, '#cases')
    await page.getByRole('link', { name: 'Ring: Ann, ben, cleo' }).click()
    await page.getByRole('heading', { name: 'Ring, 3 members', level: 1 }).waitFor()
    await page.getByRole('img', { name: 'Graph of 3 members and 6 pairs.' }).waitFor()
    assert.equal(await page.locator('.graph [marker-end]').count(), 6)
    const members = card(page, 'Members').getByRole('listitem')
    assert.deepEqual((await members.allInnerTexts()).sort(), ['Ann ann', 'ben', 'cleo'])
    assert.equal(await card(page, 'Pairs').locator('tbody tr').count(), 6)
    const pair = card(page, 'Pairs').getByRole('row', { name: 'Ann ben' })
    const [receiver, gifts, expected, given] = await pair.getByRole('cell').allInnerTexts()
    assert.deepEqual([receiver, gifts, given], ['ben', '6', '50%'])
    assert.ok(Number(expected) < 3)
    const latest = card(page, 'Latest gifts').getByRole('listitem')
    assert.equal(await latest.count(), 20)
    assert.match(await latest.first().locator('.line').innerText(), /^Like (ann|ben|cleo)-\d$/)

    await button(page, 'Dismiss').click()
    await answer(page, { Reason: 'A team of one company' }, 'Dismiss')
    await eventually(() => news(page), 'Ring, 3 members: Dismissed')
    await eventually(() => badges(page), ['Dismissed'])
    await page.locator('.facts').getByText('A team of one company').waitFor()
    assert.equal((await app.request('GET', `/v1/cases/${id}`)).state, 'dismissed')
    await go(page, '#cases')
    await page.getByText('No cases.').waitFor()
    await page.getByRole('link', { name: 'Dismissed' }).click()
    await page.getByRole('link', { name: 'Ring: Ann, ben, cleo' }).click()

    await button(page, 'Open again').click()
    await answer(page, { Reason: 'They are no team' }, 'Open again')
    await eventually(() => badges(page), ['Open'])
    assert.equal((await app.request('GET', `/v1/cases/${id}`)).state, 'open')
    await card(page, 'Members').getByRole('link', { name: 'Ann' }).click()
    await button(page, 'Freeze').waitFor()
    assert.deepEqual(page.errors, [])
  })

  it('exclusion names its span and changed boards', async (t) => {
    const id = await ringCase()
    let found = await app.request('GET', `/v1/cases/${id}`)
    const bodies = []
    const before = (page) =>
      page.route(`**/v1/cases/${id}`, async (route) => {
        if (route.request().method() === 'PUT') {
          const { state, ...decision } = route.request().postDataJSON()
          bodies.push({ state, ...decision })
          const past = { actor: { key: 'anna' }, at: day(0), past: 'pending' }
          const user = { id: 'ann', name: 'Ann' }
          const change = { board: 'week', kind: 'authors', user, score: [24, 0], rank: [1, null] }
          found = { ...found, state, decision: { from: null, until: null, ...decision, ...past }, losses: [change] }
        }
        await route.fulfill({ json: found })
      })
    // The deployment is in UTC.
    const page = await openAdmin(t, app, `#case/${id}`, { before, timezoneId: 'Asia/Tokyo' })
    await button(page, 'Exclude').click()
    const dialog = page.getByRole('dialog', { name: 'Exclude: Ring, 3 members' })
    assert.equal(await dialog.getByLabel('From').inputValue(), `${found.pairs[0].first}T00:00`)
    await dialog.getByText('Time zone: UTC.').waitFor()
    await dialog.getByLabel('The reason is for').selectOption('Moderators and the member')
    await answer(page, { From: '2026-11-01T08:00', Until: '2026-12-01T00:00', Reason: 'They agreed' }, 'Exclude')
    await eventually(() => badges(page), ['Excluded'])
    const span = { from: '2026-11-01T08:00:00.000Z', until: '2026-12-01T00:00:00.000Z' }
    assert.deepEqual(bodies, [{ state: 'excluded', reason: 'They agreed', public_reason: true, ...span }])
    await page.getByText('Nov 1, 2026, 8:00 AM UTC – Dec 1, 2026, 12:00 AM UTC').waitFor()
    await page.locator('.facts').getByText('Moderators and the member').waitFor()
    await page.getByText('activity-rank recount --accounts').waitFor()
    assert.deepEqual(await rowOf(page, 'Changes of boards', 'Ann'), ['Week, authors', '24 → 0', '1 → –'])
    await button(page, 'Open again').click()
    await answer(page, { Reason: 'By mistake' }, 'Open again')
    await eventually(() => badges(page), ['Open'])
    assert.deepEqual(bodies[1], { state: 'open', reason: 'By mistake' })
  })

  it('case by hand opens, or excludes within a span', async (t) => {
    const page = await openAdmin(t, app, '#cases')
    await button(page, 'Open a case').click()
    const dialog = page.getByRole('dialog', { name: 'Open a case' })
    await answer(page, { Members: 'hugo', Reason: 'Said by three members' }, 'Open a case')
    await dialog.getByRole('alert').getByText('must be an array of 2 to 50 different users').waitFor()
    assert.equal(await dialog.getByLabel('Members').getAttribute('aria-invalid'), 'true')
    await answer(page, { Members: 'hugo, ida\njo' }, 'Open a case')
    await page.getByRole('heading', { name: 'By a moderator, 3 members', level: 1 }).waitFor()
    assert.deepEqual(await badges(page), ['Open'])
    await page.locator('.facts').getByText('Said by three members').waitFor()
    const members = card(page, 'Members').getByRole('listitem')
    assert.deepEqual((await members.allInnerTexts()).sort(), ['hugo', 'ida', 'jo'])

    await go(page, '#cases')
    await button(page, 'Open a case').click()
    await dialog.getByText('Exclude at once').click()
    await dialog.getByText('Time zone: UTC.').waitFor()
    const until = { Members: 'kai lou', Reason: 'They agreed', Until: '2026-12-01T00:00' }
    await answer(page, until, 'Open a case')
    await dialog.getByRole('alert').getByText('must be an RFC 3339 date').waitFor()
    await answer(page, { From: '2026-11-01T08:00' }, 'Open a case')
    await page.getByRole('heading', { name: 'By a moderator, 2 members', level: 1 }).waitFor()
    assert.deepEqual(await badges(page), ['Excluded'])
    await page.getByText('Nov 1, 2026, 8:00 AM UTC – Dec 1, 2026, 12:00 AM UTC').waitFor()
    assert.deepEqual(page.errors, [])
  })

  it('search continues until the journal is read', async (t) => {
    const answers = [
      { complete: false, opened: 1, updated: 0, cut: ['ring'] },
      { complete: true, opened: 0, updated: 2, cut: [] },
    ]
    const page = await openAdmin(t, app, '#cases')
    await page.route(`**${SEARCH_PATH}`, (route) => route.fulfill({ json: answers.shift() }))
    await button(page, 'Search now').click()
    const expected =
      'Cases opened: 1. Found again: 2. There were more pairs than one search reads: it has read the largest ones.'
    await eventually(() => news(page), expected)
    await page.unroute(`**${SEARCH_PATH}`)
    await button(page, 'Search now').click()
    await eventually(async () => (await news(page)).startsWith('Cases opened: 0.'), true)
  })

  it('deployment without fair play is explained', async (t) => {
    const problem = { title: 'Not found', status: 404 }
    const before = (page) => page.route('**/v1/cases?*', (route) => route.fulfill({ status: 404, json: problem }))
    const page = await openAdmin(t, app, '#cases', { before })
    await page.getByText('Set FAIR_PLAY').waitFor()
    assert.equal(await button(page, 'Search now').count(), 0)
    await go(page, '#overview')
    assert.equal(await page.getByRole('heading', { name: 'Fairness' }).count(), 0)
  })
})

describe('rules', () => {
  const group = (page, action) => page.getByRole('dialog').getByRole('group', { name: action, exact: true })

  /** Opens the form of a version, and the fields of an action by keyboard. */
  async function openForm(page, action) {
    await button(page, 'Publish rules').click()
    await page.getByRole('dialog').locator('summary', { hasText: action }).focus()
    await page.keyboard.press('Enter')
    return group(page, action)
  }

  it('rules are published and taken back', async (t) => {
    const page = await openAdmin(t, app, '#rules', { timezoneId: 'Asia/Tokyo' })
    assert.equal((await rowOf(page, 'Rules in force', 'Like'))[0], '2')
    const fields = await openForm(page, 'Like')
    await fields.getByLabel('Points').fill('3')
    await fields.getByLabel('Most a day by members: Remove the limit').check()
    const date = day(30).slice(0, 10)
    await page.getByRole('dialog').getByLabel('The reason is for').selectOption('Everyone')
    await answer(page, { From: `${date}T08:00`, Reason: user }, 'Review changes')
    const confirmation = page.getByRole('dialog', { name: 'Publish these changes?' })
    const changes = ['Like, points: 2 → 3', 'Like, most a day by members: 100 → none']
    assert.deepEqual(await confirmation.getByRole('listitem').allInnerTexts(), changes)
    await button(confirmation, 'Cancel').click()
    await button(page.getByRole('dialog'), 'Review changes').click()
    await button(confirmation, 'Publish rules').click()
    const version = page.locator('.feed li', { hasText: user })
    await version.getByText('8:00 AM UTC').waitFor()
    assert.match(await news(page), /^Version \d+: published, from .*, 8:00 AM UTC\.$/)
    assert.equal(await version.locator('.more > div').innerText(), changes.join(' · '))
    assert.deepEqual(await version.locator('.badge').allInnerTexts(), ['Coming', 'Public reason'])
    const [stored] = (await app.request('GET', '/v1/rules')).versions
    assert.deepEqual([stored.from, stored.public_reason], [`${date}T08:00:00Z`, true])

    await version.getByRole('button').click()
    await answer(page, { Reason: 'A mistake' }, 'Take back')
    await eventually(() => news(page), `Version ${stored.version}: removed.`)
    await eventually(() => version.locator('.badge').first().innerText(), 'Removed')
    assert.deepEqual(page.errors, [])
  })

  it('refused fields are marked and explained', async (t) => {
    const page = await openAdmin(t, app, '#rules')
    await button(page, 'Publish rules').click()
    await answer(page, { Reason: 'Nothing' }, 'Review changes')
    await page.getByText('Change at least one field of an action.').waitFor()
    const refused = { Like: 'Points', Comment: 'Cooldown (seconds)' }
    for (const [action, field] of Object.entries(refused)) {
      const summary = page.getByRole('dialog').locator('summary', { hasText: action })
      await summary.click()
      await group(page, action).getByLabel(field, { exact: true }).fill('0.5')
      await summary.click()
    }
    await button(page.getByRole('dialog'), 'Review changes').click()
    await button(page.getByRole('dialog', { name: 'Publish these changes?' }), 'Publish rules').click()
    await group(page, 'Like').getByText('is finer than POINT_DECIMALS = 0 allows').waitFor()
    await group(page, 'Comment').getByText('must be whole seconds').waitFor()
    assert.equal(await page.evaluate('document.activeElement.name'), 'comment/cooldown')
  })

  it('preview is started, followed and cancelled', async (t) => {
    const page = await openAdmin(t, app, '#rules')
    await button(page, 'Preview rules').click()
    const dialog = page.getByRole('dialog', { name: 'Preview rules' })
    await dialog.locator('summary', { hasText: 'Like' }).click()
    await group(page, 'Like').getByLabel('Points').fill('5')
    await button(dialog, 'Check the cost').click()
    const confirmation = page.getByRole('dialog', { name: 'Start this preview?' })
    await confirmation
      .getByText(/^It reads up to \d+ entries of the journal, takes up to [\d,]+ Redis commands/)
      .waitFor()
    assert.deepEqual(await confirmation.getByRole('listitem').allInnerTexts(), ['Like, points: 2 → 5'])
    assert.equal((await app.request('GET', '/v1/rules/preview')).preview, null)
    await button(confirmation, 'Start').click()
    await eventually(() => news(page), 'Preview started.')
    const preview = card(page, 'Preview rules')
    await preview.getByText('Running').waitFor()
    await preview.getByRole('progressbar', { name: 'Progress of the preview' }).waitFor()
    await button(preview, 'Cancel').click()
    await preview.getByText('Cancelled').waitFor()
    assert.equal((await app.request('GET', '/v1/rules/preview')).preview.state, 'cancelled')
    assert.deepEqual(page.errors, [])
  })

  it('result of a preview is shown', async (t) => {
    const from = new Date(Date.now() - 7 * 864e5).toISOString()
    const body = { rules: { like: { points: 4 } }, from, confirm: true }
    await app.request('POST', '/v1/rules/preview', body)
    const isDone = async () => {
      await app.runCron('* * * * *')
      return (await app.request('GET', '/v1/rules/preview')).preview.state
    }
    await eventually(isDone, 'done')
    const page = await openAdmin(t, app, '#rules')
    const preview = card(page, 'Preview rules')
    await preview.getByText('Like, points: 2 → 4').waitFor()
    const points = await preview.getByRole('list', { name: 'Points by action, before and after' }).allInnerTexts()
    assert.match(points.join(), /Like\s+[\d,]+ → [\d,]+/)
    const moves = preview.getByRole('region', { name: 'Members who move' })
    const kim = await moves.getByRole('row', { name: 'kim', exact: false }).getByRole('cell').allInnerTexts()
    assert.match(kim[1], /^\d+ → \d+$/)
    await preview.getByText('Both counts begin without points').waitFor()
    assert.equal(await button(preview, 'Cancel').count(), 0)
    assert.deepEqual(page.errors, [])
  })

  it('locked rules have no form', async (t) => {
    const rules = await app.request('GET', '/v1/rules')
    const before = (page) => page.route('**/v1/rules', (route) => route.fulfill({ json: { ...rules, locked: true } }))
    const page = await openAdmin(t, app, '#rules', { before })
    await page.getByText('RULES_LOCKED is true').waitFor()
    assert.equal(await page.locator('#view button:visible').count(), 0)
  })
})

describe('page', () => {
  before(async () => VIEWS.push(`case/${await ringCase()}`))

  for (const colorScheme of SCHEMES) {
    it(`views and dialogs pass axe in ${colorScheme} mode`, async (t) => {
      // Nothing is below the header that sticks to the top.
      const viewport = { width: 1200, height: 4500 }
      const page = await openAdmin(t, app, '', { colorScheme, viewport, reducedMotion: 'reduce', key: null })
      assert.deepEqual(await violations(page), [])
      await signIn(page, app.serviceKey)
      for (const view of VIEWS) {
        await go(page, `#${view}`)
        for (const summary of await page.locator('summary').all()) await summary.click()
        // The contrast of rows that a long table scrolls is unknown.
        await page.locator('.wide').evaluateAll((tables) => {
          for (const { style } of tables) style.maxBlockSize = 'none'
        })
        assert.deepEqual(await violations(page), [], view)
      }
      await go(page, '#member/kim')
      await button(page, 'Adjust points').click()
      assert.deepEqual(await violations(page), [])
      await page.keyboard.press('Escape')
      await go(page, '#events')
      await button(page, 'New event').click()
      await button(page, 'Add a prize').click()
      assert.deepEqual(await violations(page), [])
      await page.keyboard.press('Escape')
      await go(page, '#rules')
      await button(page, 'Publish rules').click()
      await page.getByRole('dialog').locator('summary').first().click()
      assert.deepEqual(await violations(page), [])
      await page.keyboard.press('Escape')
      await go(page, '#member/no-such-member')
      assert.deepEqual(await violations(page), [])
    })
  }

  for (const width of WIDTHS) {
    it(`views fit ${width} pixels and obey the policy`, async (t) => {
      const page = await openAdmin(t, app, '', { viewport: { width, height: 800 } })
      for (const view of VIEWS) {
        await go(page, `#${view}`)
        assert.ok((await scrollWidth(page)) <= width, view)
      }
      assert.deepEqual(page.errors, [])
    })
  }

  it('layout does not shift while loading', async (t) => {
    for (const view of VIEWS) {
      const page = await openAdmin(t, app, `#${view}`)
      await page.reload()
      await page.locator('#view:not([aria-busy]) h1').waitFor()
      const shift = await layoutShift(page)
      assert.ok(shift < 0.001, `${view}: ${shift}`)
    }
  })

  it('language follows the browser or the selection', async (t) => {
    const page = await openAdmin(t, app, '#audit', { locale: 'zh-CN' })
    assert.equal(await page.locator('h1:visible').innerText(), '审计日志')
    await page.locator('#language').selectOption('en')
    await eventually(() => page.locator('h1:visible').innerText(), 'Audit log')
    await page.reload()
    await eventually(() => page.locator('h1:visible').innerText(), 'Audit log')
  })
})
