// The member of the playground: buttons for what the rules count, and for what a member may read.

/** @import { Activity, Result } from '../client.js' */

import { Client } from '../client.js'
import { $, make } from './dom.js'
import { recordedFetch } from './exchanges.js'
import { actionName } from './rules.js'
import { session } from './session.js'
import { reloadAll } from './site.js'
import { change, number, words } from './words.js'

class RecordedClient extends Client {
  static fetch = recordedFetch
}

/** @typedef {import('./rules.js').Rule} Rule */

export class Member {
  /** @type {Client | null} */
  #client = null
  /** @type {Record<string, Rule>} */
  #rules = {}

  /** @param {Record<string, Rule>} rules */
  set rules(rules) {
    this.#rules = rules
    this.render()
  }

  /** Writes the buttons in the page's language. */
  render() {
    const { undo } = words()
    const rows = Object.entries(this.#rules)
      .filter(([, { by }]) => by === 'user')
      .map(([action, rule]) => {
        const name = actionName(action)
        const buttons = [this.#button(`${name} ${change(rule.points)}`, action, false)]
        if (rule.undo) buttons.push(Object.assign(this.#button(undo, action, true), { ariaLabel: `${undo}: ${name}` }))
        return make('div', {}, ...buttons)
      })
    $('actions').replaceChildren(...rows)
    const reads = READS.map(([word, path]) => {
      const button = make('button', { type: 'button' }, words()[word])
      button.addEventListener('click', () => this.#read(path(session.user ?? '')))
      return button
    })
    $('reads').replaceChildren(...reads)
  }

  /** Follows a change of the session. */
  showMember() {
    this.#client?.close()
    this.#client = null
    const { user, token } = session
    $('sign-in').hidden = Boolean(user)
    $('signed-in').hidden = !user
    $('news').textContent = ''
    if (!user || !token) return
    this.#client = new RecordedClient({ user, token, src: '/' })
    this.#client.addEventListener('result', ({ detail }) => this.#onResult(detail))
    this.#client.addEventListener('error', ({ message }) => {
      $('news').textContent = words().waiting(message)
    })
  }

  /**
   * @param {string} text
   * @param {string} action
   * @param {boolean} undo
   */
  #button(text, action, undo) {
    const button = make('button', { type: 'button' }, text)
    button.addEventListener('click', () => {
      const { value } = /** @type {HTMLInputElement} */ ($('target'))
      // The target of a visit is a path.
      const target = action === 'visit' && !value.startsWith('/') ? `/${value}` : value
      this.#client?.[undo ? 'undo' : 'track'](action, target)
    })
    return button
  }

  /** @param {string} path */
  async #read(path) {
    await recordedFetch(path, { headers: { authorization: `Bearer ${session.token}` } }).catch(() => {})
  }

  /** @param {{ activity: Activity, result: Result }} detail */
  #onResult({ activity: { action, undo }, result }) {
    const texts = words()
    const name = actionName(action)
    if (result.error) {
      const reason = result.error.detail ?? result.error.title
      $('news').textContent = texts.failed(undo ? texts.undo_of(name) : name, reason)
      return
    }
    const { outcome, points, standings } = result
    const message = [texts.outcomes[outcome](name, change(points))]
    if (standings?.day) {
      const { score, rank } = standings.day
      message.push(texts.standing(number(score), rank ? number(rank) : null))
    }
    $('news').textContent = message.join(texts.separator)
    reloadAll()
  }
}

/** @param {string} user */
const pathOf = (user) => `/v1/users/${encodeURIComponent(user)}`

const READS = /** @type {const} */ ([
  ['read_standings', (/** @type {string} */ user) => `${pathOf(user)}/standings`],
  ['read_points', (/** @type {string} */ user) => `${pathOf(user)}/points?limit=5`],
  ['read_board', () => '/v1/ranking/day?limit=3'],
])
