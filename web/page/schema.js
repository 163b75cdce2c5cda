// A schema of the OpenAPI document as text: its type in words, its fields as a table.

import { heading, inline, make, markdown } from './markdown.js'

const BOUNDS = {
  minimum: 'at least',
  exclusiveMinimum: 'more than',
  maximum: 'at most',
  exclusiveMaximum: 'less than',
  minLength: 'characters at least',
  maxLength: 'characters at most',
  minItems: 'items at least',
  maxItems: 'items at most',
  default: 'by default',
}

/** A named schema: heading, description, fields. */
export function schemaOf([name, schema]) {
  const fields = schema.properties ? [fieldsOf(schema)] : [make('p', {}, ...typeOf(schema))]
  return [heading('h3', `schema-${name}`, name), ...markdown(schema.description ?? ''), ...fields]
}

/** A type in words. */
export function typeOf(schema) {
  if (schema === true || !schema) return ['anything']
  const { $ref, type, items, properties, oneOf, anyOf, allOf, format, pattern } = schema
  const values = schema.enum ?? ('const' in schema ? [schema.const] : null)
  if ($ref) {
    const name = $ref.split('/').at(-1)
    return [make('a', { href: `#schema-${name}` }, name)]
  }
  if (values) return joined(values.map((value) => [make('code', {}, JSON.stringify(value))]), ' or ')
  const choice = oneOf ?? anyOf
  if (choice && !properties) return joined(choice.map(typeOf), ' or ')
  if (allOf && !properties) return joined(allOf.map(typeOf), ' and ')
  const base = [type].flat().filter(Boolean).join(' or ') || 'anything'
  if (items) return [`${base} of `, ...typeOf(items), ...bounds(schema)]
  if (properties) return ['object', fieldsOf(schema)]
  const form = [format && ` (${format})`, pattern && [' like ', make('code', {}, pattern)]].flat().filter(Boolean)
  return [base, ...form, ...bounds(schema)]
}

/** A table, its cells arrays of nodes. */
export function table(titles, rows) {
  const head = make('thead', {}, make('tr', {}, ...titles.map((title) => make('th', { scope: 'col' }, title))))
  const body = rows.map((cells) => make('tr', {}, ...cells.map((cell) => make('td', {}, ...cell))))
  return make('table', {}, head, make('tbody', {}, ...body))
}

function fieldsOf({ properties, required = [] }) {
  const rows = Object.entries(properties).map(([name, schema]) => [
    [make('code', {}, name), required.includes(name) ? '' : ' (optional)'],
    typeOf(schema),
    inline(schema.description ?? ''),
  ])
  return table(['field', 'type', 'meaning'], rows)
}

function bounds(schema) {
  return Object.entries(BOUNDS)
    .filter(([name]) => name in schema)
    .map(([name, words]) => `, ${words} ${JSON.stringify(schema[name])}`)
}

const joined = (lists, word) => lists.flatMap((list, at) => (at ? [word, ...list] : list))
