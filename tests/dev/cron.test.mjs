// Cron of `make dev`.

import assert from 'node:assert/strict'
import { afterEach, it, mock } from 'node:test'
import { fileURLToPath } from 'node:url'

import { fires, RUNS_AFTER_IMPORT, runCronAfterImport, startCron } from '../../npm/dev/cron.mjs'
import { DEVELOPMENT, readConfig } from '../../scripts/environments.mjs'

const CONFIG = fileURLToPath(new URL('../../wrangler.toml', import.meta.url))

afterEach(() => mock.timers.reset())

for (const [cron, expected] of /** @type {[string, number[]][]} */ ([
  ['*/20 * * * *', [0, 20, 40]],
  ['7 * * * *', [7]],
  ['0,59,30 * * * *', [0, 30, 59]],
  ['*/25,1 * * * *', [0, 1, 25, 50]],
  ['* * * * *', Array.from({ length: 60 }, (_, minute) => minute)],
])) {
  it(`"${cron}" fires in its minutes`, () => {
    const minutes = Array.from({ length: 60 }, (_, minute) => minute)
    assert.deepEqual(
      minutes.filter((minute) => fires(cron, minute)),
      expected,
    )
  })
}

it('other schedules are refused', () => {
  for (const cron of ['', '* * * *', '60 * * * *', '*/0 * * * *', '1-5 * * * *', '0 0 * * *', '1,x * * * *']) {
    assert.throws(() => fires(cron, 0), /not ".*"\.$/, cron)
    assert.throws(() => startCron('http://worker.example', [cron], assert.fail), /not ".*"\.$/, cron)
  }
})

/** Records the calls of ten minutes, which `respond` answers. */
async function run(t, crons, respond) {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: new Date('2026-11-22T12:34:57Z') })
  const calls = []
  t.mock.method(globalThis, 'fetch', async (url) => {
    const { origin, pathname, searchParams } = new URL(url)
    assert.equal(origin + pathname, 'http://worker.example/cdn-cgi/handler/scheduled')
    const time = new Date(Number(searchParams.get('time'))).toISOString().slice(11)
    assert.equal(time, new Date().toISOString().slice(11))
    calls.push([time.slice(0, 5), searchParams.get('cron')])
    return respond()
  })
  const reports = []
  const stop = startCron('http://worker.example', crons, (message) => reports.push(message))
  for (let second = 0; second < 600; second += 1) mock.timers.tick(1000)
  stop()
  mock.timers.tick(600_000)
  await new Promise((resolve) => setImmediate(resolve))
  return { calls, reports }
}

it('schedules of wrangler.toml fire as in production', async (t) => {
  const { calls, reports } = await run(t, readConfig(CONFIG, DEVELOPMENT).triggers.crons, () => new Response('ok'))
  const every = ['35', '36', '37', '38', '39', '40', '41', '42', '43', '44']
  const expected = every.flatMap((minute) => {
    const crons = minute === '35' || minute === '40' ? ['*/5 * * * *', '* * * * *'] : ['* * * * *']
    return crons.map((cron) => [`12:${minute}`, cron])
  })
  assert.deepEqual([calls, reports], [expected, []])
})

it('failures are reported and do not stop it', async (t) => {
  const responses = [() => new Response('exception', { status: 500 }), () => Promise.reject(new TypeError('no route'))]
  const { calls, reports } = await run(t, ['*/5 * * * *'], () => responses.shift()())
  assert.equal(calls.length, 2)
  assert.deepEqual(reports.sort(), [
    'cron "*/5 * * * *" could not be started: TypeError: no route',
    'cron "*/5 * * * *" failed: 500 exception',
  ])
})

it('import is followed by runs of every 5 minutes', async (t) => {
  const { crons } = readConfig(CONFIG, DEVELOPMENT).triggers
  for (const [ending, expected] of [
    [99, RUNS_AFTER_IMPORT],
    [3, 3],
  ]) {
    const calls = []
    let running = 0
    t.mock.method(globalThis, 'fetch', async (url) => {
      running += 1
      assert.equal(running, 1, 'one after the other')
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      calls.push(new URL(url).searchParams.get('cron'))
      return new Response('ok')
    })
    await runCronAfterImport('http://worker.example', crons, () => calls.length === ending)
    assert.deepEqual(calls, Array(expected).fill('*/5 * * * *'))
  }
})

it('failed run after an import ends them', async (t) => {
  t.mock.method(globalThis, 'fetch', async () => new Response('exception', { status: 500 }))
  const runs = runCronAfterImport('http://worker.example', ['*/5 * * * *'], () => false)
  await assert.rejects(runs, { message: 'cron "*/5 * * * *" failed: 500 exception' })
  assert.equal(/** @type {any} */ (fetch).mock.callCount(), 1)
})
