// What <activity-heatmap> and <activity-card> share: one document of the API that is loading, shown, or replaced by the
// element's fallback content.

import { make, secondsOf, write } from './dom.js'
import { languageOf } from './languages.js'
import { Poll } from './poll.js'

export class Panel {
  #host
  #options
  #status = make('p', { part: 'status', role: 'status' })
  #section
  #isScheduled = false
  #requestedLanguage // promise
  #language
  #source
  #shown // data on display
  #fired = '' // the last event: load or error
  #invalid // error of attributes from which no URL can be made
  #announced = ''
  #isBroken = false // whether the last error is reported

  /**
   * @param {HTMLElement & { refresh: string }} host
   * @param {object} options
   * @param {string} options.part of the section, and name of the element's texts
   * @param {Node[]} options.content of the section
   * @param {() => string | undefined} options.urlOf returns the URL; nothing to show without one
   * @param {() => (url: string, options: RequestInit) => Promise<Response>} options.fetchOf
   * @param {() => void} [options.clear] called before data is requested
   * @param {(data: any, language: any) => void} options.show
   * @param {(language: any) => void} [options.label] writes texts that do not depend on the data
   */
  constructor(host, options) {
    this.#host = host
    this.#options = options
    this.#section = make('section', { part: options.part, role: 'group' })
    this.#section.append(make('div', { part: 'content' }, ...options.content), make('slot'), this.#status)
    host.shadowRoot.append(this.#section)
    this.setState('failed idle')
  }

  get section() {
    return this.#section
  }

  /** Follows the attributes, all that change in one task at once. */
  update() {
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#setSource()
      this.#setLanguage()
      this.#onInvalid()
    })
  }

  /** Forgets the data, which another request may not be allowed to see. */
  reset() {
    this.#source?.unwatch(this.#onData)
    this.#source = null
  }

  reload() {
    this.#source?.refresh()
  }

  setState(state) {
    this.#section.className = state
    this.#section.ariaBusy = String(state === 'loading')
  }

  /** Shows a text, which screen readers announce, while the connection has no state to show. */
  announce(text) {
    this.#announced = text
    write(this.#status, text)
  }

  #setSource() {
    this.#invalid = null
    let url
    try {
      if (this.#host.isConnected) url = this.#options.urlOf()
    } catch (error) {
      this.#invalid = error
    }
    if (!this.#source || this.#source.url !== url) {
      this.reset()
      this.#source = url && Poll.of(this.#options.fetchOf(), url)
      this.#fired = ''
      this.#shown = null
      this.announce('')
      this.setState(url ? 'loading' : 'failed idle')
      this.#options.clear?.()
    }
    this.#source?.watch(this.#onData, secondsOf(this.#host, 60))
  }

  async #setLanguage() {
    const requested = languageOf(this.#host, this.#options.part)
    if (requested === this.#requestedLanguage) return
    this.#requestedLanguage = requested
    const language = await requested
    if (requested !== this.#requestedLanguage) return
    this.#language = language
    this.#shown = null
    this.#section.lang = language.tag
    this.#section.ariaLabel = language.texts.label
    this.#options.label?.(language)
    this.#onInvalid()
    if (this.#source) this.#onData(this.#source.state)
  }

  #onInvalid() {
    if (this.#language && this.#invalid) this.#break(this.#invalid)
  }

  /** Reports an error, once until data is drawn, and shows the fallback content. */
  #break(error) {
    if (!this.#isBroken) reportError(error)
    this.#isBroken = true
    this.#fail(String(error))
  }

  #onData = ({ data, at, failure }) => {
    if (!this.#language) return
    const { texts } = this.#language
    if (data && data !== this.#shown) {
      try {
        this.setState('')
        this.#options.show(data, this.#language)
        this.#shown = data
        this.#isBroken = false
      } catch (error) {
        // The next response is drawn again.
        return this.#break(error)
      }
    }
    if (data) {
      const status = failure?.offline ? texts.offline : texts.failed
      write(this.#status, failure ? status(this.#language.time(at)) : this.#announced)
      this.#fire(new Event('load'))
    } else if (failure) {
      this.#fail(failure.problem?.detail ?? `status ${failure.status}`, failure.status === 404)
    }
  }

  /** Shows the fallback content, or a text if there is none. */
  #fail(message, isUnknown = false) {
    const hasFallback = this.#host.childElementCount > 0 || this.#host.textContent.trim() !== ''
    this.setState('failed')
    write(this.#status, hasFallback ? '' : this.#language.texts[isUnknown ? 'not_found' : 'not_loaded'])
    this.#fire(new ErrorEvent('error', { message }))
  }

  /** Dispatches `error` and then `load` at most once for each source, as images do. */
  #fire(event) {
    if (this.#fired === event.type || this.#fired === 'load') return
    this.#fired = event.type
    this.#host.dispatchEvent(event)
  }
}
