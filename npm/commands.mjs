// The commands that run in JavaScript: `dev` and `deploy`.

import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { deploy, deployedSecrets, emptyVariables, STORE_TOKEN } from './deploy.mjs'
import { dev } from './dev/dev.mjs'
import { programs } from './programs.mjs'
import { UserError } from './user_error.mjs'
import { installWrangler, wranglerOf } from './wrangler.mjs'

/** @import { Wrangler } from './wrangler.mjs' */

const PACKAGE = fileURLToPath(new URL('.', import.meta.url))
const CONFIG = 'wrangler.toml'
/** The secrets of a new project. `deploy` uploads those that the deployment lacks. */
const SECRETS = '.secrets.json'

const DEV_HELP = `Runs activity-rank on this machine: Redis, the gateway, the Worker and its cron, until Ctrl-C

Usage: activity-rank dev [OPTIONS]

In a folder with a ${CONFIG}, such as one made by "npm create activity-rank", it runs that configuration. It always uses
a Redis of its own and public test keys, never the store and the secrets of a deployment. Needs redis-server.

Options:
  --data FOLDER   data and logs [default: .activity-rank]
  --port PORT     of the Worker [default: 8787, or PORT]
  --empty         start with empty boards, not with the activity of a real community
  --cluster       run a Redis Cluster of six nodes and 8 shards; needs redis-cli
  -h, --help      print this

GATEWAY_PORT (8079) and REDIS_PORT (6390) change the other ports, REDIS_SERVER is the path of redis-server.`

const DEPLOY_HELP = `Deploys the project in this folder to Cloudflare: uploads the Worker and its secrets, applies the migrations

Usage: activity-rank deploy [OPTIONS]

At the first deployment wrangler creates the databases, namespaces and queues that ${CONFIG} binds. Of the secrets in
${SECRETS}, it uploads those that the deployment does not have. To change one later: npx wrangler secret put NAME

Options:
  --env NAME      environment of ${CONFIG}
  --dry-run       check and bundle, without the upload
  -h, --help      print this`

/** @type {Record<string, { summary: string, run: (args: string[]) => Promise<number> }>} */
export const COMMANDS = {
  dev: { summary: 'Run everything on this machine, without Rust', run: runDev },
  deploy: { summary: 'Deploy the project in this folder to Cloudflare', run: runDeploy },
}

/** Fails with an older version of Node.js than the package needs: wrangler does not run on it. */
export function requireNode() {
  const needed = manifest().engines.node.replace('>=', '')
  const { node } = process.versions
  if (node.localeCompare(needed, 'en', { numeric: true }) < 0)
    throw new UserError(`Node.js ${node} is too old: install Node.js ${needed} or newer (https://nodejs.org)`)
}

/** @param {string[]} args */
async function runDev(args) {
  const options = parse(args, DEV_HELP, {
    data: { type: 'string', default: '.activity-rank' },
    port: { type: 'string', default: process.env.PORT || '8787' },
    empty: { type: 'boolean', default: false },
    cluster: { type: 'boolean', default: false },
  })
  if (!options) return 0
  const folder = options.data
  const wrangler = wranglerOf('.') ?? installWrangler(join(folder, 'wrangler-cli'), manifest().devDependencies.wrangler)
  const config = existsSync(CONFIG) ? resolve(CONFIG) : writeConfig(folder)
  const { triggers, vars } = await wrangler.readConfig(config)
  return dev({
    command: 'npx activity-rank dev',
    commandLine: 'npx activity-rank',
    folder,
    isCluster: options.cluster,
    isEmpty: options.empty,
    ports: {
      worker: port('--port', options.port),
      gateway: port('GATEWAY_PORT', process.env.GATEWAY_PORT || '8079'),
      redis: port('REDIS_PORT', process.env.REDIS_PORT || (options.cluster ? '6391' : '6390')),
    },
    config,
    crons: triggers.crons ?? [],
    vars,
    secrets: [join(PACKAGE, 'dev.vars')],
    wrangler: wrangler.program,
    programs: programs(),
    community: join(PACKAGE, 'demo/community.jsonl'),
    assemble: async (web) => cpSync(join(PACKAGE, 'web'), web, { recursive: true }),
  })
}

/** @param {string[]} args */
async function runDeploy(args) {
  const options = parse(args, DEPLOY_HELP, { env: { type: 'string' }, 'dry-run': { type: 'boolean', default: false } })
  if (!options) return 0
  if (!existsSync(CONFIG))
    throw new UserError(`There is no ${CONFIG} in this folder. Make a project: npm create activity-rank`)
  const wrangler = wranglerOf('.')
  if (!wrangler) throw new UserError('wrangler is not installed in this folder. Run: npm install')
  const { env } = options
  const { vars, d1_databases } = await wrangler.readConfig(CONFIG, env)
  const command = { wrangler: [process.execPath, wrangler.program], flags: env ? ['--env', env] : [] }
  // Workers Builds may have them from the page of the deploy button.
  const isBuild = Boolean(process.env.WORKERS_CI)
  const empty = isBuild ? [] : emptyVariables(vars, env ? `[env.${env}.vars]` : '[vars]')
  if (empty.length) throw new UserError(empty.join('\n'))
  const isDryRun = options['dry-run']
  const secrets = isBuild ? readSecrets() : { [STORE_TOKEN]: '', ...readSecrets() }
  const deployed = isBuild || isDryRun ? [] : secretsOf(command)
  const missing = Object.entries(secrets).filter(([name]) => !deployed.includes(name))
  const unset = missing.filter(([, value]) => !value).map(([name]) => name)
  if (unset.length) {
    const remedies = unset.map((name) =>
      name === STORE_TOKEN
        ? `Set ${STORE_TOKEN} in ${SECRETS} to the token of your store.`
        : `${name} in ${SECRETS} is empty: set it, or remove it.`,
    )
    throw new UserError(remedies.join('\n'))
  }
  const kept = Object.keys(secrets).filter((name) => deployed.includes(name))
  if (kept.length) {
    console.log(`The deployment keeps its secrets ${kept.join(', ')}. To change one: npx wrangler secret put NAME`)
  }
  const folder = mkdtempSync(join(tmpdir(), 'activity-rank-'))
  let status
  try {
    const file = join(folder, 'secrets.json')
    writeFileSync(file, JSON.stringify(Object.fromEntries(missing)), { mode: 0o600 })
    status = deploy({
      ...command,
      databases: isDryRun ? [] : d1_databases.map(({ binding }) => binding),
      upload: [...(missing.length ? ['--secrets-file', file] : []), ...(isDryRun ? ['--dry-run'] : [])],
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
  if (status === 0 && !options['dry-run']) {
    console.log('\nCheck the deployment, with the address above:\n\n  npx activity-rank doctor https://…')
  }
  return status
}

/** Returns the secrets of the project in this folder. */
function readSecrets() {
  if (!existsSync(SECRETS)) return {}
  try {
    return /** @type {Record<string, string>} */ (JSON.parse(readFileSync(SECRETS, 'utf8')))
  } catch {
    // The message of the parser quotes the file.
    throw new UserError(`${SECRETS} is not valid JSON.`)
  }
}

/** @param {import('./deploy.mjs').Wrangler} command */
function secretsOf(command) {
  try {
    return deployedSecrets(command)
  } catch (error) {
    throw new UserError(/** @type {Error} */ (error).message)
  }
}

/**
 * Parses options. Prints the help and returns `undefined` if it is asked for.
 * @param {string[]} args
 * @param {string} help
 * @param {import('node:util').ParseArgsConfig['options'] & {}} options
 * @returns {Record<string, any> | undefined} the values by option
 */
function parse(args, help, options) {
  try {
    const { values } = parseArgs({ args, options: { ...options, help: { type: 'boolean', short: 'h' } } })
    if (!values.help) return values
    console.log(help)
  } catch (error) {
    throw new UserError(`${/** @type {Error} */ (error).message}\n\n${help}`)
  }
}

/**
 * @param {string} name
 * @param {string} text
 */
function port(name, text) {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 1 || number > 65_535) {
    throw new UserError(`${name} must be a port from 1 to 65535, not "${text}".`)
  }
  return number
}

/** Returns the manifest of this package. */
const manifest = () => JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'))

/**
 * Writes the configuration of a new project for the Worker in this package, and returns its path.
 * @param {string} folder
 */
function writeConfig(folder) {
  mkdirSync(folder, { recursive: true })
  const file = join(resolve(folder), CONFIG)
  const template = readFileSync(join(PACKAGE, 'template', CONFIG), 'utf8')
  writeFileSync(file, template.replaceAll('"node_modules/activity-rank/', `"${PACKAGE}`))
  return file
}
