// A receiver that reaches the deployment by a service binding, as its wrangler.toml says.

import assert from 'node:assert/strict'
import { it } from 'node:test'

import { STORE_TIMEOUT } from '../sdk/slowness.mjs'
import { startGateway } from '../sdk/support.mjs'
import { startWrangler, workerConfig } from '../sdk/worker.mjs'
import { KEY, ONCE, payload, receiverConfig, SECRET, thrice } from './support.mjs'

it('delivery through the service binding counts once', async (t) => {
  const store = await startGateway()
  t.after(() => store.stop())
  const vars = {
    UPSTASH_REDIS_REST_URL: store.url,
    UPSTASH_REDIS_REST_TOKEN: store.token,
    STORE_TIMEOUT_MS: STORE_TIMEOUT,
  }
  const keys = { SERVICE_KEYS: `activity+profiles+content:${KEY}` }
  const rank = { ...workerConfig({ ...vars, ...keys }), name: 'activity-rank' }
  const config = receiverConfig('github', { GITHUB_SECRET: SECRET, ACTIVITY_RANK_KEY: KEY })
  const services = [{ binding: 'RANK', service: 'activity-rank' }]
  const receiver = await startWrangler({ ...config, services }, [rank])
  t.after(() => receiver.stop())
  const app = { source: 'github', url: receiver.url }
  assert.deepEqual(await thrice(app, 'star.created', payload('github', 'star.created')), ONCE)
})
