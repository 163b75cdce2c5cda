// The files of a project.

import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import { listOf } from './answers.mjs'

const TEMPLATE = fileURLToPath(new URL('template', import.meta.url))
const KEY_BYTES = 32

/**
 * Returns what is wrong with a folder for a new project, if anything.
 * @param {string} folder
 */
export function folderProblem(folder) {
  if (!folder.trim()) return 'Must not be empty.'
  const name = nameOf(folder)
  if (!name) return 'The name needs a letter or a digit: it becomes the name of the Worker.'
  // Queues are named after it, with a suffix, in 63 characters.
  if (name.length > 54) return 'The name must have at most 54 characters: it becomes the name of the Worker.'
  if (existsSync(folder) && (!isFolder(folder) || readdirSync(folder).length))
    return `${folder} exists and is not empty.`
}

/**
 * Writes a project into a new or empty folder, with new keys.
 * @param {string} folder
 * @param {Record<'storeUrl' | 'storeToken' | 'origins' | 'timeZone', string>} answers
 */
export function writeProject(folder, { storeUrl, storeToken, origins, timeZone }) {
  mkdirSync(folder, { recursive: true })
  cpSync(TEMPLATE, folder, { recursive: true })
  // npm leaves files of this name out of packages.
  if (existsSync(join(folder, 'gitignore'))) renameSync(join(folder, 'gitignore'), join(folder, '.gitignore'))
  const name = nameOf(folder)
  edit(join(folder, 'package.json'), (text) => text.replace('"name": "my-activity-rank"', `"name": "${name}"`))
  edit(join(folder, 'wrangler.toml'), (text) =>
    text
      // The page of the deploy button needs them; without them wrangler creates the resources.
      .replace(/^(database_name|database_id|id) = .*\n/gm, '')
      .replace('name = "activity-rank"', `name = "${name}"`)
      .replaceAll('"activity-rank-held"', `"${name}-held"`)
      .replaceAll('"activity-rank-dead"', `"${name}-dead"`)
      .replace('UPSTASH_REDIS_REST_URL = ""', `UPSTASH_REDIS_REST_URL = "${storeUrl.replace(/\/$/, '')}"`)
      .replace('ALLOWED_ORIGINS = ""', `ALLOWED_ORIGINS = "${originsOf(origins)}"`)
      .replace('TIMEZONE = "UTC"', `TIMEZONE = "${timeZone}"`),
  )
  const keys = { SERVICE_KEYS: newKey(), JWT_SECRET: newKey(), VISITOR_KEY: newKey() }
  const secrets = { UPSTASH_REDIS_REST_TOKEN: storeToken, ...keys }
  writeFileSync(join(folder, '.secrets.json'), `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 })
}

/** @param {string} origins */
const originsOf = (origins) =>
  listOf(origins)
    .map((origin) => origin.replace(/\/$/, ''))
    .join(',')

const newKey = () => randomBytes(KEY_BYTES).toString('hex')

/**
 * Returns the name of the Worker: lower-case letters, digits and dashes of the folder's name.
 * @param {string} folder
 */
const nameOf = (folder) =>
  basename(resolve(folder))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

/** @param {string} path */
function isFolder(path) {
  try {
    return Boolean(readdirSync(path))
  } catch {
    return false
  }
}

/**
 * @param {string} file
 * @param {(text: string) => string} change
 */
const edit = (file, change) => writeFileSync(file, change(readFileSync(file, 'utf8')))
