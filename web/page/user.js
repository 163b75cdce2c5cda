// The page of a member: card, places, year, and what they published; for the member also where their points come from.

import { $, embed } from './dom.js'
import { publicitySwitch, yearOf } from './mine.js'
import { PagedList } from './paged.js'
import { placeTable } from './places.js'
import { pointItem, targetItem } from './points.js'
import { read, session } from './session.js'
import { startPage } from './site.js'
import { words } from './words.js'

const TIMEOUT = 4000 // ms until the page is shown without a slow response

const user = memberOfAddress()
const path = `/v1/users/${encodeURIComponent(user)}`

/**
 * The public facts of the member.
 * @type {import('./session.js').Answer | null}
 */
let card = null
/**
 * The standings that only the member may read.
 * @type {Record<string, import('./places.js').Place> | null}
 */
let standings = null
/** Whether everything has been loaded: nothing moves while it arrives. */
let isComplete = false

const targets = new PagedList($('targets-content'), targetItem, (next) =>
  read(`${path}/targets?limit=10${next ? `&after=${encodeURIComponent(next)}` : ''}`),
)
const points = new PagedList($('points-content'), pointItem, (next) =>
  session.request(`${path}/points?limit=20${next ? `&before=${encodeURIComponent(next)}` : ''}`),
)

function memberOfAddress() {
  const id = location.pathname.replace(/^\/u\//, '')
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

const isOwn = () => session.user === user

function render() {
  if (!card) return
  const { title, unknown_title, unknown_member, unavailable } = words()
  const isUnknown = card.status === 404 && !isOwn()
  const facts = card.status === 200 ? card.body : { user: { id: user }, standings: {}, streak: null }
  $('name').textContent = isUnknown ? unknown_title : (facts.user.name ?? facts.user.id)
  document.title = `${$('name').textContent} · ${title}`
  $('unknown').textContent = isUnknown ? unknown_member : unavailable
  $('unknown').hidden = card.status === 200 || isOwn()
  $('member').hidden = !isComplete || !$('unknown').hidden
  // The card shows the name too.
  $('name').classList.toggle('unseen', card.status === 200)
  const places = placeTable(standings ?? {})
  $('places').hidden = !places.length
  $('places-content').replaceChildren(...places)
  targets.render()
  points.render()
}

/** Shows what depends on who reads: the year, and where the points come from. */
async function showMember() {
  if (!card) return
  const { status, body } = card
  const hasYear = isOwn() || (status === 200 && body.streak)
  $('year').hidden = !hasYear
  $('year-content').replaceChildren(...(hasYear ? [yearOf(user)] : []), ...(isOwn() ? [publicitySwitch(user)] : []))
  $('points').hidden = !isOwn()
  standings = null
  points.clear()
  if (isOwn()) {
    const [own] = await Promise.all([session.request(`${path}/standings`), points.start()])
    if (own.status === 200 && isOwn()) standings = own.body.standings
  }
  render()
}

async function loadTargets() {
  const { body } = await read('/healthz')
  if (!body?.configured?.content_periods.length) return
  $('targets').hidden = (await targets.start()) === 0
}

async function load() {
  card = await read(`${path}/card`)
  if (card.status === 200) $('card').replaceChildren(embed('activity-card', { user }))
  const all = Promise.all([showMember(), card.status === 200 && loadTargets()])
  await Promise.race([all, new Promise((resolve) => setTimeout(resolve, TIMEOUT))])
  isComplete = true
  render()
}

await startPage({ render, showMember })
await load()
