// The shadow DOM of <activity-rank>. It is created once and keeps its size.

import { make, write } from './dom.js'
import { Own, Rows } from './members.js'

export const PERIODS = ['day', 'week', 'month', 'year', 'all']
const HALF_DAY = 432e5 // ms; from a bound into the adjacent day, in spite of DST

let views = 0

export class View {
  own = new Own()
  section = make('section', { part: 'board', role: 'group' })
  #tabList = make('div', { part: 'tabs', role: 'tablist' })
  #tabs
  #earlier = make('button', { part: 'arrow earlier' }, '‹')
  #later = make('button', { part: 'arrow later' }, '›')
  #title = make('p', { part: 'title' })
  #facts = make('p', { part: 'facts' })
  #columns = ['rank', 'member', 'points'].map((name) => make('th', { scope: 'col', className: name }))
  #empty = make('p', { part: 'empty' })
  #rows
  #panel
  #status = make('p', { part: 'status', role: 'status' })

  constructor({ onPeriod, onDate }) {
    const id = `activity-rank-${++views}`
    this.#tabs = PERIODS.map((value) => {
      const tab = make('button', { part: 'tab', role: 'tab', id: `${id}-${value}`, value })
      tab.onclick = () => onPeriod(value)
      tab.setAttribute('aria-controls', `${id}-panel`)
      return tab
    })
    this.#tabList.append(...this.#tabs)
    this.#tabList.onkeydown = (event) => this.#onKey(event)
    for (const arrow of [this.#earlier, this.#later]) arrow.onclick = () => arrow.value && onDate(arrow.value)

    const body = make('tbody')
    this.#rows = new Rows(body)
    this.#title.id = `${id}-title`
    const table = make('table', {}, make('thead', {}, make('tr', {}, ...this.#columns)), body)
    table.setAttribute('aria-labelledby', this.#title.id)
    const titles = make('div', {}, this.#title, this.#facts)
    const heading = make('div', { part: 'heading' }, this.#earlier, titles, this.#later)
    const rows = make('div', { part: 'rows' }, table, this.#empty)
    this.#panel = make('div', { part: 'panel', role: 'tabpanel', id: `${id}-panel` }, heading, rows, this.own.element)
    this.section.append(this.#tabList, this.#panel, make('slot'), this.#status)
  }

  /** Reserves the space of a board and selects its tab. The board of an event has no tabs. */
  reserve({ limit, period, event, hasOwn, disabled }) {
    this.#tabList.hidden = this.#earlier.hidden = this.#later.hidden = Boolean(event)
    this.#panel.role = event ? 'group' : 'tabpanel'
    if (event) this.#panel.setAttribute('aria-labelledby', this.#title.id)
    this.section.style.setProperty('--limit', limit)
    this.section.style.setProperty('--own', hasOwn ? '4.75em' : '0em')
    this.own.element.hidden = !hasOwn
    for (const tab of this.#tabs) {
      const isSelected = tab.value === period
      tab.ariaSelected = String(isSelected)
      tab.tabIndex = isSelected ? 0 : -1
      tab.hidden = disabled.has(tab.value)
      if (isSelected && !event) this.#panel.setAttribute('aria-labelledby', tab.id)
    }
  }

  label({ tag, texts }) {
    this.section.lang = tag
    this.section.ariaLabel = texts.label
    this.#tabList.ariaLabel = texts.periods
    this.own.element.ariaLabel = texts.you
    this.#earlier.ariaLabel = texts.earlier
    this.#later.ariaLabel = texts.later
    for (const tab of this.#tabs) write(tab, texts[tab.value])
    for (const column of this.#columns) write(column, texts[column.className])
  }

  /** Marks the view as loading. A board on display stays, dimmed. */
  load(hasShown) {
    this.#setState(hasShown ? 'waiting' : 'loading')
  }

  show({ period, total, entries }, { own, language, animated }) {
    const { texts } = language
    const { start, end, timezone: timeZone, closed, title: name } = period
    const day = (instant) => new Intl.DateTimeFormat('sv', { timeZone }).format(instant)
    let [title, before, after] = [name ?? texts.all, '', '']
    const [from, to] = [Date.parse(start), Date.parse(end)]
    if (!name && start && end) {
      title = language.days(from + HALF_DAY, to - HALF_DAY, timeZone)
      before = day(from - HALF_DAY)
      if (closed) after = day(to + HALF_DAY)
    }
    write(this.#title, title)
    write(
      this.#facts,
      [texts.members(total, language.number(total)), name ? language.days(from, to - 1) : timeZone].join(' · '),
    )
    setTarget(this.#earlier, before)
    setTarget(this.#later, after)
    this.#rows.show(entries, own, language, animated)
    write(this.#empty, total ? '' : closed ? texts.expired : texts.empty)
    this.#setState('')
  }

  /** Shows the element's fallback content, or a text. */
  fail(text, hasShown, hasFallback) {
    this.#rows.clear()
    for (const part of [this.#title, this.#facts, this.#empty]) write(part, '')
    this.#setState(hasShown ? 'none' : 'failed')
    this.setStatus(hasShown || !hasFallback ? text : '')
  }

  setStatus(text) {
    write(this.#status, text)
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
