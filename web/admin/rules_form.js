// The fields of rules in forms, and their changes.

/** @import { Context, Field, Rule, RuleField, RulesChange } from './types.js' */

export const FIELDS = /** @type {const} */ (['points', 'received', 'daily_cap', 'member_cap', 'pair_cap', 'cooldown'])

/**
 * Describes a change, such as `Like, points: 2 → 3`.
 * @param {Context} context
 * @param {RulesChange} change
 */
export function changeOf({ texts, format }, { action, field, before, after }) {
  const words = texts.rules
  const [old, next] = [before, after].map((value) => (value === null ? words.no_value : format.number(value)))
  return texts.answered(words.change(texts.actions[action] ?? action, words.fields[field]), `${old} → ${next}`)
}

/**
 * Returns the fields of an action. The name of a field is that of the action and of its field.
 * @param {Context} context
 * @param {string} action
 * @param {Rule} rule
 * @returns {Field[]}
 */
export const fieldsOf = ({ texts, format }, action, rule) =>
  FIELDS.map((field) => {
    const value = rule[field]
    const isLimit = field !== 'points' && field !== 'received'
    return {
      name: `${action}/${field}`,
      group: texts.actions[action] ?? action,
      label: texts.rules.fields[field],
      type: 'number',
      step: 'any',
      placeholder: value === undefined ? texts.rules.no_value : format.number(value),
      remove: isLimit && value !== undefined ? texts.rules.remove : undefined,
      pointer: `/rules/${action}/${field}`,
    }
  })

/**
 * Returns the changes that the fields of a form have. An empty one changes nothing, and `null` removes a limit.
 * @param {Record<string, Rule>} rules
 * @param {Record<string, string | null>} values
 * @returns {RulesChange[]}
 */
export function changesOf(rules, values) {
  return Object.entries(values)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => {
      const [action, field] = /** @type {[string, RuleField]} */ (name.split('/'))
      return { action, field, before: rules[action][field] ?? null, after: value === null ? null : Number(value) }
    })
}

/** @param {RulesChange[]} changes */
export function bodyOf(changes) {
  /** @type {Map<string, Record<string, number | null>>} */
  const rules = new Map()
  for (const { action, field, after } of changes) rules.set(action, { ...rules.get(action), [field]: after })
  return Object.fromEntries(rules)
}
