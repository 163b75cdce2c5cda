// The Worker with its store for the npm package, and a proxy before it that injects faults.

import { Client } from '../../sdk/js/src/index.js'
import { listen } from '../sdk/listen.mjs'
import { STORE_TIMEOUT } from '../sdk/slowness.mjs'
import { startGateway } from '../sdk/support.mjs'
import { startWorker } from '../sdk/worker.mjs'

export const KEY = 'test-service-key'
export const JWT_SECRET = 'a test secret that is longer than 32 bytes'

/** Delays that no test waits for. */
export const FAST = { baseDelay: 1, maxDelay: 5 }

/**
 * Starts the Worker and its store. Returns its URL, a client, `score(user)` and `stop()`. `options` are passed to `startWorker`.
 * @param {{ vars?: object, live?: boolean, databases?: boolean }} [options]
 */
export async function startApp({ vars = {}, ...options } = {}) {
  const store = await startGateway()
  try {
    const worker = await startWorker(
      {
        UPSTASH_REDIS_REST_URL: store.url,
        UPSTASH_REDIS_REST_TOKEN: store.token,
        SERVICE_KEYS: KEY,
        JWT_SECRET,
        // The test machine may be busy.
        STORE_TIMEOUT_MS: STORE_TIMEOUT,
        ...vars,
      },
      options,
    )
    const client = new Client({ url: worker.url, key: KEY })
    return {
      url: worker.url,
      client,
      /** Returns the all-time score of a user. */
      score: async (user) => (await client.getStanding({ period: 'all', user })).score,
      stop: async () => {
        await worker.stop()
        await store.stop()
      },
    }
  } catch (error) {
    await store.stop()
    throw error
  }
}

/** Makes the client of a connection lose it, after the app has handled the request. */
export const LOSE_RESPONSE = Symbol('lose response')
/** Cuts the connection before the app sees the request. */
export const CUT = Symbol('cut')
/** Never responds. */
export const HANG = Symbol('hang')

/**
 * Starts a server before an app, and records its requests. `fault` is called with each request and the number of requests
 * before it. It returns one of the faults above, a response `{ status, headers, body }` in place of that of the app, or
 * nothing.
 */
export async function startProxy(app, fault = (..._) => undefined) {
  const requests = []
  const { url, stop } = await listen(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const { method, url: path, headers } = request
    const recorded = { method, url: path, headers, text, time: performance.now() }
    const injected = fault(recorded, requests.push(recorded) - 1)
    if (injected === HANG) return
    if (injected === CUT) return request.socket.destroy()
    if (injected && injected !== LOSE_RESPONSE) {
      return response.writeHead(injected.status, injected.headers).end(injected.body)
    }
    const { authorization, 'content-type': type } = headers
    const answer = await fetch(app.url + path, {
      method,
      headers: { authorization, ...(type && { 'content-type': type }) },
      body: text || undefined,
    })
    const body = await answer.text()
    if (injected === LOSE_RESPONSE) return request.socket.destroy()
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(body)
  })
  return {
    url,
    requests,
    /** Returns the arrays of activities that were sent. */
    batches: () => requests.filter(({ url }) => url === '/v1/activity').map(({ text }) => JSON.parse(text)),
    stop,
  }
}

/** Returns visits of a user to different pages: each counts one point. */
export const visits = (user, count, first = 0) =>
  Array.from({ length: count }, (_, index) => ({ user, action: 'visit', target: `/pages/${first + index}` }))

/** A problem document as the service sends it. */
export const problem = (status, headers = {}) => ({
  status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  body: JSON.stringify({
    type: '/problems/store-unavailable',
    title: 'Injected',
    status,
    detail: 'An injected fault.',
  }),
})
