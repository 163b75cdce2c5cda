#!/usr/bin/env node
// Makes the files of the npm package that follow from web/openapi.json: the types of the API, and the method and path of
// each operation.
//
//   node scripts/sdk-js.mjs [folder]       sdk/js/src by default

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DOCUMENT = join(ROOT, 'web/openapi.json')
const METHODS = ['get', 'put', 'post', 'delete', 'patch']

/** Returns the source of operations.js. */
function operationsModule() {
  const { paths } = JSON.parse(readFileSync(DOCUMENT, 'utf8'))
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
  )
  const rows = operations.map(({ operationId, method, path }) => `  ${operationId}: ['${method}', '${path}'],`)
  const withBody = operations.filter(({ requestBody }) => requestBody?.required)
  return `// Made by scripts/sdk-js.mjs from web/openapi.json.

/** The method and path of each operation. */
export const OPERATIONS = /** @type {const} */ ({
${rows.join('\n')}
})

/**
 * The operations that need a body.
 * @type {string[]}
 */
export const WITH_BODY = [
${withBody.map(({ operationId }) => `  '${operationId}',`).join('\n')}
]
`
}

const folder = process.argv[2] ?? join(ROOT, 'sdk/js/src')
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'operations.js'), operationsModule())
execFileSync(
  join(ROOT, 'node_modules/.bin/openapi-typescript'),
  [DOCUMENT, '--default-non-nullable=false', '--output', join(folder, 'openapi.d.ts')],
  { stdio: ['ignore', 'ignore', 'inherit'] },
)
