#!/usr/bin/env node
// The program `create-activity-rank`, which `npm create activity-rank` runs.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { parseArgs } from 'node:util'

import { cancel, confirm, intro, isCancel, note, outro, password, text } from '@clack/prompts'

import { QUESTIONS } from './answers.mjs'
import { managerOf } from './manager.mjs'
import { folderProblem, writeProject } from './project.mjs'

/** @import { Question } from './answers.mjs' */

const manifest = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))

const HELP = `Makes a project that deploys activity-rank to Cloudflare. Asks for what is not given

Usage: npm create activity-rank [FOLDER] [-- OPTIONS]

Options:
  --store-url URL       REST URL of the Redis: Upstash, or a redis-rest gateway
  --store-token TOKEN   its token; better: the environment variable UPSTASH_REDIS_REST_TOKEN
  --origins ORIGINS     sites that show the board, separated by commas
  --time-zone ZONE      IANA name: days begin at its midnight
  --no-install          do not install the packages
  -y, --yes             ask nothing: what is not given stays empty, the time zone is that of this machine
  -h, --help            print this`

const FOLDER = { message: 'Folder of the new project', initial: () => 'leaderboard', check: folderProblem }

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(`create-activity-rank: ${message}`)
  process.exit(1)
}

/**
 * Returns the folder and the options of the command line.
 * @returns {{ values: Record<string, any>, folder: string | undefined }}
 */
function readArguments() {
  const strings = Object.values(QUESTIONS).map(({ flag }) => [flag, /** @type {const} */ ({ type: 'string' })])
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      allowNegative: true,
      options: {
        ...Object.fromEntries(strings),
        install: { type: 'boolean' },
        yes: { type: 'boolean', short: 'y' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (positionals.length > 1) throw new Error(`One folder, not ${positionals.join(' ')}`)
    return { values, folder: positionals[0] }
  } catch (error) {
    return fail(`${/** @type {Error} */ (error).message}\n\n${HELP}`)
  }
}

/**
 * Returns a prompt's answer. Ends the program if it is cancelled.
 * @template Answer
 * @param {Promise<Answer>} prompt
 */
async function answered(prompt) {
  const answer = await prompt
  if (!isCancel(answer)) return /** @type {Exclude<Answer, symbol>} */ (answer)
  cancel('Cancelled. Nothing has been written.')
  process.exit(1)
}

/**
 * @param {Pick<Question, 'message' | 'placeholder' | 'isSecret' | 'initial' | 'check'>} question
 * @returns {Promise<string>}
 */
async function ask({ message, placeholder, isSecret, initial, check }) {
  const validate = (/** @type {string | undefined} */ value) => check(value || initial())
  if (isSecret) return (await answered(password({ message, validate }))) ?? ''
  return (
    (await answered(text({ message, placeholder: placeholder ?? initial(), defaultValue: initial(), validate }))) ?? ''
  )
}

/**
 * Returns an answer that the command line gives, one that a prompt asks for, or the default.
 * @param {string | undefined} given
 * @param {Parameters<typeof ask>[0]} question
 * @param {string} name of the argument, for errors
 * @param {boolean} isAsking
 */
async function answer(given, question, name, isAsking) {
  if (given === undefined && isAsking) return ask(question)
  const value = given ?? question.initial()
  const problem = question.check(value)
  return problem ? fail(`${name}: ${problem}`) : value
}

const { values, folder: given } = readArguments()
if (values.help) {
  console.log(HELP)
  process.exit()
}
const [{ node }, needed] = [process.versions, manifest.engines.node.replace('>=', '')]
// wrangler does not run on an older one, so neither does the project.
if (node.localeCompare(needed, 'en', { numeric: true }) < 0)
  fail(`Node.js ${node} is too old: install Node.js ${needed} or newer (https://nodejs.org)`)
const isAsking = !values.yes
if (isAsking && !process.stdin.isTTY)
  fail('The standard input is no terminal, so nothing can be asked. Add --yes and options.')

intro('activity-rank: a live leaderboard for your community')
const folder = await answer(given, FOLDER, 'FOLDER', isAsking)
const answers = { storeUrl: '', storeToken: '', origins: '', timeZone: '' }
const { UPSTASH_REDIS_REST_TOKEN: token } = process.env
for (const key of /** @type {(keyof answers)[]} */ (Object.keys(answers))) {
  const question = QUESTIONS[key]
  const value = values[question.flag] ?? (key === 'storeToken' ? token : undefined)
  // A token belongs to a store.
  const isNeeded = key !== 'storeToken' || answers.storeUrl !== ''
  answers[key] = await answer(value, question, `--${question.flag}`, isAsking && isNeeded)
}
const manager = managerOf(process.env.npm_config_user_agent)
const install = `${manager.name} install`
const isInstalling = values.install ?? (isAsking ? await answered(confirm({ message: `Run ${install}?` })) : true)

writeProject(folder, answers)
const path = relative('.', folder) || '.'
const cd = path === '.' ? '' : `cd ${/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`}\n`
if (isInstalling) {
  const flags = manager.name === 'npm' ? ['--no-audit', '--no-fund'] : []
  const { status } = spawnSync(manager.name, ['install', ...flags], { cwd: folder, stdio: 'inherit' })
  if (status !== 0) fail(`${install} failed. The project is in ${path}: run ${install} there.`)
}
const missing = [
  ...(answers.storeUrl ? [] : ['UPSTASH_REDIS_REST_URL in wrangler.toml']),
  ...(answers.storeToken ? [] : ['UPSTASH_REDIS_REST_TOKEN in .secrets.json']),
  ...(answers.origins ? [] : ['ALLOWED_ORIGINS in wrangler.toml']),
]
const before = missing.length ? `Before the deployment, set ${missing.join(', ')}.\n` : ''
const steps = [
  [`${manager.name} run dev`, 'try it on this machine; needs redis-server'],
  [`${manager.exec} wrangler login`, 'once, with a Cloudflare account'],
  [`${manager.name} run deploy`, 'deploy it to Cloudflare'],
]
const width = Math.max(...steps.map(([command]) => command.length)) + 3
note(
  `${cd}${isInstalling ? '' : `${install}\n`}${steps.map(([command, why]) => `${command.padEnd(width)}${why}\n`).join('')}\n` +
    `${before}README.md has the steps. .secrets.json has new keys; git ignores it.`,
  'Next',
)
outro(`${path} is ready.`)
