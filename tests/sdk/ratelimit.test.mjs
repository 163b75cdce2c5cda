// The unmodified package @upstash/ratelimit against the gateway. Since version 2.1 all its scripts set the flag
// `allow-key-locking`, which Redis does not know.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'

import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'

import { startGateway } from './support.mjs'

let gateway
let redis

before(async () => {
  gateway = await startGateway()
  redis = new Redis({ url: gateway.url, token: gateway.token })
})

after(() => gateway?.stop())

const algorithms = {
  fixedWindow: () => Ratelimit.fixedWindow(3, '1 h'),
  slidingWindow: () => Ratelimit.slidingWindow(3, '1 h'),
  tokenBucket: () => Ratelimit.tokenBucket(3, '1 h', 3),
}

for (const [name, algorithm] of Object.entries(algorithms)) {
  describe(name, () => {
    const start = (options = {}) =>
      new Ratelimit({
        redis,
        limiter: algorithm(),
        prefix: `ratelimit:${name}`,
        timeout: 0,
        ephemeralCache: false,
        ...options,
      })

    it('limit rejects further calls', async () => {
      const ratelimit = start()
      const results = []
      for (let call = 0; call < 5; call += 1) results.push(await ratelimit.limit('one'))
      assert.deepEqual(
        results.map(({ success }) => success),
        [true, true, true, false, false],
      )
      assert.deepEqual(
        results.map(({ remaining }) => remaining),
        [2, 1, 0, 0, 0],
      )
      assert.ok(results.every(({ limit }) => limit === 3))
    })

    it('limit holds for concurrent calls', async () => {
      const ratelimit = start()
      const results = await Promise.all(Array.from({ length: 25 }, () => ratelimit.limit('crowd')))
      assert.equal(results.filter(({ success }) => success).length, 3)
    })

    it('reset restores the remaining tokens', async () => {
      const ratelimit = start()
      await ratelimit.limit('reset')
      assert.equal((await ratelimit.getRemaining('reset')).remaining, 2)
      await ratelimit.resetUsedTokens('reset')
      assert.equal((await ratelimit.getRemaining('reset')).remaining, 3)
    })

    it('count survives SCRIPT FLUSH', async () => {
      const ratelimit = start()
      await ratelimit.limit('flush')
      await redis.scriptFlush()
      const { success, remaining } = await ratelimit.limit('flush')
      assert.deepEqual({ success, remaining }, { success: true, remaining: 1 })
    })

    it('deny list blocks a member', async () => {
      const ratelimit = start({ enableProtection: true })
      await redis.sadd(`ratelimit:${name}:denyList:all`, 'villain')
      // Without this key the package fetches a list of IP addresses from the internet.
      await redis.set(`ratelimit:${name}:ipDenyListStatus`, 'valid', { ex: 100 })
      const { success, reason } = await ratelimit.limit('villain')
      assert.deepEqual({ success, reason }, { success: false, reason: 'denyList' })
    })
  })
}
