// The signed-in member. A site signs its member in with a link: https://…/#token=<user token>

import { store, stored } from './storage.js'

const TOKEN_KEY = 'activity-rank token'
const USER_KEY = 'activity-rank user'
const MAX_DELAY = 2 ** 31 - 1 // ms of a timer

/** Whether the page is in a frame. Against clickjacking, a framed page has no member and no controls. */
export const isFramed = self !== top

/** @import { Notice } from './texts.d.ts' */
/** @typedef {{ status: number, body: any }} Answer status 0 without a response */

/**
 * The session of this tab. It dispatches `change` after each sign-in and sign-out. The token is in sessionStorage, which
 * ends with the tab.
 */
class Session extends EventTarget {
  /** @type {string | null} */
  user = null
  /** @type {string | null} */
  token = null
  /**
   * Why the member was signed out, or not signed in.
   * @type {Notice | null}
   */
  notice = null
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  /** @type {Promise<Answer> | null} */
  #profile = null

  /** Signs in by the token of the address, or by that of the tab. */
  start() {
    if (isFramed) return
    const token = takeToken()
    if (token !== null) this.signIn(token)
    else this.#restore()
    addEventListener('hashchange', () => {
      const token = takeToken()
      if (token !== null) this.signIn(token)
    })
  }

  /**
   * Signs in the user of a token, whom the service names.
   * @param {string} token
   */
  async signIn(token) {
    const claims = claimsOf(token)
    if (!claims) return this.signOut('invalid_token')
    const remaining = claims.exp * 1000 - Date.now()
    if (remaining <= 0) return this.signOut('expired_token')
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#expire(), Math.min(remaining, MAX_DELAY))
    const known = token === stored(TOKEN_KEY, 'session') ? stored(USER_KEY, 'session') : null
    store(TOKEN_KEY, token, 'session')
    this.token = token
    if (known) this.#enter(known)
    else this.user = null
    // The service knows whom its claims mean, and whether it accepts them.
    const { status, body } = await this.request('/v1/token')
    if (token !== this.token) return
    if (status === 403) return this.signOut('rejected_token')
    const user = status === 200 ? body.user : (known ?? claims.sub)
    if (user && user !== this.user) this.#enter(user)
  }

  /** @param {string} user */
  #enter(user) {
    store(USER_KEY, user, 'session')
    Object.assign(this, { user, notice: null })
    this.#profile = null
    this.dispatchEvent(new Event('change'))
  }

  /** @param {Notice | null} notice */
  signOut(notice = null) {
    clearTimeout(this.#timer)
    store(TOKEN_KEY, null, 'session')
    store(USER_KEY, null, 'session')
    Object.assign(this, { user: null, token: null, notice })
    this.dispatchEvent(new Event('change'))
  }

  /**
   * Sends a request of the member. A rejected token signs out.
   * @param {string} path
   * @param {{ method?: string, body?: object }} [options]
   * @returns {Promise<Answer>}
   */
  async request(path, { method = 'GET', body } = {}) {
    const { token } = this
    const answer = await send(path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
    })
    if (answer.status === 401 && token === this.token) this.signOut('rejected_token')
    return answer
  }

  /** Returns the member's profile as it was after the sign-in: 404 without one. */
  get profile() {
    return (this.#profile ??= this.request(this.#path))
  }

  get #path() {
    return `/v1/users/${encodeURIComponent(this.user ?? '')}`
  }

  #restore() {
    const token = stored(TOKEN_KEY, 'session')
    if (token) this.signIn(token)
  }

  #expire() {
    const claims = claimsOf(this.token ?? '')
    if (claims && claims.exp * 1000 > Date.now()) this.signIn(this.token ?? '')
    else this.signOut('expired_token')
  }
}

export const session = new Session()

/**
 * Sends a request without credentials.
 * @param {string} path
 * @returns {Promise<Answer>}
 */
export const read = (path) => send(path, {})

/**
 * @param {string} path
 * @param {RequestInit} options
 * @returns {Promise<Answer>}
 */
async function send(path, options) {
  try {
    const response = await fetch(path, options)
    const { status } = response
    return { status, body: status === 204 ? null : await response.json() }
  } catch {
    return { status: 0, body: null }
  }
}

/** Takes the token out of the address, so that it is in no history and no bookmark. */
function takeToken() {
  const parts = location.hash.slice(1).split('&')
  const token = parts.find((part) => part.startsWith('token='))
  if (token === undefined) return null
  const rest = parts.filter((part) => part !== token).join('&')
  history.replaceState(null, '', `${location.pathname}${location.search}${rest && `#${rest}`}`)
  return token.slice('token='.length)
}

/**
 * Returns the claims of a token, or null.
 * @param {string} token
 * @returns {{ sub: string, exp: number } | null}
 */
function claimsOf(token) {
  try {
    const bytes = atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/'))
    const { sub, exp } = JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0))))
    return typeof exp === 'number' ? { sub: typeof sub === 'string' ? sub : '', exp } : null
  } catch {
    return null
  }
}
