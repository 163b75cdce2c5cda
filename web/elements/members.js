// Rows of members and content, and the row of one's own.

import { avatarOf, make, medalOf, nameOf, showMovement, twoForms, write } from './dom.js'
import { animate, arrange, isReduced } from './motion.js'

const COUNT = 800 // ms
const LONG = 1e6 // points: narrow layouts show them as 1M

/** A member or a target with rank, movement and score. */
class Row {
  score // on display
  #cells
  #rank = make('span', { part: 'rank' })
  #score = make('span', { part: 'score' })
  #unit = make('span', { part: 'unit', ariaHidden: 'true' })
  #you = make('span', { part: 'you' })
  #level = make('span', { part: 'level' })
  #movement = make('span')
  #meta = make('span', { className: 'meta' })
  #profile = ''

  /** Creates a row of a table, or one outside of tables. */
  constructor(isInTable) {
    const cell = (tag, role, ...content) => make(isInTable ? tag : 'div', isInTable ? { role } : {}, ...content)
    const score = cell('td', 'cell', this.#score, ' ', this.#unit)
    this.#cells = [cell('td', 'cell', this.#rank), cell('th', 'rowheader'), score]
    this.element = cell('tr', 'row', ...this.#cells)
  }

  update({ user, target, author, rank, previous_rank, score }, { language, own, isMoving, isAnimated, pageOf }) {
    const { texts } = language
    const item = user ?? { id: target.id, name: target.title, url: target.url, avatar: target.image }
    const isOwn = user && user.id === own
    const [page, authorPage] = [user, author].map((member) => member && pageOf(member))
    const profile = JSON.stringify([item, author, page, authorPage])
    if (this.#profile !== profile) {
      this.#profile = profile
      const names = make('div', { className: 'names' }, nameOf(item, 'name', page), ' ', this.#meta)
      this.#meta.replaceChildren(
        ...(author ? [nameOf(author, 'author', authorPage)] : [this.#you, ' ', this.#level, ' ', this.#movement]),
      )
      // Titles have no initials that anybody would recognize.
      this.#cells[1].replaceChildren(avatarOf(target && !target.image && author ? author : item), names)
    }
    write(this.#rank, rank ? language.number(rank) : '–')
    write(this.#unit, texts.unit(score))
    write(this.#you, isOwn ? texts.me : '')
    write(this.#level, item.level?.name ?? '')
    showMovement(this.#movement, isMoving && rank ? previous_rank : undefined, rank, language)
    this.#showScore(score, language, isAnimated)
    const isMarked = isOwn && this.element.localName === 'tr'
    this.element.part = `row${medalOf(rank)}${isMarked ? ' own-row' : ''}`
    this.element.ariaCurrent = isMarked ? 'true' : null
  }

  /** Shows a score, counting up or down to it. */
  #showScore(score, language, isAnimated) {
    const from = this.score
    this.score = score
    if (score === null) return write(this.#score, '–')
    if (!isAnimated || from == null || from === score || isReduced()) return this.#write(score, language)
    animate(this.#score, [{ color: 'var(--accent)' }, {}], 2 * COUNT)
    const start = performance.now()
    const step = (now) => {
      if (this.score !== score) return
      const part = 1 - (1 - Math.min(1, Math.max(0, now - start) / COUNT)) ** 3
      this.#write(part < 1 ? Math.round(from + (score - from) * part) : score, language)
      if (part < 1) requestAnimationFrame(step)
    }
    step(start)
  }

  #write(score, { number, compact }) {
    if (score < LONG) return write(this.#score, number(score))
    this.#score.replaceChildren(...twoForms(number(score), compact(score)))
  }
}

/** The rows of a board. Each is bound to its member or target, so it can be animated and keeps the focus. */
export class Rows {
  #body
  #rows = new Map()

  constructor(body) {
    this.#body = body
  }

  show(entries, context) {
    const old = this.#rows
    this.#rows = new Map()
    arrange(this.#body, context.isAnimated, () => {
      for (const entry of entries) {
        const { id } = entry.user ?? entry.target
        const row = old.get(id) ?? new Row(true)
        row.update(entry, context)
        this.#rows.set(id, row)
      }
      return [...this.#rows.values()].map(({ element }) => element)
    })
  }

  /** Returns the element of a row. */
  get(id) {
    return this.#rows.get(id)?.element
  }

  /** Returns the element of the row at an index. */
  at(index) {
    return this.#body.children[index]
  }

  clear() {
    this.#rows.clear()
    this.#body.replaceChildren()
  }
}

/** One's own position: the way to the next rank, below the board, and the row while it is out of sight above. */
export class Own {
  element = make('div', { part: 'own', role: 'group' })
  #row = new Row(false)
  #details = make('p', { part: 'details', dir: 'auto' })
  #top = make('p', { part: 'top', dir: 'auto' })
  #progress = make('div', { part: 'progress', ariaHidden: 'true' }, make('div', { part: 'bar' }))
  #listed = null // row of the board
  #start = null // first row below the podium
  #isApart = false // whether the row of the board is out of sight
  #isReached = false // whether the start is above the place of the pinned row
  // A busy page gets several entries at once: the last one is of now.
  #observer = new IntersectionObserver((entries) => this.#pin({ isApart: !entries.at(-1).isIntersecting }), {
    threshold: 0.5,
  })
  #startObserver = new IntersectionObserver((entries) => this.#pin({ isReached: entries.at(-1).isIntersecting }), {
    rootMargin: '1000000px 0px -128px 0px',
  })

  constructor() {
    this.element.append(this.#row.element, this.#details, this.#top, this.#progress)
  }

  /**
   * Shows a standing, with a row of its own unless the board's row is in sight. It is pinned to the bottom from `start` on,
   * the first row below the podium.
   */
  show({ next, total, ...entry }, listed, start, context) {
    const { texts, number } = context.language
    const { rank, score } = entry
    this.#row.update(/** @type {any} */ (entry), context)
    const ahead = next ? texts.next(next.points, number(next.points), number(next.rank)) : ''
    const unranked = score === null ? '' : texts.unranked
    write(this.#details, rank ? (rank === 1 ? texts.first : ahead) : unranked)
    write(this.#top, context.language.top(rank, total))
    const done = rank === 1 ? 1 : next ? score / (score + next.points) : 0
    this.element.style.setProperty('--done', String(done))
    if (this.#listed === listed && this.#start === start) return
    this.#observer.disconnect()
    this.#startObserver.disconnect()
    this.#listed = listed
    this.#start = start
    this.#pin({ isApart: !listed, isReached: false })
    if (listed) this.#observer.observe(listed)
    if (start) this.#startObserver.observe(start)
  }

  #pin({ isApart = this.#isApart, isReached = this.#isReached }) {
    this.#isApart = isApart
    this.#isReached = isReached
    this.element.classList.toggle('apart', isApart)
    this.element.classList.toggle('pinned', isApart && isReached)
  }
}
