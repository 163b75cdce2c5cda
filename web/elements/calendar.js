// Places the days of a calendar: weeks as columns for a year, as rows for a month.

/** Days that need no archive. */
export const MONTH = 31

const WEEKS = 53 // of a year

/**
 * Returns where days are on a calendar. Weeks begin on Monday, as in the API.
 * @param {string[]} dates in ascending order, without gaps: `2026-11-20`
 * @param {boolean} isWhole whether they are a calendar year, which has all its weeks
 */
export function layoutOf(dates, isWhole = false) {
  const isYear = isWhole || dates.length > MONTH
  const weekday = (new Date(`${dates.at(-1)}T12:00Z`).getUTCDay() + 6) % 7
  // The last 366 days would begin a 54th week if today is Monday.
  const shown = isYear && !isWhole ? dates.slice(-((WEEKS - 1) * 7 + weekday + 1)) : dates
  const offset = (((weekday - shown.length + 1) % 7) + 7) % 7
  const weeks = Math.max(Math.ceil((offset + shown.length) / 7), isWhole ? WEEKS : 0)
  return { isYear, dates: shown, offset, weeks, months: isYear ? monthsOf(shown, offset, weeks) : [] }
}

/** Returns the months of weeks: a date in each, and its number of weeks. The week of the 1st begins a month. */
function monthsOf(dates, offset, weeks) {
  const months = []
  for (let week = 0; week < weeks && week * 7 < offset + dates.length; week++) {
    const date = dates[Math.min(week * 7 + 6 - offset, dates.length - 1)]
    if (months.at(-1)?.date.slice(0, 7) === date.slice(0, 7)) months.at(-1).weeks++
    else months.push({ date, weeks: 1 })
  }
  return months
}
