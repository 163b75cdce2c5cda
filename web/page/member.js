// The demo for members: sign in with a token, like, undo, and see the points change.

/** @import { Activity, Result } from '../client.js' */
/** @typedef {HTMLElement & { reload(): void }} LiveElement */

import { Client } from '../client.js'
import { $, make } from './dom.js'
import { words } from './words.js'

const ACTIONS = ['like', 'bookmark', 'comment']

export class Member {
  #board
  /** @type {Client | null} */
  #client = null
  /** @type {{ button: HTMLButtonElement, action: string, undo: boolean }[]} */
  #buttons = []

  /** @param {HTMLElement} board */
  constructor(board) {
    this.#board = /** @type {LiveElement} */ (board)
    for (const action of ACTIONS) this.#addButtons(action)
    $('sign-in').addEventListener('submit', (event) => {
      event.preventDefault()
      const input = /** @type {HTMLInputElement} */ ($('token'))
      const token = input.value.trim()
      input.value = ''
      this.signIn(token)
    })
    $('leave').addEventListener('click', () => this.#signOut())
  }

  /** Sets the buttons' labels in the page's language. */
  label() {
    const { actions, labels } = words()
    for (const { button, action, undo } of this.#buttons) {
      button.textContent = undo ? labels.undo : actions[action]
      button.ariaLabel = undo ? `${labels.undo}: ${actions[action]}` : null
    }
  }

  /**
   * Signs in the user of a token. The token is kept in memory only.
   * @param {string} token
   */
  signIn(token) {
    const user = subjectOf(token)
    if (!user) return this.#setMessage(words().labels.invalid_token)
    this.#client?.close()
    this.#client = new Client({ user, token, src: '/' })
    this.#client.addEventListener('result', ({ detail }) => this.#onResult(detail))
    this.#client.addEventListener('error', ({ message }) => this.#setMessage(words().waiting(message)))
    $('who').textContent = user
    this.#setSignedIn(true)
    this.#board.setAttribute('user', user)
    const { lang } = document.documentElement
    const heatmap = Object.assign(document.createElement('activity-heatmap'), { token })
    for (const [name, value] of Object.entries({ user, src: '/', lang })) heatmap.setAttribute(name, value)
    $('history').replaceChildren(heatmap)
    this.#setMessage('')
  }

  #signOut() {
    this.#client?.close()
    this.#client = null
    this.#setSignedIn(false)
    this.#board.removeAttribute('user')
    $('history').replaceChildren()
    this.#setMessage('')
    /** @type {HTMLElement | null} */
    const field = $('sign-in').querySelector('input, select')
    field?.focus()
  }

  /** @param {boolean} isSignedIn */
  #setSignedIn(isSignedIn) {
    $('sign-in').hidden = isSignedIn
    $('signed-in').hidden = !isSignedIn
  }

  /** @param {string} action */
  #addButtons(action) {
    const row = make('div', {})
    for (const undo of [false, true]) {
      const button = make('button', { type: 'button' })
      button.addEventListener('click', () => {
        const { value } = /** @type {HTMLInputElement} */ ($('target'))
        this.#client?.[undo ? 'undo' : 'track'](action, value)
      })
      this.#buttons.push({ button, action, undo })
      row.append(button)
    }
    $('actions').append(row)
  }

  /** @param {{ activity: Activity, result: Result }} detail */
  #onResult({ activity: { action, undo }, result }) {
    const { actions, ...texts } = words()
    const name = actions[action]
    if (result.error)
      return this.#setMessage(texts.failed(undo ? texts.undo(name) : name, result.error.detail ?? result.error.title))
    const { outcome, points, standings } = result
    const { lang } = document.documentElement
    const maximumFractionDigits = 4
    const number = new Intl.NumberFormat(lang, { maximumFractionDigits })
    const change = new Intl.NumberFormat(lang, { maximumFractionDigits, signDisplay: 'exceptZero' }).format(points)
    const message = [texts.outcomes[outcome](name, change)]
    if (standings?.day) {
      const { score, rank } = standings.day
      message.push(texts.standing(number.format(score), rank ? number.format(rank) : null))
    }
    this.#setMessage(message.join(texts.separator))
    this.#board.reload()
    const heatmap = /** @type {LiveElement | null} */ ($('history').firstElementChild)
    heatmap?.reload()
  }

  /** @param {string} text */
  #setMessage(text) {
    $('news').textContent = text
  }
}

/**
 * Returns the user of a token, or null. Only the service verifies the signature.
 * @param {string} token
 * @returns {string | null}
 */
function subjectOf(token) {
  try {
    const bytes = atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/'))
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0)))).sub
  } catch {
    return null
  }
}
