// Languages of the elements. Texts come from ../languages/*.js, number and date formats from Intl.

import { elements as english } from '../languages/en.js'
import { LANGUAGES } from '../languages/index.js'

const loaded = new Map() // promises by BCP 47 tag

/** Returns the language of an element: its own `lang`, that of an ancestor, the page or the browser. */
export function languageOf(element) {
  const tag = element.closest('[lang]')?.lang || document.documentElement.lang || navigator.language
  if (!loaded.has(tag)) loaded.set(tag, load(tag))
  return loaded.get(tag)
}

async function load(tag) {
  try {
    const { language, script } = new Intl.Locale(tag).maximize()
    if (language === 'en') return new Language(tag, english)
    const name = LANGUAGES.find((name) => name === language || name === `${language}-${script}`)
    if (name) return new Language(tag, (await import(`../languages/${name}.js`)).elements)
  } catch {
    // An invalid tag, or a file that failed to load.
  }
  return new Language('en', english)
}

class Language {
  #number

  constructor(tag, texts) {
    this.tag = tag
    this.texts = texts
    this.#number = new Intl.NumberFormat(tag, { maximumFractionDigits: 4 })
  }

  number(value) {
    return this.#number.format(value)
  }

  /** Formats a time, with the date unless that is today. */
  time(instant) {
    const isToday = new Date(instant).toDateString() === new Date().toDateString()
    const dateStyle = isToday ? undefined : 'medium'
    return new Intl.DateTimeFormat(this.tag, { timeStyle: 'short', dateStyle }).format(instant)
  }

  /** Formats a range of days in a time zone. */
  days(from, to, timeZone) {
    const fields = /** @type {const} */ ({ year: 'numeric', month: 'short', day: 'numeric' })
    return new Intl.DateTimeFormat(this.tag, { ...fields, timeZone }).formatRange(from, to)
  }
}
