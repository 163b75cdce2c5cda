// The unmodified package @upstash/redis against the gateway.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'

import { Redis } from '@upstash/redis'

import { startGateway } from './support.mjs'

let gateway
let redis

before(async () => {
  gateway = await startGateway()
  // By default the client batches single commands into pipelines.
  redis = new Redis({ url: gateway.url, token: gateway.token, enableAutoPipelining: false })
})

after(() => gateway?.stop())

describe('single commands', () => {
  it('strings, numbers and objects round-trip', async () => {
    assert.equal(await redis.set('single:string', 'value', { ex: 100 }), 'OK')
    assert.equal(await redis.get('single:string'), 'value')
    await redis.set('single:object', { a: [1, 'é', null], b: { c: true } })
    assert.deepEqual(await redis.get('single:object'), { a: [1, 'é', null], b: { c: true } })
    await redis.set('single:number', 42)
    assert.equal(await redis.get('single:number'), 42)
    assert.equal(await redis.get('single:none'), null)
    assert.equal(await redis.set('single:string', 'other', { nx: true }), null)
    assert.equal(await redis.set('single:string', 'third', { get: true }), 'value')
    await redis.set('single:big', '9007199254740993123')
    assert.equal(await redis.get('single:big'), '9007199254740993123')
  })

  it('status and null replies round-trip', async () => {
    assert.equal(await redis.ping(), 'PONG')
    assert.equal(await redis.echo('OK'), 'OK')
    assert.equal(await redis.type('single:none'), 'none')
    assert.deepEqual(await redis.mget('single:none', 'single:none'), [null, null])
  })

  it('counters increment and expire', async () => {
    assert.equal(await redis.incrby('single:counter', 7), 7)
    assert.equal(await redis.incrbyfloat('single:float', 1.5), 1.5)
    assert.equal(await redis.expire('single:counter', 100), 1)
    assert.equal(await redis.ttl('single:counter'), 100)
    assert.equal(await redis.del('single:counter', 'single:float'), 2)
  })
})

describe('strings', () => {
  it('any character round-trips, half of one as U+FFFD', async () => {
    const texts = ['', ' ', '\u0000\u0001\u001f', '"\\/\n\r\t', 'é 中文 😀', '\u2028\u2029', '[not json']
    for (const [index, text] of texts.entries()) {
      await redis.set(`strings:${index}`, text)
      assert.equal(await redis.get(`strings:${index}`), text)
    }
    await redis.set('strings:half', 'a\ud800b')
    assert.equal(await redis.get('strings:half'), 'a\ufffdb')
  })

  it('strings round-trip without base64', async () => {
    const plain = new Redis({ url: gateway.url, token: gateway.token, responseEncoding: false })
    await plain.set('strings:plain', 'é " \\ \n 😀')
    assert.equal(await plain.get('strings:plain'), 'é " \\ \n 😀')
  })
})

describe('hashes and sorted sets', () => {
  it('hash fields round-trip', async () => {
    assert.equal(await redis.hset('hash:a', { name: 'Ada', points: 3, tags: ['x'] }), 3)
    assert.deepEqual(await redis.hgetall('hash:a'), { name: 'Ada', points: 3, tags: ['x'] })
    assert.deepEqual(await redis.hmget('hash:a', 'name', 'none'), { name: 'Ada', none: null })
    assert.equal(await redis.hincrby('hash:a', 'points', 4), 7)
    assert.equal(await redis.hgetall('hash:none'), null)
  })

  it('sorted set ranks its members', async () => {
    const members = [
      { score: 1, member: 'a' },
      { score: 2.5, member: 'b' },
      { score: 9, member: 'c' },
    ]
    assert.equal(await redis.zadd('zset:a', ...members), 3)
    assert.equal(await redis.zincrby('zset:a', 10, 'a'), 11)
    assert.deepEqual(await redis.zrange('zset:a', 0, 1, { rev: true, withScores: true }), ['a', 11, 'c', 9])
    assert.equal(await redis.zrevrank('zset:a', 'b'), 2)
    assert.equal(await redis.zscore('zset:a', 'b'), 2.5)
    assert.deepEqual(await redis.zmscore('zset:a', ['b', 'none']), [2.5, null])
  })

  it('HSCAN returns every field', async () => {
    const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, index]))
    await redis.hset('hash:scan', fields)
    const seen = new Set()
    let cursor = '0'
    do {
      const [next, found] = await redis.hscan('hash:scan', cursor, { count: 100 })
      for (const field of found.filter((_, index) => index % 2 === 0)) seen.add(field)
      cursor = next
    } while (cursor !== '0')
    assert.equal(seen.size, 1000)
  })
})

describe('pipelines and transactions', () => {
  it('pipeline results keep the order', async () => {
    const pipeline = redis.pipeline()
    pipeline.set('pipe:a', { x: 1 }).incr('pipe:n').get('pipe:a').lrange('pipe:none', 0, -1).get('pipe:none')
    assert.deepEqual(await pipeline.exec(), ['OK', 1, { x: 1 }, [], null])
  })

  it('pipeline error keeps its position, and names it', async () => {
    const pipeline = redis.pipeline()
    pipeline.set('pipe:text', 'a').incr('pipe:text').get('pipe:text')
    const results = await pipeline.exec({ keepErrors: true })
    assert.deepEqual(
      results.map(({ result }) => result),
      ['OK', undefined, 'a'],
    )
    assert.equal(results[1].error, 'ERR value is not an integer or out of range')
    await assert.rejects(pipeline.exec(), /Command 2 \[ incr \] failed: ERR value is not an integer/)
  })

  it('auto-pipelining counts every command', async () => {
    const auto = new Redis({ url: gateway.url, token: gateway.token })
    const counts = await Promise.all(Array.from({ length: 200 }, () => auto.incr('pipe:auto')))
    assert.deepEqual(
      counts,
      Array.from({ length: 200 }, (_, index) => index + 1),
    )
  })

  it('transaction returns all results', async () => {
    const multi = redis.multi()
    multi.set('multi:a', '1').incr('multi:a').hset('multi:h', { f: 'v' }).hgetall('multi:h')
    assert.deepEqual(await multi.exec(), ['OK', 2, 1, { f: 'v' }])
  })

  it('invalid transaction changes nothing', async () => {
    const multi = redis.multi()
    multi.set('multi:never', '1')
    multi.chain(
      new (class {
        command = ['nosuch']
        deserialize = (value) => value
      })(),
    )
    await assert.rejects(multi.exec(), /ERR Command is not available: 'NOSUCH'/)
    assert.equal(await redis.exists('multi:never'), 0)
  })
})

describe('scripts', () => {
  it('scripts run by text and by SHA', async () => {
    const text = 'return {KEYS[1], ARGV[1], ARGV[2]}'
    assert.deepEqual(await redis.eval(text, ['k'], ['a', 1]), ['k', 'a', 1])
    const sha = await redis.scriptLoad(text)
    assert.deepEqual(await redis.scriptExists(sha, '0'.repeat(40)), [1, 0])
    assert.deepEqual(await redis.evalsha(sha, ['k'], ['a', 1]), ['k', 'a', 1])
  })

  it('missing script is loaded again', async () => {
    const script = redis.createScript("return 'loaded ' .. ARGV[1]")
    await assert.rejects(script.evalsha([], ['x']), /NOSCRIPT/)
    assert.equal(await script.exec([], ['once']), 'loaded once')
    assert.equal(await script.evalsha([], ['again']), 'loaded again')
    await redis.scriptFlush()
    assert.equal(await script.exec([], ['after flush']), 'loaded after flush')
  })

  it('script with allow-key-locking runs', async () => {
    const text = "#!lua flags=allow-key-locking\nreturn redis.call('INCR', KEYS[1])"
    const script = redis.createScript(text)
    assert.equal(await script.exec(['script:lock'], []), 1)
    assert.equal(await script.evalsha(['script:lock'], []), 2)
    const sha = await redis.scriptLoad(text)
    assert.equal(sha, script.sha1 ?? sha)
    assert.equal(await redis.evalsha(sha, ['script:lock'], []), 3)
  })

  it('missing script in pipeline is NOSCRIPT', async () => {
    const pipeline = redis.pipeline().evalsha('0'.repeat(40), [], [])
    await assert.rejects(pipeline.exec(), /NOSCRIPT No matching script\. Please use EVAL\./)
  })
})

describe('errors', () => {
  it('Redis error includes the command', async () => {
    await redis.set('errors:text', 'a')
    await assert.rejects(redis.lpush('errors:text', 'b'), (/** @type {Error} */ error) => {
      assert.equal(error.name, 'UpstashError')
      assert.match(error.message, /^WRONGTYPE Operation against a key .*, command was: \["lpush","errors:text","b"\]$/)
      return true
    })
  })

  it('wrong token is WRONGPASS', async () => {
    const unauthorized = new Redis({ url: gateway.url, token: 'wrong', retry: false })
    await assert.rejects(unauthorized.get('a'), /^UpstashError: WRONGPASS invalid or missing auth token/)
  })

  it('null argument is rejected', async () => {
    const multi = redis.pipeline()
    multi.chain(
      new (class {
        command = ['set', 'a', undefined]
        deserialize = (value) => value
      })(),
    )
    await assert.rejects(multi.exec(), /ERR null args are not supported/)
  })
})

describe('read your writes', () => {
  it('sync token changes after every write', async () => {
    const own = new Redis({ url: gateway.url, token: gateway.token })
    const token = () => /** @type {any} */ (own).client.upstashSyncToken
    const seen = [token()]
    const after = async (write) => {
      await write
      assert.ok(!seen.includes(token()), `${token()} was seen before`)
      seen.push(token())
    }
    await after(own.set('sync:a', 1))
    await after(own.set('sync:a', 1))
    await after(own.pipeline().set('sync:a', 2).get('sync:a').exec())
    await after(own.multi().set('sync:a', 3).exec())
    await after(own.eval("return redis.call('SET', KEYS[1], 4)", ['sync:a'], []))
    await after(own.createScript("return redis.call('SET', KEYS[1], 5)").exec(['sync:a'], []))
  })
})
