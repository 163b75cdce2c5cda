// The shadow DOM of <activity-rank>. It is created once and keeps its size.

import { make, twoForms, write } from './dom.js'
import { dateOf } from './languages.js'
import { Own, Rows } from './members.js'
import { Winners } from './winners.js'

const PERIODS = ['day', 'week', 'month', 'year', 'all']
const CONTENT_PERIODS = ['hot', ...PERIODS]
const PODIUM = 3 // places
const HALF_DAY = 432e5 // ms; from a bound into the adjacent day, in spite of DST

/** Returns the periods that there are boards of. */
export const periodsOf = (of) => (of === 'content' ? CONTENT_PERIODS : PERIODS)

let views = 0

export class View {
  own = new Own()
  winners = new Winners()
  section = make('section', { part: 'board', role: 'group' })
  #tabList = make('div', { part: 'tabs', role: 'tablist' })
  #tabs
  #menu = make('select', { part: 'menu' })
  #options = CONTENT_PERIODS.map((value) => make('option', { value }))
  #earlier = make('button', { part: 'arrow earlier' }, '‹')
  #later = make('button', { part: 'arrow later' }, '›')
  #title = make('p', { part: 'title', dir: 'auto' }, ...twoForms('', ''))
  #facts = make('p', { part: 'facts', dir: 'auto' })
  #columns = ['rank', 'item', 'points'].map((className) => make('th', { role: 'columnheader', className }))
  #empty = make('p', { part: 'empty', dir: 'auto' })
  #free = make('p', { part: 'free', dir: 'auto' })
  #more = make('button', { part: 'more' })
  #rows
  #panel
  #status = make('p', { part: 'status', role: 'status', dir: 'auto' })
  #board // on display
  #limit
  #language

  constructor({ onPeriod, onDate, onMore }) {
    const id = `activity-rank-${++views}`
    this.#tabs = CONTENT_PERIODS.map((value) => {
      const tab = make('button', { part: 'tab', role: 'tab', id: `${id}-${value}`, value })
      tab.onclick = () => onPeriod(value)
      tab.setAttribute('aria-controls', `${id}-panel`)
      return tab
    })
    this.#tabList.append(...this.#tabs)
    this.#tabList.onkeydown = (event) => this.#onKey(event)
    this.#menu.onchange = () => onPeriod(this.#menu.value)
    for (const arrow of [this.#earlier, this.#later]) arrow.onclick = () => arrow.value && onDate(arrow.value)

    this.#more.onclick = () => this.#more.ariaDisabled || onMore()

    // With another `display`, an element of a table has its role only if it is explicit.
    const body = make('tbody', { role: 'rowgroup' })
    this.#rows = new Rows(body)
    this.#title.id = `${id}-title`
    const head = make('thead', { role: 'rowgroup' }, make('tr', { role: 'row' }, ...this.#columns))
    const table = make('table', { role: 'table' }, head, body)
    table.setAttribute('aria-labelledby', this.#title.id)
    const titles = make('div', {}, this.#title, this.#facts)
    const heading = make('div', { part: 'heading' }, titles, this.#earlier, this.#later)
    const rows = make('div', { part: 'rows' }, table, this.#empty, this.#free)
    this.#panel = make(
      'div',
      { part: 'panel', role: 'tabpanel', id: `${id}-panel` },
      heading,
      rows,
      this.#more,
      this.own.element,
    )
    const footer = make('div', { part: 'footer' }, this.#status, this.winners.element)
    this.section.append(this.#tabList, this.#menu, this.#panel, make('slot'), footer)
  }

  /** Reserves the space of a board and selects its tab. The board of an event has no tabs. */
  reserve({ limit, rows, period, periods, event, of, layout, hasOwn, hasWinners }) {
    const { section } = this
    Object.assign(section.dataset, { layout, of })
    section.toggleAttribute('data-event', Boolean(event))
    this.#panel.role = event ? 'group' : 'tabpanel'
    if (event) this.#panel.setAttribute('aria-labelledby', this.#title.id)
    this.#limit = limit
    this.reserveRows(rows)
    this.own.element.hidden = !hasOwn
    this.winners.element.hidden = !hasWinners
    for (const tab of this.#tabs) {
      const isSelected = tab.value === period
      tab.ariaSelected = String(isSelected)
      tab.tabIndex = isSelected ? 0 : -1
      tab.hidden = !periods.includes(tab.value)
      if (isSelected && !event) this.#panel.setAttribute('aria-labelledby', tab.id)
    }
    const options = this.#options.filter(({ value }) => periods.includes(value))
    if (options.length !== this.#menu.length) this.#menu.replaceChildren(...options)
    this.#menu.value = period
  }

  /** Reserves the space of a number of rows. */
  reserveRows(rows) {
    this.section.style.setProperty('--limit', rows)
  }

  label(language, of) {
    const { tag, texts } = (this.#language = language)
    this.section.lang = tag
    this.section.ariaLabel = texts.label
    this.#tabList.ariaLabel = this.#menu.ariaLabel = texts.periods
    this.own.element.ariaLabel = texts.you
    this.#earlier.ariaLabel = texts.earlier
    this.#later.ariaLabel = texts.later
    for (const named of [...this.#tabs, ...this.#options]) write(named, texts[named.value])
    const item = { content: 'item', authors: 'author' }[of] ?? 'member'
    for (const column of this.#columns) write(column, texts[column.className === 'item' ? item : column.className])
  }

  /** Marks the view as loading. A board on display stays, dimmed. */
  load(hasShown) {
    this.#setState(hasShown ? 'waiting' : 'loading')
  }

  show(board, context) {
    const { texts } = this.#language
    const { entries, period } = (this.#board = board)
    const { kind, start, end, timezone: timeZone, closed } = period
    const hasDays = kind !== 'event' && start && end
    const title = period.title ?? texts[kind]
    const [long, short] = this.#title.children
    write(long, hasDays ? this.#language.period(period) : title)
    write(short, hasDays ? this.#language.period(period, true) : title)
    this.#title.title = [long.textContent, timeZone].filter(Boolean).join(', ')
    setTarget(this.#earlier, hasDays ? dateOf(Date.parse(start) - HALF_DAY, timeZone) : '')
    setTarget(this.#later, hasDays && closed ? dateOf(Date.parse(end) + HALF_DAY, timeZone) : '')
    this.tick()
    this.#rows.show(entries, context)
    const wait = Date.parse(start) - Date.now()
    const nobody =
      context.of === 'content'
        ? texts.empty
        : wait > 0
          ? texts.starts(this.#language.duration(wait, 'short'))
          : (texts.nobody[kind] ?? texts.nobody.all)
    write(this.#empty, entries.length ? '' : closed ? texts.expired : nobody)
    const hasMore = board.total > entries.length
    this.#showFree(entries.length, closed || hasMore)
    write(this.#more, hasMore ? texts.show_more : '')
    this.#setState('')
  }

  /** Shows in the space of two rows and more that the places there are free. */
  #showFree(taken, isFull) {
    const { number, texts } = this.#language
    // A podium has three places.
    const isShown = !isFull && taken && this.#limit - Math.max(taken, PODIUM) > 1
    this.section.style.setProperty('--taken', String(taken))
    write(this.#free, isShown ? texts.free(number(taken + 1), number(this.#limit)) : '')
  }

  /** Shows the time that is left until the board closes. */
  tick() {
    if (!this.#board) return
    const language = this.#language
    const { texts } = language
    const { period, total, of } = this.#board
    const { kind, start, end, closed } = period
    const facts = []
    if (kind === 'hot') facts.push(['', texts.recent])
    else facts.push(['count', texts[of](total, language.number(total))])
    const [from, to, now] = [Date.parse(start), Date.parse(end), Date.now()]
    if (kind === 'event') facts.push(['range', language.days(from, to - 1)])
    const bound = closed ? 0 : now < from ? from : now < to ? to : 0
    const remaining = (form) => texts[bound === from ? 'starts' : 'left'](language.duration(bound - now, form))
    if (closed) facts.push(['left', texts.final])
    else if (bound) facts.push(['left', remaining('short'), remaining('narrow')])
    const parts = facts.map(([part, long, short], index) => {
      const span = make('span', { part }, index ? ' · ' : '')
      span.append(...(short ? twoForms(long, short) : [long]))
      return span
    })
    if (parts.map(({ textContent }) => textContent).join('') !== this.#facts.textContent) {
      this.#facts.replaceChildren(...parts)
    }
  }

  /** Shows a member's own position. */
  showOwn(standing, id, context) {
    this.own.show(standing, this.#rows.get(id), this.#rows.at(PODIUM), context)
  }

  /** Moves the focus from the button to the row at an index. */
  focusRow(index) {
    const row = this.#rows.at(index)
    if (!row || this.#more !== /** @type {ShadowRoot} */ (this.section.getRootNode()).activeElement) return
    row.tabIndex = -1
    const target = row.querySelector('a') ?? row
    target.focus({ preventScroll: true })
  }

  /** Shows the element's fallback content, or a text. Nothing is reserved. */
  fail(text, hasShown, hasFallback) {
    this.#rows.clear()
    write(this.#free, '')
    this.#board = null
    this.#setState(hasShown ? 'none' : 'failed')
    this.setStatus(hasShown || !hasFallback ? text : '')
  }

  setStatus(text) {
    write(this.#status, text)
  }

  /** Shows whether further rows are requested. */
  setMore(isLoading) {
    this.#more.ariaDisabled = isLoading ? 'true' : null
  }

  #setState(state) {
    this.section.className = state
    this.section.ariaBusy = String(state.endsWith('ing'))
  }

  #onKey(event) {
    const tabs = this.#tabs.filter((tab) => !tab.hidden)
    const index = tabs.indexOf(event.target)
    const isRtl = getComputedStyle(this.#tabList).direction === 'rtl'
    const [before, after] = [tabs.at(index - 1), tabs[index + 1] ?? tabs[0]]
    const [left, right] = isRtl ? [after, before] : [before, after]
    const tab = { ArrowLeft: left, ArrowRight: right, Home: tabs[0], End: tabs.at(-1) }[event.key]
    if (!tab || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    tab.focus()
    tab.click()
  }
}

/** Sets an arrow's date. Without one it is disabled but keeps the focus. */
function setTarget(arrow, date) {
  arrow.value = date
  arrow.ariaDisabled = date ? null : 'true'
}
