// What a member does here: signs in, likes, takes it back, and sees the points move.

import { Client } from '../client.js'

const ACTIONS = ['like', 'bookmark', 'comment']

const $ = (id) => document.getElementById(id)

export class Member {
  #board
  #words
  #client
  #buttons = []

  constructor({ board, words }) {
    this.#board = board
    this.#words = words
    for (const action of ACTIONS) this.#offer(action)
    $('sign-in').addEventListener('submit', (event) => {
      event.preventDefault()
      const token = $('token').value.trim()
      $('token').value = ''
      this.signIn(token)
    })
    $('leave').addEventListener('click', () => this.#signOut())
  }

  /** Writes its buttons in the page's language. */
  label() {
    const words = this.#words()
    for (const { button, action, undo } of this.#buttons) {
      button.textContent = undo ? words.undo : words[action]
      button.ariaLabel = undo ? `${words.undo}: ${words[action]}` : null
    }
  }

  /** As whom the token says. It is kept in this page, and nowhere else. */
  signIn(token) {
    const user = subjectOf(token)
    if (!user) return this.#say(this.#words().not_token)
    this.#client?.close()
    this.#client = new Client({ user, token, src: '/' })
    this.#client.addEventListener('result', ({ detail }) => this.#tell(detail))
    this.#client.addEventListener('error', ({ message }) => this.#say(this.#words().waits(message)))
    $('who').textContent = user
    this.#show(true)
    this.#board.setAttribute('user', user)
    const { lang } = document.documentElement
    const heatmap = document.createElement('activity-heatmap')
    heatmap.token = token
    for (const [name, value] of Object.entries({ user, src: '/', lang })) heatmap.setAttribute(name, value)
    $('history').replaceChildren(heatmap)
    this.#say('')
  }

  #signOut() {
    this.#client.close()
    this.#client = null
    this.#show(false)
    this.#board.removeAttribute('user')
    $('history').replaceChildren()
    this.#say('')
    $('sign-in').querySelector('input, select').focus()
  }

  #show(isSignedIn) {
    $('sign-in').hidden = isSignedIn
    $('signed-in').hidden = !isSignedIn
  }

  #offer(action) {
    const row = document.createElement('div')
    for (const undo of [false, true]) {
      const button = document.createElement('button')
      button.type = 'button'
      button.addEventListener('click', () => this.#client[undo ? 'undo' : 'track'](action, $('target').value))
      this.#buttons.push({ button, action, undo })
      row.append(button)
    }
    $('actions').append(row)
  }

  #tell({ activity: { action, undo }, result }) {
    const words = this.#words()
    const name = undo ? words.taken_back(words[action]) : words[action]
    const { outcome, points, standings, error } = result
    if (error) return this.#say(words.failed(name, error.detail))
    const { lang } = document.documentElement
    const signed = points && new Intl.NumberFormat(lang, { signDisplay: 'always' }).format(points)
    const { score, rank } = standings?.day ?? {}
    const number = (value) => value && new Intl.NumberFormat(lang).format(value)
    const place = standings?.day ? words.place(number(score), number(rank)) : ''
    this.#say(`${words.told(name, words.outcomes[outcome], signed)} ${place}`.trim())
    this.#board.reload()
    $('history').firstElementChild?.reload()
  }

  #say(text) {
    $('news').textContent = text
  }
}

// Who a token is for: read, not checked, which is the service's part.
function subjectOf(token) {
  try {
    const bytes = atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/'))
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0)))).sub
  } catch {
    return null
  }
}
