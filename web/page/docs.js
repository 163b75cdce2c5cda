// The API reference: the OpenAPI document of this very deployment, made readable.

import { heading, inline, make, markdown } from './markdown.js'
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
      make('section', {}, heading('h2', `tag-${tag.name}`, tag.name), ...markdown(tag.description),
        ...operations.filter(of(tag)).flatMap((one) => operation(api, one))),
    ),
    make('section', {}, heading('h2', 'schemas', 'Schemas'), ...Object.entries(api.components.schemas).flatMap(schemaOf)),
  )
  document.body.prepend(make('a', { className: 'skip', href: `#tag-${api.tags[0].name}` }, 'Skip the contents'))
}

const of = ({ name }) => ({ tags }) => tags[0] === name

function contents(api, operations) {
  const entry = (id, text, ...below) => make('li', {}, make('a', { href: `#${id}` }, ...text), ...below)
  const named = ({ operationId, method, path, summary }) =>
    entry(operationId, [make('code', {}, `${method.toUpperCase()} ${path}`), ` ${summary}`])
  const tagged = (tag) => entry(`tag-${tag.name}`, [tag.name], make('ul', {}, ...operations.filter(of(tag)).map(named)))
  return make('ul', {}, ...api.tags.map(tagged), entry('schemas', ['Schemas']))
}

function operation(api, { operationId, method, path, summary, description, security, parameters, requestBody, responses }) {
  const title = heading('h3', operationId, make('code', {}, make('span', { className: 'method' }, method.toUpperCase()), ` ${path}`), ` ${summary}`)
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
// What the address names was not there when the page was opened.
if (location.hash) location.replace(location.hash)
