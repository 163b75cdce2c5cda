// HTTP servers of tests.

import { once } from 'node:events'
import { createServer } from 'node:http'

/**
 * Serves requests on a free port of this machine. Returns the URL, and a function that stops the server.
 * @param {import('node:http').RequestListener} handler
 */
export async function listen(handler) {
  const server = createServer(handler)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const stop = () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(() => resolve(undefined)))
  }
  return { url: `http://127.0.0.1:${port}`, stop }
}
