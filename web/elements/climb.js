// <activity-climb>: a member's way up a board: the rank, the neighbours on a ladder, and what to do next.

import { tokenOf } from '../client/identity.js'
import { climb } from './climb-style.js'
import { avatarOf, baseOf, make, medalOf, nameOf, pageOf, reflecting, showMovement, twoForms, write } from './dom.js'
import { dateOf } from './languages.js'
import { member } from './member-style.js'
import { animate, arrange } from './motion.js'
import { nextSteps, waysIn } from './next.js'
import { Panel } from './panel.js'
import { panel } from './panel-style.js'
import { Poll } from './poll.js'
import { share } from './share.js'
import { common } from './style.js'

const ATTRIBUTES = /** @type {const} */ (['src', 'user', 'period', 'other', 'member-url', 'refresh', 'theme'])
const PERIODS = ['day', 'week', 'month', 'year', 'all']
const RUNGS = 5
const AROUND = RUNGS - 1 // at the top of a board, all other rungs are below
const PODIUM = 3 // places
const MINUTE = 60e3 // ms
const HALF_DAY = 432e5 // ms; from a bound into the adjacent day, in spite of DST
const RING = 2 * Math.PI * 46 // the length of the ring, in units of the picture

export class ActivityClimb extends reflecting(ATTRIBUTES, common + member + panel + climb) {
  static observedAttributes = [...ATTRIBUTES, 'lang']

  /** Sends every request; may be overridden. */
  static fetch = (url, options) => fetch(url, options)

  #token = null
  #ring = ring()
  #rank = make('strong', { part: 'rank' })
  #of = make('span', { part: 'of', dir: 'auto' })
  #place = make('div', { part: 'place' }, this.#ring.element, make('p', {}, this.#rank, this.#of))
  #words = make('div', { part: 'words' })
  #title = make('p', { part: 'title', dir: 'auto' })
  #next = make('p', { part: 'next', dir: 'auto' })
  #facts = make('p', { part: 'facts' })
  #movement = make('span', { part: 'movement' })
  #streak = make('span', { part: 'streak', className: 'lit' })
  #earned = make('span', { part: 'earned' })
  #level = make('span', { part: 'level' })
  #left = make('span', { part: 'left' })
  #share = make('button', { part: 'share', type: 'button' })
  #ladder = make('ol', { part: 'ladder', role: 'list' })
  #rungs = new Map() // elements by member
  #card // source
  #health // source
  #today // source
  #last // source: the standing of the period before
  #standing // on display
  #language
  #days // of the current streak
  #clock
  #panel = new Panel(this, {
    part: 'climb',
    content: [this.#place, this.#words, this.#ladder],
    urlOf: () => this.user && this.#standingUrl(this.#period, { around: AROUND }),
    fetchOf: () => this.#fetch,
    clear: () => this.#clear(),
    show: (standing, language) => this.#show(standing, language),
  })

  constructor() {
    super()
    this.#words.append(this.#title, this.#next, this.#facts, this.#share)
    this.#facts.append(this.#movement, this.#level, this.#streak, this.#left, this.#earned)
    this.#share.onclick = () => this.#sharePicture()
    if (Object.hasOwn(this, 'token')) {
      this.#token = this.token
      delete this.token
    }
  }

  connectedCallback() {
    this.#clock = setInterval(() => this.#tick(), MINUTE)
    this.#panel.update()
  }

  disconnectedCallback() {
    clearInterval(this.#clock)
    this.#clear()
    this.#panel.update()
  }

  attributeChangedCallback(_name, before, after) {
    if (before !== after && this.isConnected) this.#panel.update()
  }

  /**
   * The user token, or a function that returns it or a promise of it. With it, the next steps take into account what the
   * member has done today. It is write-only and has no attribute, as that of `<activity-heatmap>`.
   */
  set token(token) {
    this.#token = token
    this.#today?.unwatch(this.#onFacts)
    this.#today = null
    if (this.#standing && this.#language) this.#show(this.#standing, this.#language)
  }

  /** Requests the standing now, and what it is explained with. */
  reload() {
    this.#panel.reload()
    for (const source of [this.#card, this.#today]) source?.refresh()
  }

  /** Whether the reader is another member. */
  get #isOther() {
    return this.other !== null
  }

  get #period() {
    return PERIODS.includes(this.period) ? this.period : 'week'
  }

  get #fetch() {
    return /** @type {typeof ActivityClimb} */ (this.constructor).fetch
  }

  #url(path, query = {}) {
    const url = new URL(`v1/${path}`, baseOf(this))
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    return url.href
  }

  #standingUrl(kind, query) {
    return this.#url(`ranking/${kind}/users/${encodeURIComponent(this.user)}`, { ...query, movement: true })
  }

  #clear() {
    for (const source of [this.#card, this.#health, this.#today, this.#last]) source?.unwatch(this.#onFacts)
    this.#card = this.#health = this.#today = this.#last = this.#standing = this.#days = undefined
    this.#rungs.clear()
    this.#ladder.replaceChildren()
    try {
      this.#watchFacts()
    } catch {
      // The panel reports an invalid `src`.
    }
  }

  #watch(url, fetch = this.#fetch) {
    const source = Poll.of(fetch, url)
    source.watch(this.#onFacts, 0)
    return source
  }

  /** Requests what explains the standing. */
  #watchFacts() {
    if (!this.user || !this.isConnected) return
    const path = `users/${encodeURIComponent(this.user)}`
    this.#card ??= this.#watch(this.#url(`${path}/card`))
    this.#health ??= this.#watch(new URL('healthz', baseOf(this)).href)
    if (this.#token) this.#today ??= this.#watch(this.#url(`${path}/activity`, { days: 1 }), this.#fetchOwn)
  }

  /** Requests how the period before ended. */
  #watchLast({ kind, start, timezone }) {
    if (kind === 'all') return
    const date = dateOf(Date.parse(start) - HALF_DAY, timezone)
    this.#last ??= this.#watch(this.#standingUrl(kind, { date }))
  }

  #fetchOwn = async (url, options) => {
    const token = await tokenOf(this.#token)
    return this.#fetch(url, { ...options, ...(token && { headers: { authorization: `Bearer ${token}` } }) })
  }

  #onFacts = () => {
    if (this.#standing) this.#showFacts()
  }

  #show(standing, language) {
    const before = this.#standing
    const { period, rank, total, around } = standing
    const { texts, number } = language
    this.#standing = standing
    this.#language = language
    this.#watchFacts()
    if (!rank) this.#watchLast(period)
    this.#place.part = `place${medalOf(rank)}`
    write(this.#rank, rank ? texts.place(number(rank)) : '–')
    write(this.#of, texts.of_total(number(total)))
    if (rank) this.#showLadder(around, language)
    else this.#rungs.clear()
    this.#showFacts()
    this.#tick()
    write(this.#share, texts.share)
    this.#share.hidden = !rank
    if (before && before !== standing) this.#compare(before, standing)
  }

  /** Celebrates what the member has reached since the standing before. */
  #compare(before, { period, rank, score, user, around }) {
    const isSame = before.period.id === period.id
    const from = isSame ? before.rank : rank
    const reached = {}
    if (rank && (!from || rank < from)) {
      const below = new Set(around.filter((entry) => entry.rank > rank).map(({ user }) => user.id))
      const passed = before.around.find((entry) => entry.rank < from && below.has(entry.user.id))
      if (rank <= PODIUM) reached.place = rank
      if (passed) reached.passed = passed.user
      pop(rank <= PODIUM ? this.#place : this.#rank)
    }
    if (user.level?.number > (before.user.level?.number ?? 0)) {
      reached.level = user.level
      pop(this.#level)
    }
    if (isSame && score !== before.score) for (const source of [this.#card, this.#today]) source?.refreshSoon()
    this.#report(from, rank, reached)
  }

  /** Announces what the member has reached, and dispatches it with the ranks. */
  #report(from, to, reached) {
    if (from === to && !Object.keys(reached).length) return
    const { texts, number } = this.#language
    this.#panel.announce(this.#isOther ? '' : texts.reached(reached, number))
    const detail = { period: this.#standing.period, from, to, reached }
    this.dispatchEvent(new CustomEvent('rankchange', { detail, bubbles: true, composed: true }))
  }

  /** Shows level, streak, movement, and what to do next. */
  #showFacts() {
    const language = this.#language
    const { texts, number } = language
    const { user, rank, previous_rank, next, around, period, score } = this.#standing
    const card = this.#card?.state.data
    const streak = card?.streak ?? this.#today?.state.data?.streak
    const rules = this.#health?.state.data?.configured?.rules ?? {}
    const used = this.#today?.state.data?.days[0]?.actions ?? {}
    const sources = [this.#card, this.#health, this.#today, !rank && this.#last]
    const isPending = sources.some((source) => source && !source.state.data && !source.state.failure)
    this.#words.classList.toggle('pending', isPending)
    write(this.#level, user.level?.name ?? '')
    write(this.#streak, streak?.current ? texts.days_streak(streak.current, number(streak.current)) : '')
    write(this.#earned, texts.earned(card?.achievements))
    showMovement(this.#movement, (rank && previous_rank) || 0, rank, language)
    if (!isPending) {
      if (streak?.current > this.#days) {
        pop(this.#streak)
        this.#report(rank, rank, { streak: streak.current })
      }
      this.#days = streak?.current
    }

    if (!rank) return this.#showWelcome(period, rules, used)
    write(this.#title, this.#isOther ? texts[period.kind] : texts.my_place(period.kind))
    // Numbers after a name from right to left would join it: U+2068 and U+2069 isolate its direction.
    const name = ({ user: { id, name = id } }) => (/[\u0590-\u08ff]/.test(name) ? `\u2068${name}\u2069` : name)
    const above = next && around.find((entry) => entry.rank === next.rank)
    const [step] = next && !this.#isOther ? nextSteps(next.points, rules, used) : []
    const below = around.find((entry) => entry.rank > rank)
    if (step && above) write(this.#next, texts.pass(step.action, step.count, number(step.count), name(above)))
    else if (next) write(this.#next, texts.next(next.points, number(next.points), number(next.rank)))
    else if (below) {
      const lead = Math.round((score - below.score) * 1e4) / 1e4
      write(this.#next, this.#isOther ? texts.first : texts.lead(lead, number(lead), name(below)))
    } else write(this.#next, texts.first)
  }

  /** Shows a member without points how the board is entered, and how the period before ended. */
  #showWelcome(period, rules, used) {
    const { texts, number } = this.#language
    const last = this.#last?.state.data
    const risen = last?.previous_rank - last?.rank
    const ended = last?.rank && texts.result(number(last.rank), number(last.total), risen > 0 && number(risen))
    write(this.#title, ended || texts.enter(period.kind))
    const ways = this.#isOther ? [] : waysIn(rules, used)
    write(this.#next, ways.length ? texts.ways : texts.unranked)
    const items = ways.map(({ action, points }) => {
      const score = make('span', { part: 'score' }, `+${number(points)}`)
      return make('li', { part: 'rung way' }, make('span', {}, texts.way(action)), score)
    })
    this.#ladder.replaceChildren(...items)
  }

  /** Shows the neighbours: the member in the middle, if there are as many above as below. */
  #showLadder(around, language) {
    const own = around.findIndex(({ user }) => user.id === this.user)
    const start = Math.max(0, Math.min(own - (RUNGS - 1) / 2, around.length - RUNGS))
    const shown = around.slice(start, start + RUNGS)
    const old = this.#rungs
    this.#rungs = new Map()
    arrange(this.#ladder, old.size > 0, () =>
      shown.map((entry) => {
        const { id } = entry.user
        const rung = old.get(id) ?? new Rung()
        rung.update(entry, id === this.user, this.#isOther, language, pageOf(this.memberUrl, id))
        this.#rungs.set(id, rung)
        return rung.element
      }),
    )
  }

  /** Shows the time that is left. */
  #tick() {
    if (!this.#standing) return
    const { start, end, closed } = this.#standing.period
    const [from, to, now] = [Date.parse(start), Date.parse(end), Date.now()]
    const rest = to > from ? Math.max(0, Math.min(1, (to - now) / (to - from))) : 1
    this.#ring.show(rest)
    const { texts } = this.#language
    const isOpen = to > now && !closed
    this.#left.replaceChildren(
      ...(isOpen
        ? twoForms(...['short', 'narrow'].map((form) => texts.left(this.#language.duration(to - now, form))))
        : []),
    )
  }

  async #sharePicture() {
    const { tag, texts } = this.#language
    this.#share.disabled = true
    try {
      const picture = new URL(`u/${encodeURIComponent(this.user)}/share.svg`, baseOf(this))
      const dark = matchMedia('(prefers-color-scheme: dark)').matches
      picture.searchParams.set('theme', this.theme === 'dark' || (this.theme !== 'light' && dark) ? 'dark' : 'light')
      if (tag.startsWith('zh')) picture.searchParams.set('lang', 'zh-Hans')
      await share(this.#fetch, picture.href, `${this.user}.png`, this.#next.textContent)
    } catch (error) {
      reportError(error)
      write(this.#next, texts.not_shared)
    }
    this.#share.disabled = false
  }
}

/** Moves an element once. */
const pop = (element) =>
  animate(
    element,
    [{ transform: 'scale(1.2)', filter: 'brightness(1.6)' }, { transform: 'scale(.97)', offset: 0.6 }, {}],
    700,
    'ease-out',
  )

/** A member on the ladder. */
class Rung {
  element = make('li', {})
  #rank = make('span', { part: 'number' })
  #score = make('span', { part: 'score' })
  #name = make('span', { className: 'name' })
  #profile = ''

  constructor() {
    this.element.append(this.#rank, this.#name, this.#score)
  }

  update({ rank, user, score }, isOwn, isOther, { texts, number }, page) {
    const profile = JSON.stringify([user, isOwn, isOther, texts.me, page])
    if (this.#profile !== profile) {
      this.#profile = profile
      const you = isOwn && !isOther ? [' ', make('span', { part: 'you' }, texts.me)] : []
      this.#name.replaceChildren(avatarOf(user), nameOf(user, 'name', page), ...you)
    }
    write(this.#rank, number(rank))
    write(this.#score, number(score))
    this.element.part = `rung${medalOf(rank)}${isOwn ? ' own' : ''}`
    this.element.ariaCurrent = isOwn ? 'true' : null
  }
}

/** Creates the ring of the time that is left. */
function ring() {
  const create = (tag, attributes) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
    return element
  }
  const circle = { cx: 50, cy: 50, r: 46 }
  const rest = create('circle', { ...circle, part: 'rest', 'stroke-dasharray': RING })
  const element = create('svg', { viewBox: '0 0 100 100', part: 'ring', 'aria-hidden': 'true' })
  element.append(create('circle', { ...circle, part: 'track' }), rest)
  return { element, show: (share) => rest.setAttribute('stroke-dashoffset', String(RING * (1 - share))) }
}
