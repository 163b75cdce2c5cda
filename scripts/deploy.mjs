// `make deploy`: deploys to an environment of wrangler.toml, after the migrations of its databases.
//
//   node scripts/deploy.mjs preview

import { deploy } from '../npm/deploy.mjs'
import { ENVIRONMENTS, readConfig, sharedResources } from './environments.mjs'

const FILE = 'wrangler.toml'
const environment = process.argv[2] ?? ''

/** @param {string} message */
function fail(message) {
  console.error(`deploy: ${message}`)
  process.exit(1)
}

if (!ENVIRONMENTS.includes(environment)) fail(`ENVIRONMENT must be ${ENVIRONMENTS.join(' or ')}, not "${environment}".`)
const shared = sharedResources(FILE, environment)
if (shared.length) fail(`[env.${environment}] needs its own in ${FILE}: ${shared.join(', ')}.`)
process.exitCode = deploy({
  wrangler: ['wrangler'],
  flags: ['--env', environment],
  databases: readConfig(FILE, environment).d1_databases.map(({ binding }) => binding),
  upload: [],
})
