// Members on the page: the rows of a board, and the reader's own place.

import { face, make, nameOf, write } from './dom.js'

const MEDALS = ['', ' first', ' second', ' third']

/** A row is its member's: it moves with them, and a link in it keeps the focus. */
export class Rows {
  #body
  #rows = new Map() // by user

  constructor(body) {
    this.#body = body
  }

  show(entries, own, language, animated) {
    const focused = this.#body.getRootNode().activeElement
    const before = new Map([...this.#rows].map(([id, { row }]) => [id, row.offsetTop]))
    const old = this.#rows
    this.#rows = new Map()
    for (const entry of entries) {
      const { user, rank, score } = entry
      const profile = JSON.stringify(user)
      const known = old.get(user.id)
      const kept = known?.profile === profile ? known : made(user, profile)
      write(kept.rank, language.number(rank))
      write(kept.score, language.number(score))
      kept.row.part = `row${MEDALS[rank] ?? ''}${user.id === own ? ' own-row' : ''}`
      kept.row.ariaCurrent = user.id === own ? 'true' : null
      this.#rows.set(user.id, kept)
    }
    const rows = [...this.#rows.values()].map(({ row }) => row)
    if (rows.some((row, at) => this.#body.children[at] !== row) || rows.length < this.#body.children.length) {
      this.#body.replaceChildren(...rows)
      if (focused?.isConnected) focused.focus({ preventScroll: true })
      if (animated) this.#slide(before)
    }
  }

  clear() {
    this.#rows.clear()
    this.#body.replaceChildren()
  }

  #slide(before) {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
    for (const [id, { row }] of this.#rows) {
      const by = before.get(id) - row.offsetTop
      const from = by ? { transform: `translateY(${by}px)` } : { opacity: 0 }
      if (by || !before.has(id)) row.animate([from, {}], { duration: 400, easing: 'ease-in-out' })
    }
  }
}

function made(user, profile) {
  const rank = make('span', { part: 'rank' })
  const score = make('td', { part: 'score' })
  const member = make('th', { scope: 'row' }, make('div', {}, face(user), nameOf(user)))
  return { profile, rank, score, row: make('tr', {}, make('td', {}, rank), member, score) }
}

export class Own {
  element = make('div', { part: 'own', role: 'group' })
  #rank = make('span', { part: 'rank' })
  #member = make('div')
  #score = make('span', { part: 'score' })
  #movement = make('span', { part: 'movement' })
  #details = make('p', { part: 'details' })
  #profile

  constructor() {
    this.element.append(this.#rank, this.#member, this.#score, this.#details)
  }

  /** A standing, moved by so many places. */
  show({ user, rank, score, next, percentile }, moved, language) {
    const { texts } = language
    const number = (value) => language.number(value)
    const profile = JSON.stringify(user)
    if (this.#profile !== (this.#profile = profile)) {
      this.#member.replaceChildren(face(user), make('span', {}, nameOf(user), ' ', this.#movement))
    }
    write(this.#rank, rank === null ? '–' : number(rank))
    write(this.#score, number(score))
    this.#movement.part = `movement ${moved > 0 ? 'up' : moved < 0 ? 'down' : 'same'}`
    const distance = number(Math.abs(moved))
    write(this.#movement, moved ? `${moved > 0 ? '▲' : '▼'} ${distance}` : '')
    this.#movement.role = moved ? 'img' : null
    this.#movement.ariaLabel = moved ? (moved > 0 ? texts.up(distance) : texts.down(distance)) : null
    const ahead = next && texts.next(next.points, number(next.points), number(next.rank))
    const facts = [rank === 1 ? texts.first : ahead, percentile != null && texts.percentile(number(percentile))]
    write(this.#details, rank === null ? texts.unranked : facts.filter(Boolean).join(' · '))
  }
}

/** What was seen at the last look: rank by kind of board. */
export class Memory {
  #key
  #last
  #now

  constructor(...names) {
    this.#key = JSON.stringify(['activity-rank', ...names])
    try {
      this.#last = JSON.parse(localStorage.getItem(this.#key))
    } catch {
      // No storage, no memory.
    }
    this.#last ??= {}
    this.#now = { ...this.#last }
  }

  /** Places up since then; remembers this one. */
  moved({ kind, id }, rank) {
    const last = this.#last[kind]
    this.#now[kind] = [id, rank]
    try {
      localStorage.setItem(this.#key, JSON.stringify(this.#now))
    } catch {
      // Full, or none.
    }
    return last?.[0] === id && last[1] && rank ? last[1] - rank : 0
  }
}
