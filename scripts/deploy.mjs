// `make deploy`: deploys to an environment of wrangler.toml, after the migrations of its databases. Its secrets are those that
// `wrangler secret put` has stored.
//
//   node scripts/deploy.mjs preview

import { deploy, deployedSecrets, emptyVariables, STORE_TOKEN } from '../npm/deploy.mjs'
import { ENVIRONMENTS, readConfig, sharedResources } from './environments.mjs'

const FILE = 'wrangler.toml'
const environment = process.argv[2] ?? ''

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(`deploy: ${message}`)
  process.exit(1)
}

if (!ENVIRONMENTS.includes(environment)) fail(`ENVIRONMENT must be ${ENVIRONMENTS.join(' or ')}, not "${environment}".`)
const shared = sharedResources(FILE, environment)
if (shared.length) fail(`[env.${environment}] needs its own in ${FILE}: ${shared.join(', ')}.`)
const { d1_databases, vars } = readConfig(FILE, environment)
const empty = emptyVariables(vars, `[env.${environment}.vars]`)
if (empty.length) fail(empty.join('\n'))
const wrangler = { wrangler: ['wrangler'], flags: ['--env', environment] }
let secrets
try {
  secrets = deployedSecrets(wrangler)
} catch (error) {
  fail(error instanceof Error ? error.message : String(error))
}
if (!secrets?.includes(STORE_TOKEN))
  fail(`Store the token of your store first: npx wrangler secret put ${STORE_TOKEN} --env ${environment}`)
process.exitCode = deploy({ ...wrangler, databases: d1_databases.map(({ binding }) => binding), upload: [] })
