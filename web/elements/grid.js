// The days of <activity-heatmap>: a grid of cells with one tab stop, and the tooltip of a day.

import { make, write } from './dom.js'

const GAP = 6 // px between a cell and its tooltip

export class Grid {
  element = make('div', { part: 'calendar', role: 'grid' })
  tooltip = make('p', { part: 'details', ariaHidden: 'true', hidden: true })
  #host
  #days = [] // in ascending order: date, points, text, cell
  #cells = [] // by week and weekday
  #shape = ''
  #isYear = true
  #active = '' // date of the tab stop; today's without one
  #hovered = null // cell
  #focused = null // cell

  constructor(host) {
    this.#host = host
    this.element.onkeydown = (event) => this.#onKey(event)
    this.element.onclick = ({ target }) => this.#select(target)
    this.element.addEventListener('focusin', ({ target }) => {
      const day = this.#dayOf(target)
      if (!day) return
      this.#active = day.date
      this.#setTabStop()
      this.#focused = target
      this.#hovered = null
      this.place()
    })
    this.element.addEventListener('focusout', () => this.#point({ focused: null }))
    this.element.addEventListener('pointerover', ({ target }) =>
      this.#point({ hovered: this.#dayOf(target) && target }),
    )
    this.element.addEventListener('pointerleave', () => this.#point({ hovered: null }))
  }

  /**
   * Shows days. Cells stay, so an update changes only what differs.
   * @param {{ isYear: boolean, offset: number, weeks: number }} layout
   * @param {{ date: string, points: number, text: string, lines: string, number: string, part: string }[]} days
   */
  show({ isYear, offset, weeks }, days) {
    const hasFocus = this.#focused?.matches(':focus')
    this.#build(isYear, weeks)
    for (const [index, cell] of this.#cells.entries()) {
      const day = days[index - offset]
      const part = day ? `day ${day.part}` : ''
      if (cell.part.value !== part) cell.part.value = part
      if (cell.ariaLabel !== (day?.text ?? null)) cell.ariaLabel = day?.text ?? null
      write(cell, !day || isYear ? '' : day.number)
    }
    this.#days = days.map((day, index) => ({ ...day, cell: this.#cells[index + offset] }))
    this.#setTabStop()
    if (hasFocus) this.#tabStop.cell.focus({ preventScroll: true })
    this.place()
  }

  /** Shows empty days in place of any others. */
  clear(isYear) {
    this.#shape = ''
    this.#days = []
    this.#build(isYear, isYear ? 53 : 6)
    this.place()
  }

  /** Creates the cells, row by row. */
  #build(isYear, weeks) {
    const shape = `${isYear} ${weeks}`
    if (shape === this.#shape) return
    this.#shape = shape
    this.#isYear = isYear
    this.#cells = Array.from({ length: weeks * 7 }, () => make('div', { part: 'day level-0', role: 'gridcell' }))
    const [rows, columns] = isYear ? [7, weeks] : [weeks, 7]
    const cellAt = (row, column) => this.#cells[isYear ? column * 7 + row : row * 7 + column]
    this.element.replaceChildren(
      ...Array.from({ length: rows }, (_, row) =>
        make('div', { role: 'row' }, ...Array.from({ length: columns }, (_, column) => cellAt(row, column))),
      ),
    )
  }

  get #tabStop() {
    return this.#days.find(({ date }) => date === this.#active) ?? this.#days.at(-1)
  }

  #setTabStop() {
    const { cell } = this.#tabStop
    for (const other of this.element.querySelectorAll('[tabindex="0"]')) if (other !== cell) other.tabIndex = -1
    cell.tabIndex = 0
  }

  #dayOf(cell) {
    return this.#days.find((day) => day.cell === cell)
  }

  #point({ hovered = this.#hovered, focused = this.#focused }) {
    if (hovered === this.#hovered && focused === this.#focused) return
    this.#hovered = hovered
    this.#focused = focused
    this.place()
  }

  /** Places the tooltip of the day under the pointer or with the focus. */
  place() {
    const { tooltip } = this
    const day = this.#dayOf(this.#hovered ?? this.#focused)
    const area = this.element.parentElement.getBoundingClientRect()
    const cell = day?.cell.getBoundingClientRect()
    const middle = cell && cell.left + cell.width / 2
    // The day may be scrolled away.
    tooltip.hidden = !day || middle < area.left || middle > area.right
    if (tooltip.hidden) return
    write(tooltip, day.lines)
    const frame = tooltip.parentElement.getBoundingClientRect()
    const { width, height } = tooltip.getBoundingClientRect()
    const left = Math.max(0, Math.min(middle - frame.left - width / 2, frame.width - width))
    const above = cell.top - height - GAP
    const top = (above < 0 ? cell.bottom + GAP : above) - frame.top
    tooltip.style.translate = `${left}px ${top}px`
  }

  /** Reports the chosen day to the page. */
  #select(cell) {
    const day = this.#dayOf(cell)
    if (!day) return
    if (cell !== this.#focused) this.#focus(cell)
    const detail = { date: day.date, points: day.points }
    this.#host.dispatchEvent(new CustomEvent('dayselect', { bubbles: true, detail }))
  }

  #focus(cell) {
    cell.tabIndex = -1
    cell.focus()
  }

  #onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault()
      return this.#select(event.target)
    }
    if (event.key === 'Escape') return this.#point({ hovered: null, focused: null })
    const index = this.#days.findIndex(({ cell }) => cell === event.target)
    const forward = getComputedStyle(this.#host).direction === 'rtl' ? -1 : 1
    const [along, across] = this.#isYear ? [7, 1] : [1, 7]
    const steps = {
      ArrowLeft: -forward * along,
      ArrowRight: forward * along,
      ArrowUp: -across,
      ArrowDown: across,
      Home: -index,
      End: this.#days.length - 1 - index,
    }
    const day = index >= 0 && event.key in steps && this.#days[index + steps[event.key]]
    if (!day) return
    event.preventDefault()
    this.#focus(day.cell)
  }
}
