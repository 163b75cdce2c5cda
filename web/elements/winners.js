// The winners of the last period, below the current board of <activity-rank>.

import { avatarOf, make, medalOf, nameOf, write } from './dom.js'

export class Winners {
  element = make('div', { part: 'winners', role: 'group' })
  #title = make('p', { part: 'winners-title', dir: 'auto' })
  #list = make('ol', { role: 'list' })
  #shown // board on display

  constructor() {
    this.element.append(this.#title, this.#list)
  }

  /** Shows a closed board, or nothing. */
  show(board, language, pageOf) {
    const shown = board && JSON.stringify([board, language.tag, board.entries.map(({ user }) => pageOf(user))])
    if (shown === this.#shown) return
    this.#shown = shown
    const title = board ? language.texts.winners(language.period(board.period, true)) : ''
    write(this.#title, title)
    this.element.ariaLabel = title
    const winners = (board?.entries ?? []).map(({ rank, user }) => {
      const medal = make('span', { part: 'rank' }, language.number(rank))
      return make('li', { part: `winner${medalOf(rank)}` }, medal, avatarOf(user), nameOf(user, 'name', pageOf(user)))
    })
    this.#list.replaceChildren(...winners)
  }
}
