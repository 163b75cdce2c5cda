// Stands in for the API of Cloudflare: records the requests of wrangler and accepts each. The account and all its
// resources are invented, so it shows that wrangler accepts a command and which requests it sends, not how Cloudflare responds.

import { createServer } from 'node:http'

/** Starts the API. Returns the environment for wrangler, the requests as `METHOD path`, and a function that stops it. */
export async function startCloudflare() {
  /** @type {string[]} */
  const requests = []
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    const path = (request.url ?? '').replace(/^\/accounts\/account\//, '')
    requests.push(`${request.method} ${path}`)
    const isList = request.method === 'GET'
    const result = isList ? [] : { id: 'id', uuid: 'uuid', name: 'name', title: 'title', queue_name: 'queue' }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ success: true, errors: [], messages: [], result }))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    env: {
      CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${port}`,
      CLOUDFLARE_API_TOKEN: 'a-token-of-no-account',
      CLOUDFLARE_ACCOUNT_ID: 'account',
    },
    requests,
    stop: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve(undefined)))
    },
  }
}
