// The language of a page: one file for each in /languages/.

import { LANGUAGES } from '../languages/index.js'
import { embedded } from './dom.js'
import { store, stored } from './storage.js'

/** @import { PageTexts } from './texts.d.ts' */

const STORAGE_KEY = 'activity-rank language'
const RIGHT_TO_LEFT = ['Adlm', 'Arab', 'Hebr', 'Nkoo', 'Rohg', 'Syrc', 'Thaa']

/** @type {PageTexts} */
let current

/** Returns the texts of the page's language. */
export const words = () => current

/** Returns the page's language as a BCP 47 tag. */
export const language = () => document.documentElement.lang

/**
 * Fills the menu of languages, and writes the page in the language that the reader has selected, or in the browser's.
 * @param {HTMLSelectElement} select
 * @param {() => void} [onChange] called after each selection
 * @param {string} [part] the export of the language files
 */
export async function startLanguage(select, onChange = () => {}, part = 'pages') {
  select.replaceChildren(...LANGUAGES.map(option))
  await setLanguage(preferredLanguage(), part)
  select.value = language()
  select.addEventListener('change', async () => {
    storeLanguage(select.value)
    await setLanguage(select.value, part)
    onChange()
  })
}

/**
 * @param {string} tag
 * @param {string} part
 */
async function setLanguage(tag, part) {
  current = (await import(`../languages/${tag}.js`))[part]
  const root = document.documentElement
  root.lang = tag
  root.dir = directionOf(tag)
  label(document)
  for (const element of embedded()) element.lang = tag
}

/**
 * Writes the texts of `data-word`, and the accessible names of `data-word-label`.
 * @param {ParentNode} parent
 */
export function label(parent) {
  const texts = /** @type {Record<string, any>} */ (current)
  for (const element of parent.querySelectorAll('[data-word], [data-word-label]')) {
    const { word, wordLabel } = /** @type {HTMLElement} */ (element).dataset
    if (word) element.textContent = texts[word]
    if (wordLabel) element.ariaLabel = texts[wordLabel]
  }
}

/** @param {string} tag */
function option(tag) {
  const name = new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? tag
  return Object.assign(new Option(name, tag), { lang: tag })
}

/**
 * Returns the direction of a language's script.
 * @param {string} tag
 */
export const directionOf = (tag) => (RIGHT_TO_LEFT.includes(scriptOf(tag)) ? 'rtl' : 'ltr')

/** @param {string} tag */
const scriptOf = (tag) => new Intl.Locale(tag).maximize().script ?? ''

/**
 * Returns whether a text is a BCP 47 tag: a browser in the locale of POSIX prefers `en-US@posix`.
 * @param {string} text
 */
function isTag(text) {
  try {
    return Boolean(Intl.getCanonicalLocales(text))
  } catch {
    return false
  }
}

/** Returns the first language that the reader has selected or set in the browser; English if there is none. */
export function preferredLanguage() {
  for (const wanted of [stored(STORAGE_KEY), ...navigator.languages]) {
    if (!wanted || !isTag(wanted)) continue
    const { language } = new Intl.Locale(wanted)
    const tag = LANGUAGES.find(
      (tag) => new Intl.Locale(tag).language === language && scriptOf(tag) === scriptOf(wanted),
    )
    if (tag) return tag
  }
  return 'en'
}

/**
 * Remembers the language that the reader has selected.
 * @param {string} tag
 */
export const storeLanguage = (tag) => store(STORAGE_KEY, tag)

/**
 * Formats a number or a number of points.
 * @param {number} value
 * @param {Intl.NumberFormatOptions} [options]
 */
export const number = (value, options = {}) =>
  new Intl.NumberFormat(language(), { maximumFractionDigits: 4, ...options }).format(value)

/**
 * Formats a change of points, with its sign.
 * @param {number} value
 */
export const change = (value) => number(value, { signDisplay: 'exceptZero' })

/**
 * Formats an instant.
 * @param {string} instant RFC 3339
 */
export const time = (instant) =>
  new Intl.DateTimeFormat(language(), { dateStyle: 'medium', timeStyle: 'short' }).format(Date.parse(instant))

/**
 * Formats the day of an instant.
 * @param {string} instant RFC 3339
 */
export const dayOf = (instant) =>
  new Intl.DateTimeFormat(language(), { dateStyle: 'medium' }).format(Date.parse(instant))

/**
 * Formats the days from an instant to another, which is not included.
 * @param {string} from RFC 3339
 * @param {string} to
 * @param {string} [timeZone] of the days; the reader's by default
 */
export function days(from, to, timeZone) {
  const fields = /** @type {const} */ ({ year: 'numeric', month: 'short', day: 'numeric' })
  return new Intl.DateTimeFormat(language(), { ...fields, timeZone }).formatRange(Date.parse(from), Date.parse(to) - 1)
}

/**
 * Formats a day without its year.
 * @param {string} day `2026-11-20`
 */
export const date = (day) =>
  new Intl.DateTimeFormat(language(), { month: 'short', day: 'numeric', timeZone: 'UTC' }).format(Date.parse(day))

/**
 * Formats a day with its weekday and its year.
 * @param {string} day `2026-11-20`
 */
export const weekday = (day) =>
  new Intl.DateTimeFormat(language(), { dateStyle: 'full', timeZone: 'UTC' }).format(Date.parse(day))

/**
 * Formats a month.
 * @param {string} month `2026-11`
 */
export const monthOf = (month) =>
  new Intl.DateTimeFormat(language(), { year: 'numeric', month: 'long', timeZone: 'UTC' }).format(Date.parse(month))
