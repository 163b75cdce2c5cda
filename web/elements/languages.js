// The languages of the elements: texts from a file, numbers and dates from Intl.

import english from './languages/en.js'

// Each is languages/<name>.js; English stands in for others.
const NAMES = ['zh-Hans']

const known = new Map() // tag → promise

/** The language of an element: its own, that around it, of the page, of the browser. */
export function languageOf(element) {
  const tag = element.closest('[lang]')?.lang || document.documentElement.lang || navigator.language
  if (!known.has(tag)) known.set(tag, load(tag))
  return known.get(tag)
}

// The texts nearest to a tag (BCP 47).
async function load(tag) {
  try {
    const { language, script } = new Intl.Locale(tag).maximize()
    if (language === 'en') return new Language(tag, english)
    const name = NAMES.find((name) => name === language || name === `${language}-${script}`)
    if (name) return new Language(tag, (await import(`./languages/${name}.js`)).default)
  } catch {
    // No such tag, or a file that cannot be had.
  }
  return new Language('en', english)
}

class Language {
  #number

  constructor(tag, texts) {
    this.tag = tag
    this.texts = texts
    this.#number = new Intl.NumberFormat(tag, { maximumFractionDigits: 2 })
  }

  number(value) {
    return this.#number.format(value)
  }

  /** The time, and the date if it is not today's. */
  time(instant) {
    const other = new Date(instant).toDateString() !== new Date().toDateString()
    return new Intl.DateTimeFormat(this.tag, { timeStyle: 'short', ...(other && { dateStyle: 'medium' }) }).format(instant)
  }

  /** The days from one instant to another in a time zone. */
  days(from, to, timeZone) {
    const fields = { year: 'numeric', month: 'short', day: 'numeric', timeZone }
    return new Intl.DateTimeFormat(this.tag, fields).formatRange(from, to)
  }
}
