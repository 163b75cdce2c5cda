// Numbers, dates and durations in the page's language.

const UNITS = /** @type {const} */ ([
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
])

export class Format {
  #tag

  /** @param {string} tag */
  constructor(tag) {
    this.#tag = tag
  }

  /**
   * Formats a number with a minus sign: `Intl` writes a hyphen in many languages.
   * @param {number} value
   * @param {Intl.NumberFormatOptions} [options]
   */
  number(value, options = { maximumFractionDigits: 4 }) {
    const parts = new Intl.NumberFormat(this.#tag, options).formatToParts(value)
    return parts.map(({ type, value }) => (type === 'minusSign' ? value.replace('-', '−') : value)).join('')
  }

  /** @param {number} value */
  signed(value) {
    return this.number(value, { maximumFractionDigits: 4, signDisplay: 'exceptZero' })
  }

  /** @param {number} value */
  percent(value) {
    return this.number(value, { style: 'percent', signDisplay: 'exceptZero', maximumFractionDigits: 0 })
  }

  /** @param {number} value */
  share(value) {
    return this.number(value, { style: 'percent', maximumFractionDigits: 0 })
  }

  /** @param {number} value */
  compact(value) {
    return this.number(value, { notation: 'compact' })
  }

  /**
   * Formats an instant, by default in the moderator's time zone.
   * @param {string} instant RFC 3339
   * @param {string} [timeZone]
   */
  time(instant, timeZone) {
    const options = /** @type {const} */ ({ dateStyle: 'medium', timeStyle: 'short', timeZone })
    return new Intl.DateTimeFormat(this.#tag, options).format(new Date(instant))
  }

  /**
   * Formats a day, which has no time zone.
   * @param {string} date `YYYY-MM-DD`
   * @param {'short' | 'full'} [length]
   */
  day(date, length = 'short') {
    /** @type {Intl.DateTimeFormatOptions} */
    const options =
      length === 'full' ? { weekday: 'short', month: 'short', day: 'numeric' } : { month: 'short', day: 'numeric' }
    return new Intl.DateTimeFormat(this.#tag, { ...options, timeZone: 'UTC' }).format(new Date(`${date}T00:00:00Z`))
  }

  /**
   * Formats a duration by its largest unit.
   * @param {number} seconds
   */
  duration(seconds) {
    const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? ['second', 1]
    const value = Math.floor(Math.max(seconds, 0) / size)
    return new Intl.NumberFormat(this.#tag, { style: 'unit', unit, unitDisplay: 'long' }).format(value)
  }

  /** @param {number} ms */
  milliseconds(ms) {
    const options = /** @type {const} */ ({ style: 'unit', unit: 'millisecond', maximumFractionDigits: 1 })
    return new Intl.NumberFormat(this.#tag, options).format(ms)
  }
}
