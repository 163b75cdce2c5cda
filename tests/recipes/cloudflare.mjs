// A stand-in for the API of Cloudflare that wrangler deploys to: it accepts uploads and secrets, and records them.

import { listen } from '../sdk/listen.mjs'

/** Returns the URL, the environment for wrangler, `uploads` and `secrets` as `Worker` and `Worker/NAME`, and `stop()`. */
export async function startCloudflare() {
  const uploads = []
  const secrets = []
  const { url, stop } = await listen(async (request, response) => {
    const { method, url: target = '' } = request
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const { pathname } = new URL(target, 'http://api')
    const [, script, rest] = pathname.match(/\/workers\/scripts\/([^/]+)(?:\/(.*))?$/) ?? []
    if (method === 'PUT' && script && !rest) uploads.push(script)
    if (method === 'PUT' && rest === 'secrets') secrets.push(`${script}/${JSON.parse(chunks.join('')).name}`)
    const isList = method === 'GET' && (rest === 'secrets' || pathname.endsWith('/storage/kv/namespaces'))
    const isNew = method === 'GET' && pathname.includes('/workers/services/')
    const answer = isNew
      ? { success: false, errors: [{ code: 10090, message: 'The service does not exist' }], result: null }
      : { success: true, errors: [], result: isList ? [] : RESULT }
    response.writeHead(isNew ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ messages: [], ...answer }))
  })
  const env = {
    CLOUDFLARE_API_BASE_URL: `${url}/client/v4`,
    CLOUDFLARE_API_TOKEN: 'token',
    CLOUDFLARE_ACCOUNT_ID: '0'.repeat(32),
  }
  return { env, uploads, secrets, stop }
}

/** All fields that wrangler reads of any result. */
const RESULT = {
  id: 'id',
  startup_time_ms: 1,
  deployments: [],
  bindings: [],
  enabled: true,
  previews_enabled: true,
  added: [],
  removed: [],
  updated: [],
  conflicting: [],
  subdomain: { enabled: true, previews_enabled: true },
}
