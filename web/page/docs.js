// The API reference: the OpenAPI document of this very deployment, made readable.

import { inline, make, markdown } from './markdown.js'
import { schemaOf, table, typeOf } from './schema.js'

const METHODS = ['get', 'put', 'post', 'delete']

const main = document.querySelector('main')

async function show() {
  const answer = await fetch('/openapi.json')
  if (!answer.ok) throw new Error(`status ${answer.status}`)
  const api = await answer.json()
  const operations = Object.entries(api.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({
      ...item[method],
      ...{ path, method },
      parameters: [...(item.parameters ?? []), ...(item[method].parameters ?? [])].map((one) => resolved(api, one)),
    })),
  )
  main.replaceChildren(
    make('section', {}, ...markdown(api.info.description)),
    make('section', {}, make('h2', {}, 'Contents'), contents(api, operations)),
    ...api.tags.map((tag) =>
      make('section', { id: `tag-${tag.name}` }, make('h2', {}, tag.name), ...markdown(tag.description),
        ...operations.filter(({ tags }) => tags[0] === tag.name).flatMap((one) => operation(api, one))),
    ),
    make('section', { id: 'schemas' }, make('h2', {}, 'Schemas'), ...Object.entries(api.components.schemas).flatMap(schemaOf)),
  )
  // The anchor was there before what it names.
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView()
}

function contents(api, operations) {
  const entry = (id, ...text) => make('li', {}, make('a', { href: `#${id}` }, ...text))
  const named = ({ operationId, method, path, summary }) =>
    entry(operationId, make('code', {}, `${method.toUpperCase()} ${path}`), ` ${summary}`)
  return make('ul', {}, ...operations.map(named), entry('schemas', 'Schemas'))
}

function operation(api, { operationId, method, path, summary, description, security, parameters, requestBody, responses }) {
  const title = make('h3', { id: operationId }, make('code', {}, make('span', { className: 'method' }, method.toUpperCase()), ` ${path}`), ` ${summary}`)
  const all = [title, ...markdown(description ?? '')]
  const keys = (security ?? []).map((one) => Object.keys(one)[0]).filter(Boolean)
  if (keys.length) all.push(make('p', {}, 'Needs ', ...listed(keys), '.'))
  if (parameters.length) {
    const rows = parameters.map(({ name, in: where, required, schema, description }) => [
      [make('code', {}, name), ` (${where}${required ? ', required' : ''})`],
      typeOf(schema),
      inline(description ?? schema.description ?? ''),
    ])
    all.push(make('h4', {}, 'Parameters'), table(['name', 'type', 'meaning'], rows))
  }
  if (requestBody) all.push(make('h4', {}, 'Body'), ...contentOf(requestBody))
  all.push(make('h4', {}, 'Answers'))
  for (const [status, response] of Object.entries(responses)) {
    const told = resolved(api, response)
    all.push(make('p', {}, make('b', {}, status), ' ', ...inline(told.description)))
    if (Number(status) < 400) all.push(...contentOf(told))
  }
  return all
}

// Of a body or an answer: its type, and its examples.
function contentOf({ content = {} }) {
  return Object.entries(content).flatMap(([type, { schema, example, examples = {} }]) => [
    make('p', {}, make('code', {}, type), ...(schema ? [': ', ...typeOf(schema)] : [])),
    ...[example, ...Object.values(examples).map(({ value }) => value)]
      .filter((value) => value !== undefined)
      .map((value) => make('pre', {}, typeof value === 'string' ? value : JSON.stringify(value, null, 2))),
  ])
}

const listed = (names) => names.flatMap((name, at) => [at ? ' or ' : '', make('code', {}, name)])

function resolved(api, value) {
  if (!value.$ref) return value
  const path = value.$ref.slice(2).split('/')
  return path.reduce((inner, name) => inner[name], api)
}

try {
  await show()
} catch (error) {
  main.replaceChildren(make('p', { role: 'alert' }, `The document cannot be had: ${error.message}`))
}
document.documentElement.dataset.ready = ''
