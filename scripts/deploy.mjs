// `make deploy`: deploys to an environment of wrangler.toml, after the migrations of its databases.
//
//   node scripts/deploy.mjs preview

import { spawnSync } from 'node:child_process'

import { ENVIRONMENTS, readConfig, sharedResources } from './environments.mjs'

const FILE = 'wrangler.toml'
const environment = process.argv[2] ?? ''

/**
 * Runs wrangler; exits with its status if it fails.
 * @param {string[]} args
 */
function wrangler(...args) {
  const { status, error } = spawnSync('wrangler', [...args, '--env', environment], { stdio: 'inherit' })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}

/** @param {string} message */
function fail(message) {
  console.error(`deploy: ${message}`)
  process.exit(1)
}

if (!ENVIRONMENTS.includes(environment)) fail(`ENVIRONMENT must be ${ENVIRONMENTS.join(' or ')}, not "${environment}".`)
const shared = sharedResources(FILE, environment)
if (shared.length) fail(`[env.${environment}] needs its own in ${FILE}: ${shared.join(', ')}.`)
// Before the upload: the new code may need them, and they leave the old code working.
for (const { binding } of readConfig(FILE, environment).d1_databases) {
  wrangler('d1', 'migrations', 'apply', binding, '--remote')
}
wrangler('deploy')
