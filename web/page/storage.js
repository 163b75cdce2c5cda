// Texts that the browser keeps for a page: for the tab (`session`), or for all visits (`local`). Storage may be unavailable:
// the page then keeps nothing.

/** @typedef {'local' | 'session'} Kind */

/**
 * Returns a stored text; null without one.
 * @param {string} key
 * @param {Kind} [kind]
 */
export function stored(key, kind = 'local') {
  try {
    return storageOf(kind).getItem(key)
  } catch {
    return null
  }
}

/**
 * Stores a text; null removes it.
 * @param {string} key
 * @param {string | null} text
 * @param {Kind} [kind]
 */
export function store(key, text, kind = 'local') {
  try {
    if (text === null) storageOf(kind).removeItem(key)
    else storageOf(kind).setItem(key, text)
  } catch {
    // Unavailable or full.
  }
}

/** @param {Kind} kind */
const storageOf = (kind) => (kind === 'local' ? localStorage : sessionStorage)
