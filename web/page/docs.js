// The API reference, rendered from this deployment's OpenAPI document.

/** @import { Content, Document, Operation, Parameter, Ref } from './openapi.js' */
/** @typedef {Omit<Operation, 'parameters'> & { path: string, method: string, parameters: Parameter[] }} Endpoint */

import { make } from './dom.js'
import { heading, inline, markdown, table } from './markdown.js'
import { schemaSection, typeText } from './schema.js'

const METHODS = ['get', 'put', 'post', 'delete']

const main = /** @type {HTMLElement} */ (document.querySelector('main'))

async function render() {
  const response = await fetch('/openapi.json')
  if (!response.ok) throw new Error(`status ${response.status}`)
  /** @type {Document} */
  const api = await response.json()
  const endpoints = Object.entries(api.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => {
      const parameters = [...(item.parameters ?? []), ...(item[method].parameters ?? [])]
      return { ...item[method], path, method, parameters: parameters.map((parameter) => resolved(api, parameter)) }
    }),
  )
  const byTag = api.tags.map((tag) => ({ tag, endpoints: endpoints.filter(({ tags }) => tags[0] === tag.name) }))
  main.replaceChildren(
    make('section', {}, ...markdown(api.info.description)),
    make('section', {}, make('h2', {}, 'Contents'), contents(byTag)),
    ...byTag.map(({ tag, endpoints }) => {
      const title = heading('h2', `tag-${tag.name}`, tag.name)
      const sections = endpoints.flatMap((endpoint) => endpointSection(api, endpoint))
      return make('section', {}, title, ...markdown(tag.description), ...sections)
    }),
    make(
      'section',
      {},
      heading('h2', 'schemas', 'Schemas'),
      ...Object.entries(api.components.schemas).flatMap(schemaSection),
    ),
  )
  document.body.prepend(make('a', { className: 'skip', href: `#tag-${api.tags[0].name}` }, 'Skip to the endpoints'))
}

/** @param {{ tag: { name: string }, endpoints: Endpoint[] }[]} byTag */
function contents(byTag) {
  /**
   * @param {string} id
   * @param {(string | Node)[]} text
   * @param {...Node} nested
   */
  const entry = (id, text, ...nested) => make('li', {}, make('a', { href: `#${id}` }, ...text), ...nested)
  const entries = byTag.map(({ tag, endpoints }) => {
    const nested = endpoints.map(({ operationId, method, path, summary }) =>
      entry(operationId, [make('code', {}, `${method.toUpperCase()} ${path}`), ` ${summary}`]),
    )
    return entry(`tag-${tag.name}`, [tag.name], make('ul', {}, ...nested))
  })
  return make('ul', {}, ...entries, entry('schemas', ['Schemas']))
}

/**
 * @param {Document} api
 * @param {Endpoint} endpoint
 */
function endpointSection(api, endpoint) {
  const { operationId, path, summary, description = '', security = [], parameters, requestBody, responses } = endpoint
  const method = make('span', { className: 'method' }, endpoint.method.toUpperCase())
  const title = heading('h3', operationId, make('code', {}, method, ` ${path}`), ` ${summary}`)
  /** @type {HTMLElement[]} */
  const nodes = [title, ...markdown(description)]
  const schemes = security.flatMap((requirement) => Object.keys(requirement).slice(0, 1))
  if (schemes.length) {
    const names = schemes.flatMap((name, index) => [index ? ' or ' : '', make('code', {}, name)])
    nodes.push(make('p', {}, 'Authentication: ', ...names, '.'))
  }
  if (parameters.length) {
    const rows = parameters.map(({ name, in: location, required, schema, description }) => [
      [make('code', {}, name), ` (${location}${required ? ', required' : ''})`],
      typeText(schema),
      inline(description ?? schema.description ?? ''),
    ])
    nodes.push(make('h4', {}, 'Parameters'), table(['Name', 'Type', 'Description'], rows))
  }
  if (requestBody) nodes.push(make('h4', {}, 'Request body'), ...contentOf(requestBody))
  nodes.push(make('h4', {}, 'Responses'))
  for (const [status, value] of Object.entries(responses)) {
    const response = resolved(api, value)
    nodes.push(make('p', {}, make('b', {}, status), ' ', ...inline(response.description)))
    if (Number(status) < 400) nodes.push(...contentOf(response))
  }
  return nodes
}

/**
 * Renders the type and the examples of a request or response body.
 * @param {Content} body
 */
function contentOf({ content = {} }) {
  return Object.entries(content).flatMap(([type, { schema, example, examples = {} }]) => [
    make('p', {}, make('code', {}, type), ...(schema ? [': ', ...typeText(schema)] : [])),
    ...[example, ...Object.values(examples).map(({ value }) => value)]
      .filter((value) => value !== undefined)
      .map((value) => make('pre', {}, typeof value === 'string' ? value : JSON.stringify(value, null, 2))),
  ])
}

/**
 * Returns a value of the document, following its `$ref`.
 * @template {object} Value
 * @param {Document} api
 * @param {Value | Ref} value
 * @returns {Value}
 */
function resolved(api, value) {
  if (!('$ref' in value)) return value
  const path = value.$ref.slice(2).split('/')
  return path.reduce((/** @type {any} */ inner, name) => inner[name], api)
}

try {
  await render()
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error)
  main.replaceChildren(make('p', { role: 'alert' }, `Could not load the API document: ${reason}`))
}
document.documentElement.dataset.ready = ''
// The target of the URL's hash did not exist while the page was loading.
if (location.hash) location.replace(location.hash)
