// A text that the browser keeps, where it allows that.

export class Stored {
  #key
  #storage

  /**
   * @param {string} name
   * @param {() => Storage} storage that of all tabs by default
   */
  constructor(name, storage = () => localStorage) {
    this.#key = `activity-rank ${name}`
    this.#storage = storage
  }

  /** Returns the text; null without one, and where storage is unavailable. */
  get() {
    try {
      return this.#storage().getItem(this.#key)
    } catch {
      return null
    }
  }

  /** @param {string | null} text null removes it */
  set(text) {
    try {
      if (text === null) this.#storage().removeItem(this.#key)
      else this.#storage().setItem(this.#key, text)
    } catch {
      // It holds until the page is left.
    }
  }
}
