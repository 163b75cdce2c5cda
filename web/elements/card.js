// <activity-card>: a member with their level, their places on the boards of all periods, and their streak.

import { card } from './card-style.js'
import { avatarOf, baseOf, make, medalOf, nameOf, reflecting, write } from './dom.js'
import { member } from './member-style.js'
import { Panel } from './panel.js'
import { panel } from './panel-style.js'
import { common } from './style.js'

const ATTRIBUTES = /** @type {const} */ (['src', 'user', 'refresh', 'theme'])
const COMPACT = 1e5 // numbers from here on are shortened

export class ActivityCard extends reflecting(ATTRIBUTES, common + member + panel + card) {
  static observedAttributes = [...ATTRIBUTES, 'lang']

  /** Sends every request; may be overridden. */
  static fetch = (url, options) => fetch(url, options)

  #profile = ''
  #avatar = make('div')
  #name = make('div')
  #level = make('span', { part: 'level' })
  #streak = make('span', { part: 'streak' })
  #earned = make('span', { part: 'earned' })
  #places = make('ul', { part: 'places', role: 'list' })
  #periods = new Map() // elements of a place, by period
  #panel = new Panel(this, {
    part: 'card',
    content: [
      make(
        'div',
        { part: 'head' },
        this.#avatar,
        make('div', {}, this.#name, make('p', { part: 'facts' }, this.#level, this.#streak, this.#earned)),
      ),
      this.#places,
    ],
    urlOf: () => this.user && new URL(`v1/users/${encodeURIComponent(this.user)}/card`, baseOf(this)).href,
    fetchOf: () => /** @type {typeof ActivityCard} */ (this.constructor).fetch,
    show: (data, language) => this.#show(data, language),
  })

  connectedCallback() {
    this.#panel.update()
  }

  disconnectedCallback() {
    this.#panel.update()
  }

  attributeChangedCallback(_name, before, after) {
    if (before !== after && this.isConnected) this.#panel.update()
  }

  /** Requests the card now. */
  reload() {
    this.#panel.reload()
  }

  #show({ user, standings, streak, achievements }, language) {
    const { texts, number } = language
    const short = (value) => (value < COMPACT ? number(value) : language.compact(value))
    const profile = JSON.stringify(user)
    if (this.#profile !== (this.#profile = profile)) {
      this.#avatar.replaceChildren(avatarOf(user))
      this.#name.replaceChildren(nameOf(user))
    }
    write(this.#level, user.level?.name ?? '')
    this.#level.hidden = !user.level
    this.#streak.hidden = !streak?.longest
    this.#streak.className = streak?.current ? 'lit' : ''
    write(this.#streak, streak ? texts.streak(number(streak.current), number(streak.longest)) : '')
    write(this.#earned, texts.earned(achievements))

    for (const [period, { score, rank, total }] of Object.entries(standings)) {
      const place = this.#placeOf(period)
      place.element.part = `place${medalOf(rank)}`
      write(place.period, texts[period])
      write(place.rank, rank ? texts.place(short(rank)) : '–')
      place.rank.ariaHidden = rank ? null : 'true'
      write(place.score, short(score))
      place.element.title = [rank && texts.place(number(rank)), `${number(score)} ${texts.unit(score)}`]
        .filter(Boolean)
        .join(' · ')
      write(place.unit, ` ${texts.unit(score)}`)
      write(place.top, rank ? language.top(rank, total) : texts.unranked)
      place.top.className = rank ? '' : 'unranked'
    }
    for (const [period, { element }] of this.#periods) if (!standings[period]) element.remove()
    this.#places.append(...Object.keys(standings).map((period) => this.#placeOf(period).element))
  }

  #placeOf(period) {
    if (!this.#periods.has(period)) {
      const part = (name) => make('span', { part: name })
      const parts = {
        period: part('period'),
        rank: part('rank'),
        score: make('span'),
        unit: part('unit'),
        top: part('top'),
      }
      const points = make('span', { part: 'score' }, parts.score, parts.unit)
      const element = make('li', {}, parts.period, ' ', parts.rank, ' ', points, ' ', parts.top)
      this.#periods.set(period, { ...parts, element })
    }
    return this.#periods.get(period)
  }
}
