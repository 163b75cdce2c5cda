// The span in which activity between the members of a case does not count, in the time zone of the deployment.

/** @import { Context, Field } from './types.js' */

import { instantOf } from './zone.js'

/**
 * Returns the fields of a span.
 * @param {Context} context
 * @param {string} timezone
 * @param {Partial<Field>} from what differs of the first field
 * @returns {Field[]}
 */
export function spanFields({ texts }, timezone, from) {
  const words = texts.cases
  const time = /** @type {const} */ ({ type: 'datetime-local', step: 'any' })
  return [
    { name: 'from', label: words.from, hint: texts.rules.zone(timezone), pointer: '/from', ...time, ...from },
    { name: 'until', label: words.until, hint: words.until_hint, pointer: '/until', ...time },
  ]
}

/**
 * Returns the decision that the fields of a span and of its reader contain.
 * @param {Record<string, string>} values
 * @param {string} timezone
 */
export const exclusionOf = ({ from, until, reader }, timezone) => ({
  from: from ? instantOf(from, timezone) : null,
  until: until ? instantOf(until, timezone) : null,
  public_reason: reader === 'member',
})
