// Tabs of periods above a list. The keyboard works as in the tabs of <activity-rank>.

import { make } from './dom.js'
import { words } from './words.js'

/** @typedef {keyof import('./texts.d.ts').PageTexts['tabs']} Period */

const PERIODS = /** @type {Period[]} */ (['day', 'week', 'month', 'year', 'all'])

export class Tabs {
  #list
  #panel
  #tabs

  /**
   * @param {HTMLElement} list
   * @param {HTMLElement} panel
   * @param {(period: Period) => void} onSelect
   */
  constructor(list, panel, onSelect) {
    this.#list = list
    this.#panel = panel
    this.#tabs = PERIODS.map((period) => {
      const tab = make('button', { type: 'button', role: 'tab', id: `tab-${period}`, value: period })
      tab.setAttribute('aria-controls', panel.id)
      tab.addEventListener('click', () => onSelect(period))
      return tab
    })
    list.append(...this.#tabs)
    list.addEventListener('keydown', (event) => this.#onKey(event))
  }

  /**
   * Shows the tabs of some periods.
   * @param {string[]} periods
   * @param {string} selected
   */
  render(periods, selected) {
    const { tabs } = words()
    for (const tab of this.#tabs) {
      const isSelected = tab.value === selected
      Object.assign(tab, {
        textContent: tabs[/** @type {Period} */ (tab.value)],
        hidden: !isSelected && !periods.includes(tab.value),
        ariaSelected: String(isSelected),
        tabIndex: isSelected ? 0 : -1,
      })
      if (isSelected) this.#panel.setAttribute('aria-labelledby', tab.id)
    }
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const tabs = this.#tabs.filter((tab) => !tab.hidden)
    const index = tabs.indexOf(/** @type {HTMLButtonElement} */ (event.target))
    const step = getComputedStyle(this.#list).direction === 'rtl' ? -1 : 1
    const next = { ArrowLeft: index - step, ArrowRight: index + step, Home: 0, End: -1 }[event.key]
    if (next === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    const tab = tabs.at(next % tabs.length)
    tab?.focus()
    tab?.click()
  }
}
