// Schemas of the OpenAPI document: types in words, and tables of fields.

/** @import { Schema } from './openapi.js' */

import { make } from './dom.js'
import { heading, inline, markdown, table } from './markdown.js'

const BOUNDS = {
  minimum: 'at least',
  exclusiveMinimum: 'greater than',
  maximum: 'at most',
  exclusiveMaximum: 'less than',
  minLength: 'minimum length',
  maxLength: 'maximum length',
  minItems: 'minimum items',
  maxItems: 'maximum items',
  default: 'default',
}

/**
 * Renders a named schema: heading, description and fields.
 * @param {[name: string, schema: Schema]} entry
 */
export function schemaSection([name, schema]) {
  const fields = schema.properties ? [fieldTable(schema)] : [make('p', {}, ...typeText(schema))]
  return [heading('h3', `schema-${name}`, name), ...markdown(schema.description ?? ''), ...fields]
}

/**
 * Describes a type in words.
 * @param {Schema | true} [schema]
 * @returns {(string | Node)[]}
 */
export function typeText(schema) {
  if (schema === true || !schema) return ['any']
  const { $ref, type, items, properties, oneOf, anyOf, allOf, format, pattern } = schema
  const values = schema.enum ?? ('const' in schema ? [schema.const] : null)
  if ($ref) {
    const name = $ref.split('/').at(-1) ?? ''
    return [make('a', { href: `#schema-${name}` }, name)]
  }
  if (values) {
    const codes = values.map((value) => [make('code', {}, JSON.stringify(value))])
    return joined(codes, ' or ')
  }
  const choice = oneOf ?? anyOf
  if (choice && !properties) return joined(choice.map(typeText), ' or ')
  if (allOf && !properties) return joined(allOf.map(typeText), ' and ')
  const base = [type].flat().filter(Boolean).join(' or ') || 'any'
  if (items) return [`${base} of `, ...typeText(items), ...bounds(schema)]
  if (properties) return ['object', fieldTable(schema)]
  const text = [format ? `${base} (${format})` : base, ...bounds(schema)]
  return pattern ? [...text, ', pattern ', make('code', {}, pattern)] : text
}

/**
 * @param {Schema} schema
 * @returns {HTMLTableElement}
 */
function fieldTable({ properties = {}, required = [] }) {
  const rows = Object.entries(properties).map(([name, schema]) => [
    [make('code', {}, name), required.includes(name) ? '' : ' (optional)'],
    typeText(schema),
    inline(schema.description ?? ''),
  ])
  return table(['Field', 'Type', 'Description'], rows)
}

/** @param {Schema} schema */
function bounds(schema) {
  return Object.entries(BOUNDS)
    .filter(([name]) => name in schema)
    .map(([name, words]) => `, ${words} ${JSON.stringify(schema[name])}`)
}

/**
 * @param {(string | Node)[][]} lists
 * @param {string} separator
 */
const joined = (lists, separator) => lists.flatMap((list, index) => (index ? [separator, ...list] : list))
