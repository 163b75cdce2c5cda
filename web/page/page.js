// The front page of a deployment: its boards, the signed-in member, and how points are earned.

import { Boards } from './boards.js'
import { $ } from './dom.js'
import { eventFacts, eventList } from './events.js'
import { showMine } from './mine.js'
import { startPeek } from './peek.js'
import { changeList, levelList, ruleList } from './rules.js'
import { read, session } from './session.js'
import { isShown, startPage, titleOf } from './site.js'
import { Views } from './views.js'
import { winnerList } from './winners.js'
import { words } from './words.js'

/** @import { PageTexts } from './texts.d.ts' */

const TIMEOUT = 4000 // ms until the page is complete without a slow response

const board = $('board')
const boards = new Boards()
const views = new Views({
  periodOf: memberPeriod,
  isPast: () => board.hasAttribute('date'),
  select: (period) => {
    board.removeAttribute('date')
    board.setAttribute('period', period)
  },
})

/**
 * The responses of the service; null before they arrive.
 * @type {{ configured: any, published: any, events: any, winners: any, winnersOf: string | null }}
 */
const data = { configured: null, published: null, events: null, winners: null, winnersOf: null }

function render() {
  document.title = titleOf(words().title)
  views.render()
  const { configured, published, events, winners } = data
  fill('events', eventList(events?.events ?? []))
  fill('winners', winnerList(winners?.boards ?? []))
  const of = /** @type {keyof PageTexts['winners_of'] | null} */ (data.winnersOf)
  $('winners-title').textContent = of ? words().winners_of[of] : words().winners
  boards.events = events?.events ?? []
  showEvent()
  fill(
    'rules',
    configured?.rules && isShown('rules')
      ? [
          ruleList({ ...configured, rules: published?.rules ?? configured.rules }),
          ...changeList(published?.versions ?? []),
          ...levelList(configured.levels ?? []),
        ]
      : [],
  )
}

/**
 * Fills a section. An empty one is not shown.
 * @param {string} id
 * @param {Node[]} content
 */
function fill(id, content) {
  $(id).hidden = !content.length
  $(`${id}-content`).replaceChildren(...content)
}

/** Returns the period of a board of members; none for another board. */
function memberPeriod() {
  const isOther = ['of', 'event'].some((name) => board.hasAttribute(name))
  return isOther ? null : (board.getAttribute('period') ?? 'day')
}

/** Shows the climb and the winners of the board's period. */
function followPeriod() {
  const period = memberPeriod()
  if (period) $('climb').firstElementChild?.setAttribute('period', period)
  loadWinners()
  showEvent()
  views.restart()
}
new MutationObserver(followPeriod).observe(board, {
  attributes: true,
  attributeFilter: ['period', 'of', 'event', 'date'],
})

/** Loads the winners of the board's period: other boards, and those of all time, have none. */
async function loadWinners() {
  const period = memberPeriod()
  const hasWinners = isShown('winners') && period !== 'all' && data.configured?.periods.includes(period)
  const wanted = hasWinners ? period : null
  if (wanted === data.winnersOf) return
  data.winnersOf = wanted
  const answer = wanted ? await read(`/v1/ranking/${wanted}/winners?limit=3`) : null
  if (wanted !== data.winnersOf) return
  data.winners = answer?.status === 200 ? answer.body : null
  render()
}

/** Shows the prizes of the event whose board is shown. */
function showEvent() {
  const id = board.getAttribute('event')
  const event = (data.events?.events ?? []).find((/** @type {{ id: string }} */ event) => event.id === id)
  $('event').replaceChildren(...(event ? [eventFacts(event)] : []))
}

function showMember() {
  if (session.user) board.setAttribute('user', session.user)
  else board.removeAttribute('user')
  showMine()
  followPeriod()
}

/** Loads what stands beside the board, and shows it at once: nothing moves while the rest arrives. */
async function loadAside() {
  const health = read('/healthz').then(({ body }) => {
    data.configured = body?.configured ?? null
    boards.contentPeriods = data.configured?.content_periods ?? []
    views.periods = data.configured?.periods ?? []
    return loadWinners()
  })
  const events = isShown('events') ? read('/v1/events') : null
  const listed = events?.then(({ status, body }) => {
    if (status === 200) data.events = body
  })
  const rules = isShown('rules') ? read('/v1/rules') : null
  const published = rules?.then(({ status, body }) => {
    if (status === 200) data.published = body
  })
  const all = Promise.allSettled([health, listed, published])
  await Promise.race([all, new Promise((resolve) => setTimeout(resolve, TIMEOUT))])
  $('aside').hidden = false
  render()
  await all
  render()
}

$('retry').addEventListener('click', () => location.reload())

await startPage({ render, showMember })
startPeek()
await loadAside()
