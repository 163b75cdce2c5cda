// The language of the page: the moderator's choice, or the browser's.

import { LANGUAGES } from '../languages/index.js'

const STORAGE_KEY = 'activity-rank language'
const RIGHT_TO_LEFT = ['Adlm', 'Arab', 'Hebr', 'Nkoo', 'Rohg', 'Syrc', 'Thaa']

/** Returns the tags of the languages, each with its own name. */
export const languages = () =>
  LANGUAGES.map((tag) => ({ tag, name: new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? tag }))

/** Returns the tag of the language to begin with. */
export function preferred() {
  const wanted = [stored(), ...navigator.languages].filter((tag) => tag !== null)
  for (const tag of wanted) {
    const { language, script } = new Intl.Locale(tag).maximize()
    const found = LANGUAGES.find((name) => name === language || name === `${language}-${script}`)
    if (found) return found
  }
  return 'en'
}

/** @param {string} tag */
export function store(tag) {
  try {
    localStorage.setItem(STORAGE_KEY, tag)
  } catch {
    // Storage is unavailable.
  }
}

/**
 * Returns the direction of a language's script.
 * @param {string} tag
 */
export function direction(tag) {
  const { script = '' } = new Intl.Locale(tag).maximize()
  return RIGHT_TO_LEFT.includes(script) ? 'rtl' : 'ltr'
}

/**
 * Loads the texts of a language.
 * @param {string} tag
 * @returns {Promise<import('./types.js').Texts>}
 */
export const load = async (tag) => (await import(`../languages/${tag}.js`)).admin

function stored() {
  try {
    const tag = localStorage.getItem(STORAGE_KEY)
    return tag && Intl.getCanonicalLocales(tag)[0]
  } catch {
    return null
  }
}
