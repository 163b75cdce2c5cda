// <activity-like>: a like button with its number, or the question whether a page was helpful. For members by their token, for
// other readers by the token of a visitor.

import { tokenOf } from '../client/identity.js'
import { baseOf, make, reflecting, write } from './dom.js'
import { like } from './like-style.js'
import { Box, send, storeVisitor, visitorOf } from './likes.js'
import { animate } from './motion.js'
import { common } from './style.js'
import { textsOf } from './texts.js'
import { warn } from './warnings.js'

const ATTRIBUTES = /** @type {const} */ (['src', 'target', 'type', 'user', 'theme', 'turnstile'])
/** The actions of each type. At most one of them stands. */
const ACTIONS = { __proto__: null, helpful: ['helpful', 'unhelpful'] }
const SVG = 'http://www.w3.org/2000/svg'
const HEART = 'M12 21C5 15 2 12 2 8a5 5 0 0 1 10-1 5 5 0 0 1 10 1c0 4-3 7-10 13z'
const POP = [{}, { transform: 'scale(1.3)' }, {}]
const SHOWN = 4e3 // ms of a text
const NO_TARGET = 'The attribute `target` is missing.'

// Scripts of the page that may set a token have run.
const pageIsReady = new Promise((resolve) => {
  if (document.readyState === 'complete') resolve(undefined)
  for (const name of ['DOMContentLoaded', 'load']) addEventListener(name, resolve)
})

function heart() {
  const [icon, path] = ['svg', 'path'].map((name) => document.createElementNS(SVG, name))
  icon.setAttribute('viewBox', '0 0 24 24')
  icon.setAttribute('aria-hidden', 'true')
  path.setAttribute('d', HEART)
  icon.append(path)
  return icon
}

export class ActivityLike extends reflecting(ATTRIBUTES, common + like) {
  static observedAttributes = [...ATTRIBUTES, 'lang']

  /** Sends every request; may be overridden. */
  static fetch = (url, options) => fetch(url, options)

  /** Returns a promise of a token of Turnstile for a new visitor, in place of the widget of the attribute `turnstile`. */
  static turnstile = null

  #token = null
  #question = make('span', { part: 'question' })
  #answers = make('div', { part: 'answers' })
  #status = make('p', { part: 'status', role: 'status' })
  #section = make('section', { part: 'like' })
  #buttons = [] // with action, name and count
  #language
  #box
  #watched = '' // target
  #state
  #isScheduled = false
  #fired = '' // the last event: load or error
  #timer

  constructor() {
    super()
    this.#section.append(make('div', {}, this.#answers, this.#status), make('slot'))
    this.shadowRoot.append(this.#section)
    // A token assigned before the element was defined shadows the setter.
    if (Object.hasOwn(this, 'token')) {
      this.#token = this.token
      delete this.token
    }
  }

  connectedCallback() {
    this.#update()
  }

  disconnectedCallback() {
    this.#box?.unwatch(this.#onState)
    this.#box = null
  }

  attributeChangedCallback(_name, before, after) {
    if (before !== after && this.isConnected) this.#update()
  }

  /**
   * The user token, or a function called before each request that returns it or a promise of it. It is write-only
   * and has no attribute, because HTML is stored, cached and read by other scripts. Without it the reader is a visitor.
   */
  set token(token) {
    this.#token = token
    if (this.isConnected) this.#update()
  }

  /** The numbers of the target by action; nothing before they are known. */
  get counts() {
    return this.#state?.counts
  }

  get #actions() {
    return ACTIONS[this.type] ?? ['like']
  }

  async #update() {
    this.#draw()
    if (this.#isScheduled) return
    this.#isScheduled = true
    // Otherwise the state of a visitor would show, and then that of the member.
    if (!this.#token) await pageIsReady
    await null
    this.#isScheduled = false
    this.#box?.unwatch(this.#onState)
    if (!this.isConnected) return
    if (!this.target) {
      console.warn(this, NO_TARGET)
      return this.#fail(NO_TARGET)
    }
    try {
      const user = this.#token && this.user
      const { fetch } = /** @type {typeof ActivityLike} */ (this.constructor)
      this.#box = Box.of(baseOf(this).href, this.#actions, fetch, user, this.#reader)
    } catch (error) {
      return this.#fail(String(error))
    }
    this.#state = null
    this.#watched = this.target
    this.#box.watch(this.target, this.#onState)
  }

  /** Returns the member with their token, else the visitor, who is a new one if `isWanted`. */
  #reader = async (isWanted) => {
    if (this.#token && this.user) {
      return { user: this.user, token: await tokenOf(this.#token) }
    }
    const { fetch, turnstile } = /** @type {typeof ActivityLike} */ (this.constructor)
    const widget = async () => (await import('../elements/turnstile.js')).default(this)
    return visitorOf(baseOf(this).href, fetch, isWanted, turnstile ?? (this.turnstile && widget))
  }

  /** Draws the buttons in the language of the element. */
  async #draw() {
    const [actions, language] = [this.#actions, await textsOf(this, 'like')]
    const { texts } = (this.#language = language)
    if (this.#buttons.map(({ action }) => action).join() !== actions.join()) {
      this.#buttons = actions.map((action) => this.#button(action))
      const isQuestion = actions.length > 1
      this.#answers.role = isQuestion ? 'group' : null
      this.#answers.replaceChildren(
        ...(isQuestion ? [this.#question] : []),
        ...this.#buttons.map(({ element }) => element),
      )
    }
    this.#section.lang = language.tag
    write(this.#question, texts.question)
    this.#answers.ariaLabel = actions.length > 1 ? texts.question : null
    for (const { action, name } of this.#buttons) write(name, texts[action])
    this.#show()
  }

  #button(action) {
    const name = make('span', { part: 'name' })
    const count = make('span', { part: 'count' })
    const icon = action === 'like' ? [heart()] : []
    const element = make('button', { part: `answer ${action}`, type: 'button' }, ...icon, name, ' ', count)
    element.onclick = () => this.#toggle(action, icon[0] ?? name)
    return { action, element, name, count }
  }

  #onState = (target, state) => {
    if (target !== this.#watched) return
    const { failure } = state
    if (failure) {
      const hint = failure.status === 400 ? `. Does its setting VISITORS contain ${this.#actions}?` : ''
      warn(this, baseOf(this).href, failure, hint)
      return this.#fail(failure.problem?.detail ?? String(failure))
    }
    this.#state = state
    this.#show()
    this.#fire(new Event('load'))
  }

  /** Shows the fallback content, or buttons without a number if there is none. */
  #fail(message) {
    this.#state = null
    this.#section.className = this.childElementCount ? 'failed' : 'loading'
    this.#fire(new ErrorEvent('error', { message }))
  }

  #fire(event) {
    if (this.#fired !== event.type) this.dispatchEvent(event)
    this.#fired = event.type
  }

  #show() {
    const [state, language] = [this.#state, this.#language]
    if (!language) return
    if (state || !this.#section.className) this.#section.className = state ? '' : 'loading'
    for (const { action, element, count } of this.#buttons) {
      const number = state?.counts[action] ?? 0
      write(count, language.compact(number))
      element.ariaPressed = String(state?.done[action] ?? false)
      element.ariaDisabled = String(!state)
    }
  }

  /** Shows the answer at once, and the saved one if it cannot be saved. */
  async #toggle(action, icon) {
    const [box, target, state] = [this.#box, this.#watched, this.#state]
    if (!state) return
    const isDone = !state.done[action]
    // At most one answer stands.
    box.answer(target, { ...Object.fromEntries(this.#actions.map((other) => [other, false])), [action]: isDone })
    if (isDone) animate(icon, POP, 300, 'ease-out')
    this.#announce('')
    const { texts } = this.#language
    const failure = await box.save(target, (changes) => this.#send(target, changes))
    if (failure) {
      if (failure.problem) warn(this, baseOf(this).href, failure)
      return this.#announce(failure.status === 429 ? texts.limited : texts.not_saved)
    }
    if (isDone && !state.counts[action]) this.#warnOfUnregistered(target)
    if (this.#state?.done[action] !== isDone) return
    if (this.#actions.length > 1 && isDone) this.#announce(texts.thanks)
    this.dispatchEvent(new CustomEvent('answer', { bubbles: true, detail: { target, action, done: isDone } }))
  }

  /** Says in the console that a target is not registered. */
  async #warnOfUnregistered(target) {
    const [base, { fetch }] = [baseOf(this).href, /** @type {typeof ActivityLike} */ (this.constructor)]
    await send(fetch, `${base}v1/targets/${encodeURIComponent(target)}`).catch((failure) => {
      if (failure.status === 404) warn(this, base, failure, ' Until it is registered, its number stays 0.')
    })
  }

  /** Sends changes of a target, and returns their results. A visitor whose token is not valid any more is replaced, once. */
  async #send(target, changes, isLast = false) {
    const [base, { fetch }] = [baseOf(this).href, /** @type {typeof ActivityLike} */ (this.constructor)]
    const { user, token } = await this.#reader(true)
    const activities = changes.map(([action, undo]) => ({ user, action, target, ...(undo && { undo }) }))
    try {
      return (await send(fetch, `${base}v1/activity`, token, activities)).results
    } catch (failure) {
      if (failure.status !== 401 || isLast || (this.#token && this.user)) throw failure
      storeVisitor(base, null)
      return this.#send(target, changes, true)
    }
  }

  /** Shows a text for some seconds, which screen readers announce. */
  #announce(text) {
    clearTimeout(this.#timer)
    write(this.#status, text)
    if (text) this.#timer = setTimeout(() => write(this.#status, ''), SHOWN)
  }
}
