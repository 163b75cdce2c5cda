// The periods that an instant lies in, by UTC.

const DAY = 86400000

/** The ids of the boards that an instant counts on, by kind. */
export function ids(now) {
  const day = new Date(now).toISOString().slice(0, 10)
  return { day, week: weekOf(now), month: day.slice(0, 7), year: day.slice(0, 4), all: 'all' }
}

// ISO 8601: a week is of the year that its Thursday is of.
function weekOf(now) {
  const weekday = (new Date(now).getUTCDay() + 6) % 7
  const thursday = new Date(now + (3 - weekday) * DAY)
  const year = thursday.getUTCFullYear()
  const week = 1 + Math.floor((thursday - Date.UTC(year, 0, 1)) / (7 * DAY))
  return `${year}-W${String(week).padStart(2, '0')}`
}

/** The day of an instant as answers show it. */
export function view(now) {
  const start = Math.floor(now / DAY) * DAY
  return {
    kind: 'day',
    id: ids(now).day,
    start: instant(start),
    end: instant(start + DAY),
    timezone: 'UTC',
    closed: false,
  }
}

const instant = (at) => new Date(at).toISOString().replace('.000', '')
