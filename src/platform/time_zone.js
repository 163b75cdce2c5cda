// Time zone offsets from Intl, which knows every zone with current rules and adds nothing to the
// bundle.

/** @type {Intl.DateTimeFormatOptions} */
const OPTIONS = {
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
}

// Formats by zone.
const formats = new Map()

function formatOf(zone) {
  let format = formats.get(zone)
  if (!format) {
    try {
      format = new Intl.DateTimeFormat('en-US', { timeZone: zone, ...OPTIONS })
    } catch {
      return null
    }
    formats.set(zone, format)
  }
  return format
}

// Intl formats years before 1 as years BC, which count backwards. No zone changed its offset that
// early.
const YEAR_2 = -62104060800000

/**
 * Returns local time minus UTC in milliseconds at an instant in Unix ms; NaN for an unknown zone.
 */
export function offset(zone, at) {
  const format = formatOf(zone)
  if (!format) return NaN
  const seconds = Math.floor(Math.max(at, YEAR_2) / 1000) * 1000
  const parts = {}
  for (const { type, value } of format.formatToParts(seconds)) {
    parts[type] = Number(value)
  }
  const local = new Date(0)
  // Date.UTC would map the years 0 to 99 to 1900 to 1999.
  local.setUTCFullYear(parts.year, parts.month - 1, parts.day)
  local.setUTCHours(parts.hour, parts.minute, parts.second)
  return local.getTime() - seconds
}
