// Members on the page: the rows of a board, and the row of one's own.

import { avatarOf, make, nameOf, write } from './dom.js'

const MEDALS = ['', ' first', ' second', ' third']

/** The rows of a board. Each is bound to its user, so it can be animated and keeps the focus. */
export class Rows {
  #body
  #rows = new Map()

  constructor(body) {
    this.#body = body
  }

  show(entries, own, language, animated) {
    const focused = this.#body.getRootNode().activeElement
    const offsets = new Map([...this.#rows].map(([id, { row }]) => [id, row.offsetTop]))
    const old = this.#rows
    this.#rows = new Map()
    for (const { user, rank, score } of entries) {
      const profile = JSON.stringify(user)
      const known = old.get(user.id)
      const shown = known?.profile === profile ? known : makeRow(user, profile)
      const isOwn = user.id === own
      write(shown.rank, language.number(rank))
      write(shown.score, language.number(score))
      shown.row.part = `row${MEDALS[rank] ?? ''}${isOwn ? ' own-row' : ''}`
      shown.row.ariaCurrent = isOwn ? 'true' : null
      this.#rows.set(user.id, shown)
    }
    const rows = [...this.#rows.values()].map(({ row }) => row)
    const { children } = this.#body
    if (rows.some((row, index) => children[index] !== row) || rows.length < children.length) {
      this.#body.replaceChildren(...rows)
      if (focused?.isConnected) focused.focus({ preventScroll: true })
      if (animated) this.#animate(offsets)
    }
  }

  clear() {
    this.#rows.clear()
    this.#body.replaceChildren()
  }

  #animate(offsets) {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
    for (const [id, { row }] of this.#rows) {
      const offset = offsets.get(id)
      const distance = offset === undefined ? 0 : offset - row.offsetTop
      const from = distance ? { transform: `translateY(${distance}px)` } : { opacity: 0 }
      if (distance || offset === undefined) row.animate([from, {}], { duration: 400, easing: 'ease-in-out' })
    }
  }
}

function makeRow(user, profile) {
  const rank = make('span', { part: 'rank' })
  const score = make('td', { part: 'score' })
  const member = make('th', { scope: 'row' }, make('div', {}, avatarOf(user), nameOf(user)))
  return { profile, rank, score, row: make('tr', {}, make('td', {}, rank), member, score) }
}

/** The row of one's own, below the board. */
export class Own {
  element = make('div', { part: 'own', role: 'group' })
  #rank = make('span', { part: 'rank' })
  #member = make('div')
  #score = make('span', { part: 'score' })
  #movement = make('span', { part: 'movement' })
  #details = make('p', { part: 'details' })
  #profile = ''

  constructor() {
    this.element.append(this.#rank, this.#member, this.#score, this.#details)
  }

  show({ user, rank, score, next, total }, moved, language) {
    const { texts } = language
    const number = (value) => (value === null ? '–' : language.number(value))
    const profile = JSON.stringify(user)
    if (this.#profile !== (this.#profile = profile)) {
      this.#member.replaceChildren(avatarOf(user), make('span', {}, nameOf(user), ' ', this.#movement))
    }
    write(this.#rank, number(rank))
    write(this.#score, number(score))
    this.#movement.part = `movement ${moved > 0 ? 'up' : moved < 0 ? 'down' : 'same'}`
    const distance = number(Math.abs(moved))
    write(this.#movement, moved ? `${moved > 0 ? '▲' : '▼'} ${distance}` : '')
    this.#movement.role = moved ? 'img' : null
    this.#movement.ariaLabel = moved ? (moved > 0 ? texts.up(distance) : texts.down(distance)) : null
    let details = score === null ? '' : texts.unranked
    if (rank) {
      const ahead = next && texts.next(next.points, number(next.points), number(next.rank))
      details = [rank === 1 ? texts.first : ahead, texts.top(number(Math.ceil((100 * rank) / total)))]
        .filter(Boolean)
        .join(' · ')
    }
    write(this.#details, details)
  }
}

/** The last visit's ranks by period, in localStorage. */
export class RankMemory {
  #key
  #last = {}
  #now

  constructor(...names) {
    this.#key = JSON.stringify(['activity-rank', ...names])
    try {
      this.#last = JSON.parse(String(localStorage.getItem(this.#key))) ?? {}
    } catch {
      // No storage.
    }
    this.#now = { ...this.#last }
  }

  /** Stores a rank and returns how many ranks it is above the one of the last visit. */
  update({ kind, id }, rank) {
    const last = this.#last[kind]
    this.#now[kind] = [id, rank]
    try {
      localStorage.setItem(this.#key, JSON.stringify(this.#now))
    } catch {
      // Full, or no storage.
    }
    return last?.[0] === id && last[1] && rank ? last[1] - rank : 0
  }
}
