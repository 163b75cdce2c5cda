// Days of the deployment's time zone.

/**
 * Returns a clock reading of a zone, as milliseconds of UTC.
 * @param {number} instant Unix ms
 * @param {string} timeZone
 */
function wallClock(instant, timeZone) {
  const options = /** @type {const} */ ({ dateStyle: 'short', timeStyle: 'medium', timeZone })
  // Sweden writes `2026-11-20 08:00:00`.
  const text = new Intl.DateTimeFormat('sv-SE', options).format(instant)
  return Date.parse(`${text.replace(' ', 'T')}Z`)
}

/**
 * Returns the day of an instant, `YYYY-MM-DD`.
 * @param {number} instant Unix ms
 * @param {string} timeZone
 */
export const dayOf = (instant, timeZone) => new Date(wallClock(instant, timeZone)).toISOString().slice(0, 10)

/**
 * Returns noon of a day: clocks do not change then.
 * @param {string} date
 * @param {string} timeZone
 */
export const noonOf = (date, timeZone) => instantOf(`${date}T12:00`, timeZone)

/**
 * Returns the instant of a clock reading.
 * @param {string} reading such as `2026-12-01T08:00`
 * @param {string} timeZone
 */
export function instantOf(reading, timeZone) {
  const local = Date.parse(`${reading}Z`)
  const guess = local - (wallClock(local, timeZone) - local)
  // The clock may change between both.
  return new Date(guess - (wallClock(guess, timeZone) - local)).toISOString()
}

/**
 * Returns the hours of its day before an instant.
 * @param {number} instant Unix ms
 * @param {string} timeZone
 */
export const hoursOf = (instant, timeZone) => (wallClock(instant, timeZone) % 86_400_000) / 3_600_000

/**
 * Returns a day some days later.
 * @param {string} date
 * @param {number} days
 */
export function addDays(date, days) {
  const day = new Date(`${date}T00:00:00Z`)
  day.setUTCDate(day.getUTCDate() + days)
  return day.toISOString().slice(0, 10)
}
