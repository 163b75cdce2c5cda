// The recaps that there are.

const MONTHS = 3

/**
 * Returns the ids of this year, the year before and the last months.
 * @param {Date} now
 */
export function yearAndMonths(now) {
  const year = now.getUTCFullYear()
  const months = Array.from({ length: MONTHS }, (_, back) => {
    const month = new Date(Date.UTC(year, now.getUTCMonth() - back, 1))
    return month.toISOString().slice(0, 7)
  })
  return [String(year), String(year - 1), ...months]
}
