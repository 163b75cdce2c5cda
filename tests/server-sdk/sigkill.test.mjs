// A process that sends activity under load is killed and started again: nothing it has accepted is lost or doubled.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'

import { isSoak } from '../sdk/depth.mjs'
import { KEY, LOSE_RESPONSE, problem, startApp, startProxy, visits } from './support.mjs'

const CALLS = isSoak ? 4000 : 1000
const AT_A_TIME = 64
const KILLS = isSoak ? 8 : 4

let app
let folder
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sigkill-'))
  app = await startApp()
})
after(async () => {
  await app?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/**
 * The parent is the caller: it repeats a call whose process was killed before the call had resolved, and never one that
 * had. Some responses are lost on the way, so that the service has counted what the killed process would send again.
 */
it('killed process loses and doubles nothing', async (t) => {
  const proxy = await startProxy(app, (_, index) => {
    if (index % 4 === 1) return LOSE_RESPONSE
    if (index % 10 === 3) return problem(503)
  })
  t.after(() => proxy.stop())
  const path = join(folder, 'outbox')
  const calls = visits('42', CALLS)
  const accepted = new Map() // how often each call resolved, by target
  let kills = 0
  let repeated = 0

  // A close that meets a fault leaves the rest to the next process.
  for (let isSent = false; !isSent; ) {
    const child = fork(new URL('crash_child.mjs', import.meta.url), [path, proxy.url, KEY])
    // Messages may arrive after the end of their process.
    const ended = Promise.all([once(child, 'exit'), once(child, 'disconnect')])
    t.after(() => child.kill('SIGKILL'))
    await once(child, 'message')
    const inFlight = new Map()
    const send = () => {
      while (inFlight.size < AT_A_TIME && calls.length) {
        const call = calls.pop()
        inFlight.set(call.target, call)
        child.send(call, () => {})
      }
      if (!inFlight.size) child.send('close')
    }
    const killAt = kills < KILLS ? ((kills + 1) * CALLS) / (KILLS + 1) : Number.POSITIVE_INFINITY
    child.on('message', (/** @type {any} */ message) => {
      if ('isSent' in message) {
        isSent = message.isSent
        return
      }
      const target = message.accepted
      inFlight.delete(target)
      accepted.set(target, (accepted.get(target) ?? 0) + 1)
      if (accepted.size < killAt) send()
      else child.kill('SIGKILL')
    })
    send()
    const [[code, signal]] = await ended
    if (signal === 'SIGKILL') kills++
    else assert.equal(code, 0)
    repeated += inFlight.size
    calls.push(...inFlight.values())
  }

  assert.deepEqual([accepted.size, kills], [CALLS, KILLS])
  assert.deepEqual(
    [...accepted.values()].filter((count) => count > 1),
    [],
  )
  // The faults happened: calls were cut off, and the service received activities more than once.
  assert.ok(repeated > 0)
  assert.ok(proxy.batches().flat().length > CALLS)
  assert.equal(await app.score('42'), CALLS)
  assert.ok(!readFileSync(path, 'utf8').includes(KEY))
})
