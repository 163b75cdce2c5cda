// A year or a month of a member in figures: /u/ada/2026, /u/ada/2026-11. They are those of the boards and of the calendar,
// so who may not see the calendar sees none.

import { Achievements, earnedIn } from './achievements.js'
import { $, decoded, make, memberPath } from './dom.js'
import { recapLinks, recapTitle } from './recaps.js'
import { read, session } from './session.js'
import { startPage, titleOf } from './site.js'
import { date, monthOf, number, words } from './words.js'

const [, , encodedUser, period] = location.pathname.split('/')
const user = decoded(encodedUser)
const path = `/v1/users/${encodedUser}`
const kind = period.includes('-') ? 'month' : 'year'

/** @typedef {{ rank: number | null, total: number, score: number, period: { start: string, end: string, closed: boolean } }} Standing */
/** @typedef {{ date: string, points: number, frozen?: true }} Day */
/**
 * @typedef {object} Data
 * @property {number} status of the calendar: 200 if the reader may see it
 * @property {Day[]} days of the period that are known, the oldest first
 * @property {string[]} years with points, the latest first
 * @property {string} name
 * @property {Standing | null} place
 * @property {Standing | null} received
 * @property {(Standing | null)[]} months of the year
 */
/** @type {Data | null} */
let data = null
const achievements = new Achievements(user, (all) => (data?.place ? earnedIn(all, data.place.period) : []))

function render() {
  const texts = words()
  $('name').textContent = `${data?.name ?? user} · ${recapTitle(period)}`
  document.title = titleOf($('name').textContent)
  $('recaps').replaceChildren(
    make('a', { href: memberPath(user) }, data?.name ?? user),
    ...recapLinks(user, data?.years, period),
  )
  if (!data) return
  const isShown = data.status === 200 && Boolean(data.place?.score)
  $('recap').hidden = !isShown
  const isPrivate = data.status === 401 || data.status === 403
  $('message').textContent = isShown
    ? ''
    : isPrivate
      ? texts.recap_private
      : data.status === 200
        ? texts.empty_list
        : texts.not_loaded
  if (isShown) renderFacts(data)
}

/** @param {Data} data */
function renderFacts({ days, place, received, months }) {
  const texts = words()
  const active = days.filter(({ points }) => points > 0)
  const best = active.reduce(
    (/** @type {Day | null} */ best, day) => (best && best.points >= day.points ? best : day),
    null,
  )
  const { rank = null, total = 0, score = 0, period: { closed = false } = {} } = place ?? {}
  /** @type {[string, string, string][]} */
  const facts = [[number(score), texts.fact_points, '']]
  if (rank) facts.push([`#${number(rank)}`, texts.fact_place(number(total)), closed ? '' : texts.so_far])
  if (best) facts.push([number(best.points), texts.fact_best, date(best.date)])
  if (active.length) {
    facts.push([number(active.length), texts.fact_days, ''])
    facts.push([number(longestStreak(days)), texts.fact_streak, ''])
    facts.push(
      [date(active[0].date), texts.fact_first, ''],
      [date(active[active.length - 1].date), texts.fact_last, ''],
    )
  }
  if (received?.score) facts.push([number(received.score), texts.fact_received, ''])
  const items = facts.map(([value, text, detail]) =>
    make('li', {}, make('strong', {}, value), make('span', {}, text), make('span', { className: 'muted' }, detail)),
  )
  $('facts').replaceChildren(...items)
  const rows = months.flatMap((standing, index) => {
    if (!standing?.rank) return []
    const id = `${period}-${String(index + 1).padStart(2, '0')}`
    const link = make('a', { href: `${memberPath(user)}/${id}` }, monthOf(id))
    const place = `#${number(standing.rank)} / ${number(standing.total)}`
    const cells = [make('td', {}, place), make('td', {}, texts.points(standing.score, number(standing.score)))]
    return [make('tr', {}, make('th', { scope: 'row' }, link), ...cells)]
  })
  $('months').hidden = !rows.length
  $('months-content').replaceChildren(make('table', {}, make('tbody', {}, ...rows)))
  achievements.render()
  // A closed day is on the calendar as soon as it is archived.
  const known = days.reduce((sum, { points }) => sum + points, 0)
  $('note').textContent = known < score ? texts.incomplete : ''
}

/**
 * Returns the most days with points in a row. Frozen days between them are not counted.
 * @param {Day[]} days the oldest first
 */
function longestStreak(days) {
  let [longest, current] = [0, 0]
  for (const { points, frozen } of days) {
    if (!frozen) current = points > 0 ? current + 1 : 0
    longest = Math.max(longest, current)
  }
  return longest
}

/**
 * Reads a standing of a period; null without one.
 * @param {string} root
 * @param {string} kind
 * @param {string} date a day of the period
 * @returns {Promise<Standing | null>}
 */
async function standing(root, kind, date) {
  const { status, body } = await read(`/v1/${root}/${kind}/users/${encodedUser}?date=${date}`)
  return status === 200 ? body : null
}

async function load() {
  const readDays = (/** @type {string} */ query) => {
    const address = `${path}/activity?${query}`
    return session.user === user ? session.request(address) : read(address)
  }
  let { status, body } = await readDays(`year=${period.slice(0, 4)}`)
  // A deployment without an archive keeps a month.
  if (status === 400) ({ status, body } = await readDays('days=31'))
  if (status !== 200) {
    data = { status, days: [], years: [], name: user, place: null, received: null, months: [] }
    return render()
  }
  const first = kind === 'year' ? `${period}-01-01` : `${period}-01`
  const months = kind === 'year' ? Array.from({ length: 12 }, (_, index) => String(index + 1).padStart(2, '0')) : []
  const today = new Date().toISOString().slice(0, 10)
  const [place, received, ...ofMonths] = await Promise.all([
    standing('ranking', kind, first),
    standing('authors', kind, first),
    ...months.map((month) =>
      `${period}-${month}-01` > today ? null : standing('ranking', 'month', `${period}-${month}-01`),
    ),
  ])
  const known = body.days.filter((/** @type {Day} */ { date }) => date.startsWith(period)).reverse()
  data = {
    status,
    days: known,
    years: body.years ?? [],
    name: body.user?.name ?? user,
    place,
    received,
    months: ofMonths,
  }
  if (place) await achievements.start()
  render()
}

await startPage({ render, showMember: load })
