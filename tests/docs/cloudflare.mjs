// Stands in for the API of Cloudflare: records the requests of wrangler and accepts each. The account and all its
// resources are invented, so it shows that wrangler accepts a command and which requests it sends, not how Cloudflare responds.

import { listen } from '../sdk/listen.mjs'

/** Starts the API. Returns the environment for wrangler, the requests as `METHOD path`, and a function that stops it. */
export async function startCloudflare() {
  /** @type {string[]} */
  const requests = []
  const { url, stop } = await listen(async (request, response) => {
    for await (const _ of request);
    const path = (request.url ?? '').replace(/^\/accounts\/account\//, '')
    requests.push(`${request.method} ${path}`)
    const isList = request.method === 'GET'
    const result = isList ? [] : { id: 'id', uuid: 'uuid', name: 'name', title: 'title', queue_name: 'queue' }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ success: true, errors: [], messages: [], result }))
  })
  return {
    env: {
      CLOUDFLARE_API_BASE_URL: url,
      CLOUDFLARE_API_TOKEN: 'a-token-of-no-account',
      CLOUDFLARE_ACCOUNT_ID: 'account',
    },
    requests,
    stop,
  }
}
