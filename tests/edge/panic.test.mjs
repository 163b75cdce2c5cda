// Who waits for the wasm, and what becomes of them when it panics: src/http/edge.js, with a stub in
// the place of the wasm.

import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { beforeEach, describe, it, mock } from 'node:test'

const STUB = 'data:text/javascript,export const { __wbg_reset_state, resume } = globalThis.wasm'
registerHooks({
  resolve: (name, context, next) => (name === 'wasm' ? { url: STUB, shortCircuit: true } : next(name, context)),
})

const wasm = (globalThis.wasm = { __wbg_reset_state: mock.fn(), resume: mock.fn() })
const edge = await import('../../src/http/edge.js')

// Effects that end when the test says so: messages to a queue.
const effects = []
const env = {
  QUEUE: { send: (text) => new Promise((done, failed) => effects.push({ text, done, failed })) },
}

// What Rust does with an event: it waits for an effect, answers, or panics.
const waits = (task, text) => edge.perform(task, `send\nQUEUE\n${text}`)
const answers = (task, text) => edge.answer(task, text)
const panics = () => {
  throw new WebAssembly.RuntimeError('unreachable')
}

/** Tells of an event: the number it has, and its answer. */
function tell(rust, text) {
  const told = {}
  told.answer = edge.told((task, text) => rust((told.task = task), text), env, text)
  // Who is rejected is looked at later.
  told.answer.catch(() => {})
  return told
}

const turn = () => new Promise((next) => setImmediate(next))
const unreachable = { name: 'RuntimeError', message: 'unreachable' }
const resumed = () => wasm.resume.mock.calls.map(({ arguments: all }) => all)
const resets = () => wasm.__wbg_reset_state.mock.callCount()

beforeEach(() => {
  // A panic makes the edge forget: each test begins as an isolate does.
  tell(panics)
  effects.length = 0
  wasm.__wbg_reset_state.mock.resetCalls()
  wasm.resume.mock.resetCalls()
  wasm.resume.mock.mockImplementation((task, right, text) => edge.answer(task, `${right} ${text}`))
})

describe('an event', () => {
  it('is gone on with by its number, with what came of its effect', async () => {
    const [one, other] = [tell(waits, 'one'), tell(waits, 'other')]
    assert.deepEqual(effects.map(({ text }) => text), ['one', 'other'])
    effects[1].failed(new Error('no queue'))
    effects[0].done()
    assert.deepEqual(await Promise.all([one.answer, other.answer]), ['true ', 'false no queue'])
    assert.deepEqual(resumed().sort(), [[0, true, ''], [1, false, 'no queue']])
    assert.equal(resets(), 0)
  })

  it('has the number of one that was answered', async () => {
    const waiting = tell(waits, 'waiting')
    assert.equal(await tell(answers, 'first').answer, 'first')
    const next = tell(answers, 'next')
    assert.equal(await next.answer, 'next')
    assert.deepEqual([waiting.task, next.task], [0, 1])
  })
})

describe('a panic', () => {
  it('rejects all who wait and has the instance reset, once', async () => {
    const waiting = [tell(waits, 'a'), tell(waits, 'b'), tell(waits, 'c')]
    const answered = tell(answers, 'answered')
    const lost = tell(panics)
    for (const { answer } of [...waiting, lost]) await assert.rejects(answer, unreachable)
    assert.equal(await answered.answer, 'answered')
    assert.equal(resets(), 1)
  })

  it('does so where an event is gone on with', async () => {
    const [one, other] = [tell(waits, 'one'), tell(waits, 'other')]
    wasm.resume.mock.mockImplementation(panics)
    effects[0].done()
    for (const { answer } of [one, other]) await assert.rejects(answer, unreachable)
    assert.deepEqual([resumed(), resets()], [[[0, true, '']], 1])
  })

  it('does so where an effect has just begun', async () => {
    const lost = tell((task, text) => {
      waits(task, text)
      panics()
    }, 'lost')
    await assert.rejects(lost.answer, unreachable)
    effects[0].done()
    await turn()
    assert.deepEqual([resumed(), resets()], [[], 1])
  })

  it('leaves nothing to go on with to a late effect of who was lost', async () => {
    const lost = [tell(waits, 'done late'), tell(waits, 'failed late'), tell(panics)]
    const next = [tell(waits, 'next'), tell(waits, 'after it')]
    // As the lost ones: nothing but who they are tells them apart.
    assert.deepEqual(next.map(({ task }) => task), lost.slice(0, 2).map(({ task }) => task))
    effects[0].done()
    effects[1].failed(new Error('late'))
    await turn()
    assert.deepEqual(resumed(), [])
    effects[2].done()
    effects[3].done()
    assert.deepEqual(await Promise.all(next.map(({ answer }) => answer)), ['true ', 'true '])
    assert.deepEqual(resumed(), [[0, true, ''], [1, true, '']])
  })

  it('is followed by events that are numbered from the first again, and answered', async () => {
    const before = ['a', 'b', 'c'].map((text) => tell(waits, text))
    for (const at of [1, 2]) effects[at].done()
    await Promise.all([before[1].answer, before[2].answer])
    // One number is free when the panic comes, and of no use any more.
    const lost = tell(panics)
    assert.equal(lost.task, 2)
    for (const { answer } of [before[0], lost]) await assert.rejects(answer, unreachable)
    const next = [tell(waits, 'd'), tell(waits, 'e'), tell(answers, 'f')]
    assert.deepEqual(next.map(({ task }) => task), [0, 1, 2])
    for (const { done } of effects.slice(3)) done()
    assert.deepEqual(await Promise.all(next.map(({ answer }) => answer)), ['true ', 'true ', 'f'])
    assert.equal(resets(), 1)
  })
})
