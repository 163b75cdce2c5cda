// Texts of the elements, from ../languages/*.js, and formats of numbers.

import * as english from '../languages/en.js'
import { LANGUAGES } from '../languages/index.js'

/** @type {Record<string, Promise<any>>} */
const loaded = {} // by kind and BCP 47 tag

/**
 * Returns the texts of an element in its language: its own `lang`, that of an ancestor, the page or the browser. `kind` is the
 * name of the element's texts, beside the common ones.
 * @param {Element & { lang?: string }} element
 * @param {string} kind
 */
export function textsOf(element, kind) {
  const given =
    /** @type {any} */ (element.closest('[lang]'))?.lang || document.documentElement.lang || navigator.language
  const tag = given.replaceAll('_', '-')
  return (loaded[`${kind} ${tag}`] ??= load(tag, kind))
}

async function load(tag, kind) {
  const of = (module) => ({
    tag,
    texts: { ...module.elements, ...module[kind] },
    number: new Intl.NumberFormat(tag, { maximumFractionDigits: 4 }).format,
    compact: new Intl.NumberFormat(tag, { notation: 'compact', maximumFractionDigits: 1 }).format,
  })
  try {
    const { language, script } = new Intl.Locale(tag).maximize()
    const name = LANGUAGES.find((name) => [language, `${language}-${script}`].includes(name))
    if (name && name !== 'en') return of(await import(`../languages/${name}.js`))
    if (!name) tag = 'en'
  } catch {
    // An invalid tag, or a file that failed to load.
    tag = 'en'
  }
  return of(english)
}
