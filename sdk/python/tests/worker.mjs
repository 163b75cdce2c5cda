// Starts the Worker with its store for the Python tests, and prints its address and credentials as JSON. Ends when its
// standard input closes, so also when the tests are killed.

import { generateKeyPairSync } from 'node:crypto'

import { startGateway } from '../../../tests/sdk/support.mjs'
import { startWorker } from '../../../tests/sdk/worker.mjs'

const credentials = { serviceKey: 'test-service-key', jwtSecret: 'a test secret that is longer than 32 bytes' }

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const gateway = await startGateway()
const worker = await startWorker(
  {
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: gateway.token,
    SERVICE_KEYS: credentials.serviceKey,
    JWT_SECRET: credentials.jwtSecret,
    JWT_ISSUER: 'https://example.com',
    JWT_AUDIENCE: 'activity-rank',
    BOARD_MAX_AGE: 0, // no caches: a test reads what it has written
    CONTENT_PERIODS: 'day,week,all',
    PLAYGROUND: true,
    PUBLIC_STATS: true,
    ACHIEVEMENTS: { liker: { name: { en: 'Liker', de: 'Liker:in' }, steps: [1, 2, 10], count: 'like' } },
    BADGE_KEY: JSON.stringify(privateKey.export({ format: 'jwk' })),
    BADGE_ISSUER: 'https://rank.example.com',
    FAIR_PLAY: '{}',
    WEBHOOKS: JSON.stringify([
      { url: 'http://127.0.0.1:9/', secret: `whsec_${Buffer.alloc(32).toString('base64')}`, kinds: ['journal.lagging'] },
    ]),
    // The test machine may be busy.
    STORE_TIMEOUT_MS: 5000,
  },
  { live: true, databases: true },
)
console.log(JSON.stringify({ url: worker.url, ...credentials }))

process.stdin.resume().on('end', async () => {
  await worker.stop()
  await gateway.stop()
})
