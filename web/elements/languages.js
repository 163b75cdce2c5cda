// Languages of the elements. Texts come from ../languages/*.js, number and date formats from Intl.

import * as english from '../languages/en.js'
import { LANGUAGES } from '../languages/index.js'

const HALF_DAY = 432e5 // ms; from a bound into the adjacent day, in spite of DST

const loaded = new Map() // promises by kind and BCP 47 tag

/**
 * Returns the language of an element: its own `lang`, that of an ancestor, the page or the browser. `kind` is the name of
 * the element's texts, beside the common ones.
 */
export function languageOf(element, kind) {
  const given = element.closest('[lang]')?.lang || document.documentElement.lang || navigator.language
  const tag = given.replaceAll('_', '-')
  const key = `${kind} ${tag}`
  if (!loaded.has(key)) loaded.set(key, load(tag, kind))
  return loaded.get(key)
}

async function load(tag, kind) {
  try {
    const { language, script } = new Intl.Locale(tag).maximize()
    if (language === 'en') return new Language(tag, english, kind)
    const name = LANGUAGES.find((name) => name === language || name === `${language}-${script}`)
    if (name) return new Language(tag, await import(`../languages/${name}.js`), kind)
  } catch {
    // An invalid tag, or a file that failed to load.
  }
  return new Language('en', english, kind)
}

class Language {
  constructor(tag, module, kind) {
    this.tag = tag
    this.texts = { ...module.elements, ...module[kind] }
    this.number = new Intl.NumberFormat(tag, { maximumFractionDigits: 4 }).format
    this.compact = new Intl.NumberFormat(tag, { notation: 'compact', maximumFractionDigits: 1 }).format
  }

  /** Returns the share of members at or above a rank, or no text for the lower half. */
  top(rank, total) {
    const share = Math.ceil((100 * rank) / total)
    return rank && share <= 50 ? this.texts.top(this.number(share)) : ''
  }

  /** Formats a time, with the date unless that is today. */
  time(instant) {
    const isToday = new Date(instant).toDateString() === new Date().toDateString()
    const dateStyle = isToday ? undefined : 'medium'
    return new Intl.DateTimeFormat(this.tag, { timeStyle: 'short', dateStyle }).format(instant)
  }

  /** Formats a range of days in a time zone. */
  days(from, to, timeZone, year = true) {
    const fields = /** @type {const} */ ({ month: 'short', day: 'numeric' })
    return this.#range(from, to, { ...fields, year: year ? 'numeric' : undefined, timeZone })
  }

  /** Formats the year, the month or the days of a period. The short form leaves out the current year. */
  period({ kind, start, end, timezone: timeZone }, isShort = false) {
    const [from, to] = [Date.parse(start) + HALF_DAY, Date.parse(end) - HALF_DAY]
    if (kind === 'year') return this.#range(from, to, { year: 'numeric', timeZone })
    const month = isShort ? 'short' : 'long'
    if (kind === 'month') return this.#range(from, to, { year: 'numeric', month, timeZone })
    return this.days(from, to, timeZone, !isShort || new Date(from).getFullYear() !== new Date().getFullYear())
  }

  /** Formats a duration in ms by its two largest units, `short` or `narrow`. */
  duration(ms, unitDisplay) {
    const minutes = Math.max(1, Math.ceil(ms / 6e4))
    const [day, hour] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24]
    const units = day > 6 ? { day } : day ? { day, hour } : { hour, minute: minutes % 60 }
    return Object.entries(units)
      .filter(([, count]) => count)
      .map(([unit, count]) => new Intl.NumberFormat(this.tag, { style: 'unit', unit, unitDisplay }).format(count))
      .join(' ')
  }

  #range(from, to, { timeZone, ...options }) {
    return new Intl.DateTimeFormat(this.tag, { ...options, timeZone: knownZone(timeZone) }).formatRange(from, to)
  }
}

/** Returns the date of an instant in a time zone: 2026-11-20. */
export const dateOf = (instant, timeZone) =>
  new Intl.DateTimeFormat('sv', { timeZone: knownZone(timeZone) }).format(instant)

/** Returns a time zone, or UTC for one that the browser does not know. Days are named by their noon, so most stay right. */
function knownZone(timeZone) {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    return timeZone
  } catch {
    return 'UTC'
  }
}
