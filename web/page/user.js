// The page of a member: climb, year, achievements, and what they published; for the member also pauses of the streak, and
// where the points come from.

import { Achievements } from './achievements.js'
import { $, decoded, faceOf, make } from './dom.js'
import { climbOf } from './mine.js'
import { PagedList } from './paged.js'
import { Pauses } from './pauses.js'
import { startPeek } from './peek.js'
import { entryItem, targetItem, withRefused } from './points.js'
import { recapLinks } from './recaps.js'
import { read, session } from './session.js'
import { startPage, titleOf } from './site.js'
import { words } from './words.js'
import { Year } from './year.js'

const TIMEOUT = 4000 // ms until the page is shown without a slow response
const PERIODS = /** @type {const} */ (['day', 'week', 'month', 'year', 'all'])

const user = decoded(location.pathname.replace(/^\/u\//, ''))
const path = `/v1/users/${encodeURIComponent(user)}`

/** The period of the climb. */
let period = PERIODS.some((name) => `#${name}` === location.hash) ? location.hash.slice(1) : 'week'
/**
 * The public facts of the member.
 * @type {import('./session.js').Answer | null}
 */
let card = null
/**
 * The state of the deployment.
 * @type {Promise<import('./session.js').Answer> | undefined}
 */
let health
/** Whether everything has been loaded: nothing moves while it arrives. */
let isComplete = false

const year = new Year(user, () => render())
const pauses = new Pauses(user)
const achievements = new Achievements(user)
const targets = new PagedList($('targets-content'), targetItem, (next) =>
  read(`${path}/targets?limit=10${next ? `&after=${encodeURIComponent(next)}` : ''}`),
)
/**
 * The state that a moderator has set for the member, with a reason that the member may read.
 * @type {{ hidden: boolean, frozen: boolean, reason: string } | null}
 */
let moderation = null
/**
 * Why activity between the member and others does not count.
 * @type {{ reason: string }[]}
 */
let exclusions = []
const points = new PagedList($('points-content'), entryItem, async (next) => {
  const before = next ? `&before=${encodeURIComponent(next)}` : ''
  const answer = await session.request(`${path}/points?limit=20&refused=true${before}`)
  if (!next) {
    moderation = answer.body?.moderation ?? null
    exclusions = answer.body?.exclusions ?? []
  }
  return withRefused(answer)
})

const isOwn = () => session.user === user

function render() {
  if (!card) return
  const { unknown_title, unknown_member, unavailable } = words()
  const isUnknown = card.status === 404 && !isOwn()
  const facts = card.status === 200 ? card.body : { user: { id: user }, standings: {}, streak: null }
  $('name').textContent = isUnknown ? unknown_title : (facts.user.name ?? facts.user.id)
  document.title = titleOf($('name').textContent)
  $('unknown').textContent = isUnknown ? unknown_member : unavailable
  $('unknown').hidden = card.status === 200 || isOwn()
  $('member').hidden = !isComplete || !$('unknown').hidden
  $('face').replaceChildren(faceOf(facts.user))
  $('who').classList.toggle('missing', isUnknown)
  renderPeriods(facts.standings)
  $('recaps').replaceChildren(...recapLinks(user, year.years))
  year.render()
  pauses.render()
  achievements.render()
  targets.render()
  points.render()
  renderModeration()
}

/**
 * Writes the links to the other periods of the climb.
 * @param {Record<string, unknown>} standings by period
 */
function renderPeriods(standings) {
  const { now } = words()
  const names = PERIODS.filter((name) => standings[name])
  $('periods').hidden = names.length < 2 && card?.status !== 0
  if (names.length && !names.some((name) => name === period)) select(names[0])
  const links = names.map((name) => {
    const link = make('a', { href: `#${name}` }, now[name])
    if (name === period) link.ariaCurrent = 'page'
    return link
  })
  $('periods').replaceChildren(...links)
}

/** @param {string} name of a period */
function select(name) {
  period = name
  $('climb').firstElementChild?.setAttribute('period', name)
}

addEventListener('hashchange', () => {
  const name = location.hash.slice(1)
  if (PERIODS.some((known) => known === name)) select(name)
  render()
})

function renderModeration() {
  $('moderation').hidden = !moderation && !exclusions.length
  const { is_hidden, is_frozen, is_excluded } = words()
  const states = [...(moderation?.hidden ? [is_hidden] : []), ...(moderation?.frozen ? [is_frozen] : [])]
  const parts = moderation ? [`${states.join(' ')} `, make('q', {}, moderation.reason), ' '] : []
  for (const { reason } of exclusions) parts.push(`${is_excluded} `, make('q', {}, reason), ' ')
  $('moderation').replaceChildren(...parts)
}

/** Shows what depends on who reads: the year, and where the points come from. */
async function showMember() {
  $('climb').replaceChildren(climbOf(user, period))
  if (!card) return
  const { status, body } = card
  const hasYear = isOwn() || (status === 200 && body.streak)
  $('year').hidden = !hasYear
  if (hasYear) year.show(body?.standings?.year?.score ?? null)
  else year.hide()
  $('points').hidden = $('pauses').hidden = !isOwn()
  if (status !== 200 && !isOwn()) $('climb').replaceChildren()
  points.clear()
  pauses.clear()
  achievements.clear()
  moderation = null
  exclusions = []
  const isKnown = status === 200 || isOwn()
  await Promise.all([isOwn() && points.start(), isOwn() && pauses.start(timeZone()), isKnown && achievements.start()])
  render()
}

/** Returns the configuration of the deployment, which is requested once; none if the service does not answer. */
async function configuration() {
  health ??= read('/healthz')
  return (await health).body?.configured
}

const timeZone = async () => (await configuration())?.timezone

async function loadTargets() {
  if (!(await configuration())?.content_periods.length) return
  $('targets').hidden = (await targets.start()) === 0
}

async function load() {
  card = await read(`${path}/card`)
  const all = Promise.all([showMember(), card.status === 200 && loadTargets()])
  await Promise.race([all, new Promise((resolve) => setTimeout(resolve, TIMEOUT))])
  isComplete = true
  render()
}

await startPage({ render, showMember })
startPeek()
await load()
