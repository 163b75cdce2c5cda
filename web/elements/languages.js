// Languages of the elements: their texts, and formats of dates and times from Intl.

import { textsOf } from './texts.js'

const HALF_DAY = 432e5 // ms; from a bound into the adjacent day, in spite of DST

/** Returns the language of an element, see {@link textsOf}. */
export const languageOf = async (element, kind) => Object.assign(new Language(), await textsOf(element, kind))

class Language {
  /**
   * Returns the share of members at or above a rank, or no text for the lower half.
   * @this {any}
   */
  top(rank, total) {
    const share = Math.ceil((100 * rank) / total)
    return rank && share <= 50 ? this.texts.top(this.number(share)) : ''
  }

  /**
   * Formats a time, with the date unless that is today.
   * @this {any}
   */
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

  /**
   * Formats a duration in ms by its two largest units, `short` or `narrow`.
   * @this {any}
   */
  duration(ms, unitDisplay) {
    const minutes = Math.max(1, Math.ceil(ms / 6e4))
    const [day, hour] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24]
    const units = day > 6 ? { day } : day ? { day, hour } : { hour, minute: minutes % 60 }
    return Object.entries(units)
      .filter(([, count]) => count)
      .map(([unit, count]) => new Intl.NumberFormat(this.tag, { style: 'unit', unit, unitDisplay }).format(count))
      .join(' ')
  }

  /** @this {any} */
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
