// Texts of the elements, from ../languages/*.js, and formats of numbers.

import * as english from '../languages/en.js'
import { LANGUAGES } from '../languages/index.js'

const loaded = new Map() // promises by kind and BCP 47 tag

/**
 * Returns the texts of an element in its language: its own `lang`, that of an ancestor, the page or the browser. `kind` is the
 * name of the element's texts, beside the common ones.
 * @param {Element & { lang?: string }} element
 * @param {string} kind
 * @param {typeof Texts} [Type]
 */
export function textsOf(element, kind, Type = Texts) {
  const given =
    /** @type {any} */ (element.closest('[lang]'))?.lang || document.documentElement.lang || navigator.language
  const tag = given.replaceAll('_', '-')
  const key = `${kind} ${tag}`
  if (!loaded.has(key)) loaded.set(key, load(tag, kind, Type))
  return loaded.get(key)
}

async function load(tag, kind, Type) {
  try {
    const { language, script } = new Intl.Locale(tag).maximize()
    if (language === 'en') return new Type(tag, english, kind)
    const name = LANGUAGES.find((name) => name === language || name === `${language}-${script}`)
    if (name) return new Type(tag, await import(`../languages/${name}.js`), kind)
  } catch {
    // An invalid tag, or a file that failed to load.
  }
  return new Type('en', english, kind)
}

export class Texts {
  constructor(tag, module, kind) {
    this.tag = tag
    this.texts = { ...module.elements, ...module[kind] }
    this.number = new Intl.NumberFormat(tag, { maximumFractionDigits: 4 }).format
    this.compact = new Intl.NumberFormat(tag, { notation: 'compact', maximumFractionDigits: 1 }).format
  }
}
