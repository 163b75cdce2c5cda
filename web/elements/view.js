// The inside of <activity-rank>: made once, always of the same size.

import { make, write } from './dom.js'
import { Own, Rows } from './members.js'

export const PERIODS = ['day', 'week', 'month', 'year', 'all']
const HALF_DAY = 432e5 // ms; so far from a bound is surely the day beside it

let views = 0

export class View {
  own = new Own()
  section = make('section', { part: 'board', role: 'group' })
  #tabs
  #earlier = make('button', { part: 'arrow earlier' }, '‹')
  #later = make('button', { part: 'arrow later' }, '›')
  #title = make('p', { part: 'title' })
  #facts = make('p', { part: 'facts' })
  #heads = ['rank', 'member', 'points'].map((name) => [name, make('th', { scope: 'col' })])
  #empty = make('p', { part: 'empty' })
  #table
  #rows
  #panel
  #status = make('p', { part: 'status', role: 'status' })

  /** `choose` is called with a period, `go` with a date. */
  constructor({ choose, go }) {
    const id = `activity-rank-${++views}`
    const tab = (value) => make('button', { part: 'tab', role: 'tab', id: `${id}-${value}`, value })
    this.#tabs = make('div', { part: 'tabs', role: 'tablist' }, ...PERIODS.map(tab))
    this.#tabs.onclick = ({ target }) => target.value && choose(target.value)
    this.#tabs.onkeydown = (event) => this.#walk(event)
    for (const arrow of [this.#earlier, this.#later]) arrow.onclick = () => arrow.value && go(arrow.value)

    const body = make('tbody')
    this.#rows = new Rows(body)
    this.#title.id = `${id}-title`
    this.#table = make('table', {}, make('thead', {}, make('tr', {}, ...this.#heads.map(([, head]) => head))), body)
    this.#table.setAttribute('aria-labelledby', this.#title.id)
    const heading = make('div', { part: 'heading' }, this.#earlier, make('div', {}, this.#title, this.#facts), this.#later)
    const rows = make('div', { part: 'rows' }, this.#table, this.#empty)
    this.#panel = make('div', { part: 'panel', role: 'tabpanel', id: `${id}-panel` }, heading, rows, this.own.element)
    for (const each of this.#tabs.children) each.setAttribute('aria-controls', this.#panel.id)
    this.section.append(this.#tabs, this.#panel, make('slot'), this.#status)
  }

  /** The space for a board, and its tab. */
  reserve({ limit, period, hasOwn, off }) {
    this.section.style.setProperty('--limit', limit)
    this.section.style.setProperty('--own', hasOwn ? '4.75em' : '0em')
    this.own.element.hidden = !hasOwn
    for (const tab of this.#tabs.children) {
      const selected = tab.value === period
      tab.ariaSelected = String(selected)
      tab.tabIndex = selected ? 0 : -1
      tab.hidden = off.has(tab.value)
      if (selected) this.#panel.setAttribute('aria-labelledby', tab.id)
    }
  }

  label({ tag, texts }) {
    this.section.lang = tag
    this.section.ariaLabel = texts.label
    this.#tabs.ariaLabel = texts.periods
    this.own.element.ariaLabel = texts.you
    this.#earlier.ariaLabel = texts.earlier
    this.#later.ariaLabel = texts.later
    for (const tab of this.#tabs.children) write(tab, texts[tab.value])
    for (const [name, head] of this.#heads) write(head, texts[name])
  }

  /** Another board is on its way: the one shown stays, dimmed. */
  wait(hasShown) {
    this.#settle(hasShown ? 'waiting' : 'loading')
  }

  /** Rows move if it is the same board as before. */
  show({ period, total, entries }, { own, language, same }) {
    const { texts } = language
    const [from, to] = [Date.parse(period.start), Date.parse(period.end)]
    const { timezone: timeZone, closed } = period
    write(this.#title, period.start ? language.days(from + HALF_DAY, to - HALF_DAY, timeZone) : texts.all)
    write(this.#facts, [texts.members(total, language.number(total)), timeZone].join(' · '))
    const day = (instant) => new Intl.DateTimeFormat('sv', { timeZone }).format(instant)
    turn(this.#earlier, period.start && day(from - HALF_DAY))
    turn(this.#later, period.start && closed && day(to + HALF_DAY))
    this.#rows.show(entries, own, language, same)
    write(this.#empty, total ? '' : closed ? texts.expired : texts.empty)
    this.#settle('')
  }

  /** No board: what the page has for that, or words. */
  fail(words, hasShown, hasFallback) {
    this.#rows.clear()
    for (const part of [this.#title, this.#facts, this.#empty]) write(part, '')
    this.#settle(hasShown ? 'none' : 'failed')
    this.note(hasShown || !hasFallback ? words : '')
  }

  /** How true the board is. */
  note(words) {
    write(this.#status, words)
  }

  #settle(state) {
    this.section.className = state
    this.section.ariaBusy = String(state.endsWith('ing'))
  }

  #walk(event) {
    const tabs = [...this.#tabs.children].filter((tab) => !tab.hidden)
    const at = tabs.indexOf(event.target)
    const rtl = getComputedStyle(this.#tabs).direction === 'rtl'
    const [before, after] = [tabs.at(at - 1), tabs[at + 1] ?? tabs[0]]
    const [left, right] = rtl ? [after, before] : [before, after]
    const tab = { ArrowLeft: left, ArrowRight: right, Home: tabs[0], End: tabs.at(-1) }[event.key]
    if (!tab || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    tab.focus()
    tab.click()
  }
}

// To nowhere it still is there, for who has the focus on it.
function turn(arrow, date) {
  arrow.value = date || ''
  arrow.ariaDisabled = date ? null : 'true'
}
