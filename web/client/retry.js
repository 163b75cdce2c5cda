// When the service may be called again.

const LONGEST = 3600e3 // ms; a longer pause is a mistake

/**
 * Returns `Retry-After` of a response, which has whole seconds or a date, in ms; 0 without a valid one.
 * @param {Response} response
 */
export function retryAfterOf({ headers }) {
  const value = headers.get('retry-after') ?? ''
  // `Date.parse` reads a number as a year.
  const wait = /^\d+$/.test(value) ? Number(value) * 1e3 : /^[a-z]/i.test(value) && Date.parse(value) - Date.now()
  return Math.min(LONGEST, Math.max(0, wait || 0))
}
