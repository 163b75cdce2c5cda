// Invented responses of a whole deployment at one instant, for the pictures of its pages.

import { mock } from 'node:test'

import { respond as respondOfGallery } from '../../web/gallery/fixtures.js'

const DAY = 864e5 // ms
/** Digests of the elements, which differ after each change of them. */
const INTEGRITY = '/elements/integrity.json'
const RULES = {
  visit: { points: 1, once: 'day', undo: false, by: 'user', daily_cap: 20, own: true },
  like: { points: 2, once: 'standing', undo: true, by: 'user', own: false },
  bookmark: { points: 2, once: 'standing', undo: true, by: 'user', own: true },
  follow: { points: 2, once: 'standing', undo: true, by: 'user', own: false },
  comment: { points: 3, once: 'standing', undo: true, by: 'user', cooldown: 30, own: true },
  publish: { points: 10, once: 'standing', undo: true, by: 'service', received: 3, own: true },
}
const TARGETS = [
  { id: 'post-7', title: 'How to write a leaderboard that people like', url: 'https://example.com/7' },
  { id: 'post-8', title: '一篇很长的标题：如何在社区里持续写作', url: 'https://example.com/8' },
  { id: 'post-9', title: 'Why is my cache never hit?' },
]

const iso = (days, hours = 0) => `${new Date(Date.now() + days * DAY + hours * 36e5).toISOString().slice(0, 19)}Z`
const dateOf = (days) => iso(days).slice(0, 10)

const health = () => ({
  status: 'ok',
  version: '0.1.0',
  configured: {
    timezone: 'UTC',
    periods: ['day', 'week', 'month', 'year', 'all'],
    content_periods: ['hot', 'week', 'all'],
    actions: Object.keys(RULES),
    rules: RULES,
    levels: ['Newcomer', 'Regular', 'Pillar', 'Legend'].map((name, index) => ({
      name,
      points: [0, 30, 200, 1000][index],
    })),
    shards: 1,
    bound: ['journal', 'archive', 'queue', 'live'],
    origins: ['https://example.com'],
    playground: true,
    public_stats: false,
  },
  warnings: ['SERVICE_KEYS: the key of scope admin is older than a year; replace it'],
})

const EVENTS = () => [
  {
    id: 'hackathon',
    state: 'running',
    title: 'Autumn hackathon',
    from: `${dateOf(-2)}T00:00:00Z`,
    to: `${dateOf(3)}T00:00:00Z`,
    final_at: `${dateOf(3)}T03:00:00Z`,
    prizes: [
      { ranks: '1', title: 'A book' },
      { ranks: '2-10', title: 'A sticker' },
    ],
  },
  {
    id: 'december',
    state: 'coming',
    title: 'December sprint',
    from: `${dateOf(7)}T00:00:00Z`,
    to: `${dateOf(14)}T00:00:00Z`,
    final_at: `${dateOf(14)}T03:00:00Z`,
  },
]

const AUDIT = () => [
  {
    id: '4-0',
    at: iso(0, -2),
    action: 'hide',
    actor: null,
    user: { id: 'li', name: '李四光' },
    reason: 'Under review',
  },
  { id: '3-0', at: iso(-1), action: 'hide', actor: null, user: null, target: TARGETS[2], reason: 'Spam' },
  {
    id: '2-0',
    at: iso(-2),
    action: 'adjust',
    actor: null,
    user: { id: 'ada', name: 'Ada Lovelace' },
    adjustment: { id: 'case-1', points: -5 },
    reason: 'Counted by an import that ran twice',
  },
  { id: '1-0', at: iso(-9), action: 'erase', actor: null, user: null, removed: { boards: 12, keys: 4, profiles: 1 } },
]

const STATS = (url) => {
  const [from, to] = ['from', 'to'].map((name) => Date.parse(url.searchParams.get(name)))
  const days = Array.from({ length: Math.round((to - from) / DAY) + 1 }, (_, index) => {
    const day = Math.round((Date.now() - to) / DAY) + index
    const busy = 60 + ((day * 37) % 41) - (day % 7 > 4 ? 30 : 0)
    const points = { visit: 1, like: 2, bookmark: 2, follow: 2, comment: 3, publish: 10 }
    const actions = Object.fromEntries(
      Object.entries(points).map(([action, worth], kind) => {
        const count = Math.max(1, Math.round(busy / (kind + 1)))
        return [action, { count, points: count * worth }]
      }),
    )
    const list = Object.values(actions)
    const sum = (name) => list.reduce((total, action) => total + action[name], 0)
    return {
      date: new Date(to - index * DAY).toISOString().slice(0, 10),
      active: busy,
      new: (day * 13) % 9,
      activities: sum('count'),
      points: sum('points'),
      actions,
    }
  })
  return { timezone: 'UTC', days, as_of: iso(0) }
}

const POINTS = () => ({
  user: { id: 'ada', name: 'Ada Lovelace' },
  source: 'journal',
  exclusions: [{ reason: 'You agreed to like each other’s posts' }],
  entries: [
    { at: iso(0, -1), type: 'activity', action: 'comment', target: TARGETS[0], points: 3, undone: false },
    { at: iso(0, -3), type: 'activity', action: 'like', target: TARGETS[1], points: 2, undone: true },
    { at: iso(-1), type: 'received', action: 'like', target: TARGETS[1], points: 3, undone: false },
    { at: iso(-2), type: 'adjustment', points: -5, undone: false },
    { at: iso(-3), type: 'activity', action: 'publish', target: TARGETS[2], points: 10, undone: false },
  ],
  refused: [
    {
      date: iso(0).slice(0, 10),
      at: iso(0, -2),
      action: 'like',
      reason: 'daily-cap',
      count: 14,
      targets: TARGETS.slice(0, 2),
    },
  ],
  next: null,
})

const PAUSES = () => [
  { from: dateOf(-90), until: dateOf(-80) },
  { from: dateOf(-2), until: dateOf(5) },
  { from: dateOf(26), until: dateOf(40) },
]

const ACHIEVEMENTS = (lang) => {
  const achievement = (id, [name, description], icon, steps, value, next) => ({
    id,
    name,
    description,
    icon,
    steps: steps.map(([step, days]) => ({ value: step, at: days === null ? null : iso(days) })),
    value,
    next,
  })
  const texts = (en, zh) => (lang === 'zh-Hans' ? zh : en)
  return [
    achievement(
      'commenter',
      texts(['Commenter', 'Comment on posts.'], ['评论者', '评论帖子。']),
      'comment',
      [
        [1, -200],
        [10, -40],
        [100, null],
      ],
      37,
      100,
    ),
    achievement('faithful', texts(['Faithful', ''], ['坚持不懈', '']), 'flame', [[7, -3]], 4, null),
    achievement(
      'appreciated',
      texts(
        ['Appreciated', 'Receive points for your posts. Comments, likes and bookmarks give some.'],
        ['受欢迎', '发布的内容获得积分。'],
      ),
      'heart',
      [[1000, null]],
      640,
      1000,
    ),
    achievement(
      'veteran',
      texts(['Veteran', 'Years since your first activity.'], ['老成员', '']),
      'calendar',
      [[1, -400]],
      1,
      null,
    ),
  ]
}

const CASE = () => ({
  id: 'case_0f3a5b7c9d1e2f40',
  kind: 'ring',
  state: 'open',
  score: 57.6,
  gifts: 72,
  days: 30,
  share: 0.8,
  members: ['ada', 'grace', 'ming'],
  found: iso(-4),
  updated: iso(-1),
  decision: null,
})

const CASES = () => ({
  cases: [
    CASE(),
    {
      ...{ id: 'case_1f3a5b7c9d1e2f40', kind: 'new-accounts', state: 'open', score: 21.25, gifts: 34, days: 90 },
      ...{ share: 0.625, members: ['johann', ...Array.from({ length: 7 }, (_, index) => `account-${index + 1}`)] },
      ...{ found: iso(-1), updated: iso(-1), decision: null },
    },
  ],
  next: null,
  search: {
    at: iso(0, -9),
    fairness: { days: 30, gifts: 1240, top_givers_share: 0.31, gini: 0.62, mutual_share: 0.08 },
  },
})

const CASE_DETAILS = () => {
  const pair = (giver, receiver, gifts, expected, share_given, share_received, burst) => ({
    ...{ giver, receiver, gifts, points: 2 * gifts, expected, share_given, share_received, burst },
    ...{ days: 9, first: dateOf(-26), last: dateOf(-1) },
  })
  const gift = (hours, action, target, giver, receiver) => ({ at: iso(-1, hours), action, target, giver, receiver })
  return {
    ...{ ...CASE(), state: 'excluded' },
    decision: {
      ...{ reason: 'They agreed to like each other’s posts', actor: { key: 'anna' }, at: iso(0, -1) },
      ...{ from: `${dateOf(-23)}T00:00:00Z`, until: null, public_reason: true, past: 'pending' },
    },
    pairs: [
      pair('ada', 'ming', 24, 2.4, 0.6, 0.75, 12),
      pair('ming', 'ada', 18, 1.9, 0.45, 0.5, 3),
      pair('grace', 'ada', 16, 1.6, 0.5, 0.44, 2),
      pair('ming', 'grace', 9, 0.9, 0.22, 0.6, 2),
      pair('ada', 'grace', 5, 0.7, 0.12, 0.33, 1),
    ],
    latest: [
      gift(-2, 'like', 'post-7', 'ada', 'ming'),
      gift(-3, 'bookmark', 'post-8', 'ada', 'ming'),
      gift(-5, 'follow', 'ada', 'grace', 'ada'),
    ],
    losses: [
      { board: 'all', kind: 'authors', user: { id: 'ming', name: '王小明' }, score: [820, 772], rank: [2, 4] },
      { board: 'week', kind: 'authors', user: { id: 'ada', name: 'Ada Lovelace' }, score: [68, 0], rank: [1, null] },
      { board: 'week', kind: 'members', user: { id: 'ada', name: 'Ada Lovelace' }, score: [228, 170], rank: [3, 5] },
    ],
  }
}

const PUBLISHED = () => {
  const change = (action, field, before, after) => ({ action, field, before, after })
  const version = (number, days, state, changes, reason) => ({
    ...{ version: number, from: `${dateOf(days)}T00:00:00Z`, state, changes, reason, public_reason: number > 1 },
    ...{ published_at: iso(days - 7), actor: { key: 'anna' } },
  })
  return {
    rules: RULES,
    locked: false,
    versions: [
      version(
        3,
        7,
        'coming',
        [change('like', 'points', 2, 3), change('like', 'daily_cap', 100, null)],
        'Likes were too cheap',
      ),
      version(2, -30, 'in-force', [change('comment', 'cooldown', null, 30)], 'Comments of one word'),
      version(1, -60, 'taken-back', [change('publish', 'received', null, 5)], 'A trial'),
    ],
  }
}

const PREVIEW = () => {
  const change = (before, after) => ({ before, after })
  const move = (id, ranks, points) => ({ id, rank: change(...ranks), points: change(...points) })
  const action = (action, points, share, received, counted) => ({
    ...{ action, points: change(...points), share: change(...share) },
    ...{ received: change(...received), counted: change(...counted) },
  })
  const limit = (action, limit, members, activities, first) => ({
    ...{ action, limit, members: change(...members), activities: change(...activities), first },
  })
  const changes = [
    { action: 'like', field: 'points', before: 2, after: 3 },
    { action: 'like', field: 'daily_cap', before: 50, after: 20 },
  ]
  const span = { from: iso(-30), to: iso(0) }
  return {
    preview: {
      ...{ state: 'done', ...span, changes, read: 18_240, entries: 18_240 },
      ...{ started_at: iso(0, -3), updated_at: iso(0, -2) },
      result: {
        ...{ from: span.from, until: span.to, activities: 17_310, changed_activities: 9120, changes },
        boards: [
          {
            ...{ board: 'members', members: 214, changed: 187, points: change(31_420, 36_005) },
            moves: [
              move('ming', [14, 5], [310, 520]),
              move('a-member-with-a-rather-long-id', [3, 9], [912, 640]),
              move('grace', [40, null], [60, 0]),
              move('ada', [1, 1], [1204, 1610]),
            ],
          },
          { board: 'authors', members: 96, changed: 0, points: change(18_200, 18_200), moves: [] },
        ],
        actions: [
          action('comment', [11_040, 11_040], [35.1, 30.7], [0, 0], [3680, 3680]),
          action('like', [14_220, 18_805], [45.3, 52.2], [14_220, 12_536], [7110, 6268]),
          action('publish', [4100, 4100], [13, 11.4], [0, 0], [410, 410]),
          action('visit', [2060, 2060], [6.6, 5.7], [0, 0], [2060, 2060]),
        ],
        limits: [
          limit('like', 'daily-cap', [3, 41], [18, 860], ['ming', 'ada', 'grace']),
          limit('comment', 'cooldown', [12, 12], [31, 31], ['ada']),
        ],
        unknown: [
          { kind: 'daily-cap', action: 'like', days: 26, points: 140 },
          { kind: 'no-rule', activities: 12 },
        ],
      },
    },
  }
}

const STATUS = () => ({
  version: '0.1.0',
  store: { latency_ms: 12, circuit: 'closed' },
  outbox: { entries: 3, oldest: iso(0, -0.02) },
  queue: { oldest: iso(0, -0.5), delivered: iso(0, -0.4) },
  commands: { processed: 1_234_567, uptime_seconds: 86_400 * 12 },
})

const SYNCS = () => [
  {
    ...{ source: 'discourse', state: 'done', detail: null, reported_at: iso(0, -7), completed_at: iso(0, -7) },
    ...{ differences: 0, mended: 12, refused: { 'own-target': 41 } },
  },
  {
    ...{ source: 'github/acme', state: 'failed', detail: 'api.github.com: 403, the token has expired' },
    ...{ reported_at: iso(0, -6), completed_at: iso(-3, -6), differences: 3, mended: 1204, refused: {} },
  },
  {
    ...{ source: 'wordpress:2', state: 'running', detail: 'Comments: page 12 of 40', reported_at: iso(0, -0.1) },
    ...{ completed_at: null, differences: null, mended: null, refused: null },
  },
]

function placesOf(user) {
  const { standings } = respondOfGallery('card', ['users', user, 'card'])
  const places = Object.entries(standings).map(([period, { id, score, rank, total }]) => [
    period,
    { id, score, rank, total, percentile: 90, next: rank > 1 ? { rank: rank - 1, score: score + 3, points: 4 } : null },
  ])
  return Object.fromEntries(places)
}

/** Returns the response to a request, or `undefined` for 404. */
function respond(url, isMember) {
  const [root, name, part] = url.pathname.slice(4).split('/').map(decodeURIComponent)
  if (url.pathname === '/healthz') return health()
  if (url.pathname === '/metrics' || root === 'webhooks') return undefined
  if (url.pathname === INTEGRITY)
    return { 'activity-rank.js': { file: '/immutable/activity-rank.0123456789ab.js', integrity: 'sha384-…' } }
  if (root === 'events' && !name) return { events: EVENTS() }
  if (root === 'moderation') return { entries: AUDIT(), next: null }
  if (root === 'cases') return name ? CASE_DETAILS() : CASES()
  if (root === 'rules' && name) return PREVIEW()
  if (root === 'rules') return isMember ? PUBLISHED() : { ...PUBLISHED(), versions: [] }
  if (root === 'stats') return STATS(url)
  if (root === 'status') return STATUS()
  if (root === 'syncs') return { syncs: SYNCS() }
  const isPast = url.searchParams.has('date')
  if (root !== 'users') return respondOfGallery('year', url.pathname.slice(4).split('/'), isPast) ?? undefined
  const user = respondOfGallery('card', ['users', name, 'card']).user
  if (name === 'nobody') return undefined
  switch (part) {
    case undefined:
      return { ...user, public_activity: true }
    case 'moderation':
      return { user, hidden: false, frozen: false }
    case 'account':
      return { user: { id: name }, account_of: null, accounts: [`${name}.blog`] }
    case 'standings':
      return isMember ? { user, standings: placesOf(name) } : undefined
    case 'points':
      return isMember ? POINTS() : undefined
    case 'pause':
      return isMember ? { user: { id: name }, pauses: PAUSES() } : undefined
    case 'achievements':
      return { user, achievements: ACHIEVEMENTS(url.searchParams.get('lang')) }
    case 'targets':
      return {
        entries: TARGETS.map((target, index) => ({ target, registered_at: iso(-index - 1), score: 57 - 20 * index })),
        next: null,
      }
    default:
      return respondOfGallery('year', [root, name, part]) ?? undefined
  }
}

/** The origin of the deployment: pages show it, and the port of a test differs each time. */
export const ORIGIN = 'https://rank.example'

/** Files that pages have loaded, by URL: each page loads the same ones. */
const files = new Map()
const isFile = (pathname) => /\.(js|css|svg|png|json)$/.test(pathname)

function readFile(url) {
  if (!files.has(url)) files.set(url, fetchFile(url))
  return files.get(url)
}

async function fetchFile(url) {
  const response = await fetch(url)
  const { 'content-type': type = '' } = Object.fromEntries(response.headers)
  const headers = { 'content-type': type, 'access-control-allow-origin': '*' }
  return { status: response.status, headers, body: Buffer.from(await response.arrayBuffer()) }
}

const readPage = async (route, url) => ({ response: await route.fetch({ url }) })

/** Returns the user of a token in a header. */
const userOf = (authorization) => JSON.parse(Buffer.from(authorization.split('.')[1], 'base64url').toString()).sub

/**
 * Makes a page receive these responses, at an instant, and the files of an app.
 * @param {any} page
 * @param {any} app
 * @param {string} now
 */
export async function inventResponses(page, app, now) {
  await page.clock.setFixedTime(new Date(now))
  await page.route(`${ORIGIN}/**`, async (route) => {
    const request = route.request()
    const { pathname } = new URL(request.url())
    if (!/^\/(v1\/|healthz$|metrics$)/.test(pathname) && pathname !== INTEGRITY) {
      const url = request.url().replace(ORIGIN, app.url)
      return route.fulfill(await (isFile(pathname) ? readFile(url) : readPage(route, url)))
    }
    const { authorization } = request.headers()
    if (pathname === '/v1/token') return route.fulfill({ json: { user: userOf(authorization), groups: [] } })
    mock.timers.enable({ apis: ['Date'], now: new Date(now) })
    let body
    try {
      body = respond(new URL(request.url()), Boolean(authorization))
    } finally {
      mock.timers.reset()
    }
    // Elements may be on another origin.
    if (body) return route.fulfill({ json: body, headers: { 'access-control-allow-origin': '*' } })
    return route.fulfill({ status: 404, contentType: 'application/problem+json', body: '{"status":404}' })
  })
}
