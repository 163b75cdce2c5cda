// docs/limits.md: each number of the service is that of the code.

import assert from 'node:assert/strict'
import { it } from 'node:test'

import { textOf } from './blocks.mjs'

const DOCUMENT = 'docs/limits.md'
/** Sections with numbers of others. */
const PLATFORMS = ['Cloudflare', 'Upstash']

const MEGABYTE = 1024 * 1024

/**
 * Returns the value of a constant of Rust, Lua or JavaScript: a product, a shift, or the ends of a range.
 * @param {string} path
 * @param {string} name
 */
function constant(path, name) {
  const pattern = new RegExp(`\\b(?:const|local) ${name}(?::[^=]*)? = ([^;\\n]+?)(?:;|\\s*(?://|--).*)?$`, 'm')
  const [, expression] = pattern.exec(textOf(path)) ?? assert.fail(`${path} has no constant ${name}`)
  return evaluate(expression)
}

function evaluate(expression) {
  const plain = expression.replaceAll('_', '').replace(/\bSECOND\b/g, '1')
  assert.match(plain, /^[\d\s*.<=()e]+$/, expression)
  if (plain.includes('..=')) return plain.split('..=').map(Number)
  return [Function(`return ${plain}`)()]
}

/** Returns the numbers that a pattern captures in a file. */
function found(path, pattern) {
  const [, ...numbers] = pattern.exec(textOf(path)) ?? assert.fail(`${path} has no ${pattern}`)
  return numbers.map((number) => Number(number.replaceAll('_', '')))
}

/** Returns the default of a variable of the configuration, and the ends of its range. */
function variable(name) {
  const [least, most] = found('crates/core/src/config/mod.rs', new RegExp(`"${name}", ([\\d_]+)\\.\\.=([\\d_]+)\\)`))
  const text = textOf('crates/core/src/config/mod.rs')
  const after = text.slice(text.indexOf(`"${name}", `))
  const [, initial] = /\.unwrap_or\(([\d_]+)\)/.exec(after) ?? assert.fail(name)
  return [Number(initial.replaceAll('_', '')), least, most]
}

const keep = (name) => found('crates/core/src/config/mod.rs', new RegExp(`\\b${name}: (\\d+),`))
const cap = (points) => found('crates/core/src/config/rules.rs', new RegExp(`standing\\(${points}, (\\d+)\\)`))
const rateLimit = (name) =>
  found(
    'wrangler.toml',
    new RegExp(`^name = "${name}"\\nnamespace_id = "\\d+"\\nsimple = \\{ limit = (\\d+), period = 60`, 'm'),
  )
const core = (path, name) => constant(`crates/core/src/${path}.rs`, name)
const LIVE = 'src/platform/live.js'

/**
 * The numbers of each row, in the order in which its cells have them.
 * @type {Record<string, () => number[]>}
 */
const LIMITS = {
  body: () => [...core('lib', 'MAX_BODY_BYTES'), core('lib', 'MAX_BODY_BYTES')[0] / 1024],
  "fields of a user's history of 31 days, beside which an undo that finds nothing is remembered": () =>
    constant('crates/store/src/scripts/count.lua', 'MAX_FIELDS'),
  'items of an array, from a service': () => core('json', 'MAX_ITEMS'),
  'items of an array, from a member': () => constant('src/routes/activity.rs', 'MAX_MEMBER_ITEMS'),
  'members of an undo without `user`': () => core('json', 'MAX_ITEMS'),
  'nesting of JSON': () => core('json', 'MAX_DEPTH'),
  'problems listed under `errors`': () => core('error', 'MAX_FIELD_ERRORS'),
  'size of a user token': () => core('token/mod', 'MAX_BYTES'),
  'clock ahead, of `at`, `nbf` and after `exp`': () => core('lib', 'CLOCK_TOLERANCE'),
  'writes of a member': () => rateLimit('WRITE_LIMIT'),
  'requests of an address': () => rateLimit('READ_LIMIT'),
  'user and group id': () => found('crates/core/src/id.rs', /\(1\.\.=(\d+)\)\.contains\(&text\.len\(\)\)/),
  '`target` of an activity, as it was sent': () => core('activity/read', 'MAX_TARGET_BYTES'),
  'groups of an activity': () => core('id', 'MAX_GROUPS'),
  'name of a user': () => core('profile', 'MAX_NAME_CHARACTERS'),
  link: () => core('profile', 'MAX_LINK_BYTES'),
  'title of a target': () => core('content/target', 'MAX_TITLE_CHARACTERS'),
  'reason of a moderator': () => core('moderation/mod', 'MAX_REASON_CHARACTERS'),
  'name of an action': () => found('crates/core/src/config/rules.rs', /\(1\.\.=(\d+)\)\.contains\(&text\.len\(\)\)/),
  'days of a pause': () => core('pause', 'MAX_DAYS'),
  'days until a pause begins': () => core('pause', 'MAX_AHEAD'),
  'pauses of a user that are not over': () => core('pause', 'MAX_PAUSES'),
  'accounts of a member': () => constant('crates/store/src/scripts/account.lua', 'MOST'),
  'sources of [sync runs](api.md#sync-runs)': () => found('src/journal/syncs.rs', /\) < (\d+) RETURNING/),
  'name of a source, detail of a report': () => [
    ...found('crates/core/src/sync.rs', /\(1\.\.=(\d+)\)\.contains/),
    ...core('sync', 'MAX_DETAIL'),
  ],
  'reasons of refused activity in a report': () => core('sync', 'MAX_REASONS'),
  'rows of a board': () => [...core('board/page', 'MAX_LIMIT'), ...core('board/page', 'DEFAULT_LIMIT')],
  'offset in a board': () => core('board/page', 'MAX_OFFSET'),
  'neighbours on each side of a standing': () => openapi('around'),
  'users of a comparison': () => core('query', 'MAX_IDS'),
  'followed users of a comparison': () => constant('crates/store/src/scripts/follows.lua', 'MAX_FOLLOWS'),
  'follows and records that a comparison reads': () => {
    const [most, step, steps] = found(
      'crates/store/src/scripts/follows.lua',
      /local MAX_READ = (\d+)\nlocal STEP, MAX_STEPS = (\d+), (\d+)/,
    )
    return [most, step * steps]
  },
  'winners, in boards': () => [...core('board/winners', 'MAX_LIMIT'), ...core('board/winners', 'DEFAULT_LIMIT')],
  'days of a history': () => core('history', 'DAYS'),
  'days of a history with an archive': () => core('history', 'ARCHIVED_DAYS'),
  'days of the numbers of the site': () => core('stats', 'MAX_DAYS'),
  'entries of the journal': () => found('src/journal/page.rs', /"limit", 1\.\.=(\d+), (\d+)\)/),
  'weeks of a feed': () => core('digest/feed', 'WEEKS'),
  'age of a current board in a cache': () => variable('BOARD_MAX_AGE'),
  'age of a closed board in a cache': () => core('board/mod', 'CLOSED_MAX_AGE'),
  'points of a user on a board': () => [
    2 ** (core('score', 'EXACT_BITS')[0] - 30) - 1,
    ...core('score', 'ORDER_BITS'),
    ...core('score', 'DECIMALS'),
  ],
  'changes of a board in exact order': () => [2 ** core('score', 'ORDER_BITS')[1]],
  'members of a board': () => [],
  shards: () => variable('SHARDS').slice(2),
  achievements: () => core('config/achievements', 'MAX_ACHIEVEMENTS'),
  levels: () => core('config/levels', 'MAX_LEVELS'),
  'points a day from one `like`, `bookmark` or `follow`': () => cap(2),
  'points a day from `comment`': () => cap(3),
  'points a day from `visit`': () => cap(1),
  'boards of a day': () => keep('day'),
  'boards of a week': () => keep('week'),
  'boards of a month': () => keep('month'),
  'boards of a year': () => keep('year'),
  'boards of an event': () => keep('event'),
  'deduplication records that stand': () => keep('marks'),
  'daily records, histories': () => found('crates/store/src/keys.rs', /SPAN_SECONDS: u64 = (\d+) \* DAY_SECONDS/),
  'activities that did not count': () =>
    found('crates/core/src/config/mod.rs', /integer\(REFUSED_DAYS, ([\d_]+)\.\.=([\d_]+)\)/),
  'targets of activities that did not count': () => constant('src/platform/refusals.js', 'MAX_TARGETS'),
  'gifts between members, for the search for cases': () => core('fair_play/mod', 'KEPT_DAYS'),
  cases: () => ['MAX_CASES', 'CASE_DAYS'].flatMap((name) => constant('src/journal/fair_play.rs', name)),
  'opt-outs of users in the audit log': () => constant('crates/store/src/scripts/pending.lua', 'OPT_OUTS'),
  'published versions': () => core('rules/mod', 'MAX_VERSIONS'),
  'changes of all versions': () => core('rules/mod', 'MAX_BYTES'),
  'time until a version holds': () => [
    (core('lib', 'CLOCK_TOLERANCE')[0] + found('crates/core/src/rules/mod.rs', /CLOCK_TOLERANCE \+ ([\d_]+);/)[0]) /
      1000,
    ...found('crates/core/src/rules/publication.rs', /MAX_AHEAD: i64 = (\d+) \* Date::MILLIS/),
  ],
  'events in all': () => core('event/mod', 'MAX_EVENTS'),
  'events that run at one instant': () => core('event/definitions', 'MAX_RUNNING'),
  'events that are not final': () => core('event/definitions', 'MAX_OPEN'),
  duration: () => core('event/definition', 'MAX_DAYS'),
  prizes: () => core('event/prizes', 'MAX_PRIZES'),
  'lowest rank with a prize': () => core('event/prizes', 'MAX_RANK'),
  'late activity counts': () => variable('SETTLE_MINUTES'),
  'changes of a watched board': () => [constant(LIVE, 'SECOND')[0] / 1000],
  'idle stream': () => constant(LIVE, 'KEEPALIVE_INTERVAL'),
  'age of a stream': () => constant(LIVE, 'MAX_STREAM_AGE'),
  'client that reads nothing': () => constant(LIVE, 'WRITE_TIMEOUT'),
  'wait for the store': () => variable('STORE_TIMEOUT_MS'),
  'wait for D1, of a request': () => constant('src/platform/d1.rs', 'REQUEST_TIMEOUT'),
  'wait for D1, of a run of cron': () => constant('src/platform/d1.rs', 'CRON_TIMEOUT'),
  'timeouts in a row': () => constant('crates/store/src/redis/circuit_breaker.rs', 'MAX_TIMEOUTS'),
  'open circuit': () =>
    ['MIN_OPEN', 'MAX_OPEN'].flatMap((name) => constant('crates/store/src/redis/circuit_breaker.rs', name)),
  'activity in one message of the queue': () => constant('src/message.rs', 'MAX_BYTES'),
  'delay between attempts of a message': () => constant('src/jobs/replay.rs', 'MAX_DELAY'),
  'attempts of a message': () => found('wrangler.toml', /^max_retries = (\d+)$/m).map((retries) => retries + 1),
  'rows of each board in a snapshot': () => variable('SNAPSHOT_MEMBERS'),
  'bodies in work in an isolate': () => [constant('src/platform/bridge.js', 'MAX_WORK')[0] / MEGABYTE],
  'boards that an isolate keeps': () => [
    ...constant('src/cache/shared.js', 'MAX_ENTRIES'),
    constant('src/cache/shared.js', 'MAX_BYTES')[0] / MEGABYTE,
  ],
  'times that a member hides from boards': () => constant('crates/store/src/moderation.rs', 'DAILY_OPT_OUTS'),
  'boards of groups in the snapshots': () => core('board/snapshot/mod', 'GROUP_BOARDS'),
  'subrequests and D1 queries of a run of cron': () => variable('CRON_BUDGET'),
  'entries of the outbox in one batch': () => constant('crates/store/src/outbox.rs', 'BATCH'),
  'members of an archived board': () => constant('src/archive/write.rs', 'KEPT'),
  'endpoints of webhooks': () => core('config/webhooks', 'MAX_ENDPOINTS'),
  'secret of an endpoint': () => core('config/webhooks', 'SECRET_BYTES'),
  'activities that the browser client stores': () => constant('web/client/queue.js', 'MAX_ITEMS'),
  'activities of one request of the browser client': () => constant('web/client.js', 'MAX_ITEMS'),
}

/** Returns the maximum of a query parameter of the OpenAPI document, which must be the same wherever it is. */
function openapi(name) {
  const text = textOf('web/openapi.json')
  const maxima = [...text.matchAll(new RegExp(`"name": "${name}"[^}]*?"maximum": (\\d+)`, 'gs'))].map(([, most]) =>
    Number(most),
  )
  assert.equal(new Set(maxima).size, 1, `${name}: ${maxima}`)
  return [maxima[0]]
}

const sections = textOf(DOCUMENT).split(/^## /m).slice(1)
const rows = sections
  .filter((section) => !PLATFORMS.includes(section.split('\n')[0]))
  .flatMap((section) => section.match(/^\| .*$/gm)?.slice(1) ?? [])
  .map((row) => row.slice(2, -2).split(' | '))
  .map(([name, value, setBy]) => ({ name, value, setBy }))

/** Numbers of the value, and of the range in the cell beside it. */
const numbersOf = ({ value, setBy }) => {
  const text = `${value.replace(/\bone in\b/, '')} ${/\((\d.*?)\)/.exec(setBy)?.[0] ?? ''} ${[...setBy.matchAll(/, `\w+` \((.*?)\)/g)].map(([, range]) => range)}`
  return [...text.matchAll(/\d[\d,]*/g)].map(([number]) => Number(number.replaceAll(',', '')))
}

it('each limit of the page is checked', () => {
  assert.deepEqual(rows.map(({ name }) => name).toSorted(), Object.keys(LIMITS).toSorted())
})

for (const row of rows) {
  it(row.name, () => assert.deepEqual(numbersOf(row), LIMITS[row.name]?.()))
}
