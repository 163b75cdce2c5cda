// The front page of a deployment: its boards, the signed-in member, and how points are earned.

import { Boards } from './boards.js'
import { $ } from './dom.js'
import { eventList } from './events.js'
import { showMine } from './mine.js'
import { levelList, ruleList } from './rules.js'
import { read, session } from './session.js'
import { isShown, startPage, titleOf } from './site.js'
import { winnerList } from './winners.js'
import { words } from './words.js'

const TIMEOUT = 4000 // ms until the page is complete without a slow response

const board = $('board')
const boards = new Boards()

/**
 * The responses of the service; null before they arrive.
 * @type {{ configured: any, events: any, winners: any }}
 */
const data = { configured: null, events: null, winners: null }

function render() {
  document.title = titleOf(words().title)
  boards.render()
  const { configured, events, winners } = data
  fill('events', eventList(events?.events ?? []))
  fill('winners', winnerList(winners?.boards ?? []))
  fill(
    'rules',
    configured?.rules && isShown('rules') ? [ruleList(configured), ...levelList(configured.levels ?? [])] : [],
  )
  boards.render()
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

/** The climb is that of the board's period. */
function followPeriod() {
  const climb = $('climb').firstElementChild
  const isOther = ['of', 'event'].some((name) => board.hasAttribute(name))
  if (climb && !isOther) climb.setAttribute('period', board.getAttribute('period') ?? 'day')
}
new MutationObserver(followPeriod).observe(board, { attributes: true, attributeFilter: ['period', 'of', 'event'] })

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
    const period = ['week', 'month', 'day', 'year'].find((name) => data.configured?.periods.includes(name))
    return period && isShown('winners') ? read(`/v1/ranking/${period}/winners?limit=3`) : null
  })
  const winners = health.then((answer) => {
    if (answer?.status === 200) data.winners = answer.body
  })
  const events = isShown('events') ? read('/v1/events') : null
  const listed = events?.then(({ status, body }) => {
    if (status === 200) data.events = body
  })
  const all = Promise.allSettled([winners, listed])
  await Promise.race([all, new Promise((resolve) => setTimeout(resolve, TIMEOUT))])
  $('aside').hidden = false
  render()
  await all
  render()
}

await startPage({ render, showMember })
await loadAside()
