// Coverage-guided fuzzing of JavaScript, by the block coverage of V8. `scripts/fuzz` runs it.
//
//   node scripts/fuzz.mjs events <corpus> 60           mutates the inputs of a folder for 60 s and adds new ones
//   node scripts/fuzz.mjs events <corpus> 60 <folder>  then copies the inputs that cover other blocks
//
// It stops at the first input that fails, and writes it to crates/fuzz/artifacts. SEED=7 repeats a run.
// jazzer.js 4.0 requires glibc 2.38 and installs 105 packages. `node:inspector` suffices to cover one file.

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { join } from 'node:path'

import { randomSource } from '../tests/web/random.mjs'

/** The module of each target exports the property, the file to cover, and bytes for mutations. */
const TARGETS = new Map([['events', '../tests/web/event_stream.mjs']])
const MAX_LENGTH = 256

const [, , target, folder, seconds, kept] = process.argv
const { check, SOURCE, WORDS } = await import(TARGETS.get(target) ?? target)
const words = WORDS.map((word) => Buffer.from(word))
const { seed, integer, pick } = randomSource()
const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })

/** Returns the blocks executed since the last call, each with the number of its executions. */
function takeCoverage() {
  const blocks = []
  session.post('Profiler.takePreciseCoverage', (error, coverage) => {
    if (error) throw error
    const functions = coverage.result.find(({ url }) => url === SOURCE)?.functions ?? []
    for (const { startOffset, endOffset, count } of functions.flatMap(({ ranges }) => ranges)) {
      if (count) blocks.push([`${startOffset}-${endOffset}`, count])
    }
  })
  return blocks
}

/** Checks an input and returns its coverage. An input that fails is written to a file. */
async function run(input) {
  try {
    await check(input)
  } catch (error) {
    const artifacts = `crates/fuzz/artifacts/${target}`
    console.error(`${store(artifacts, input)}: ${JSON.stringify(input.toString('latin1'))}, SEED=${seed}`)
    throw error
  }
  return takeCoverage()
}

/** Writes an input under the name that libFuzzer would give it, and returns the path. */
function store(folder, input) {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, createHash('sha1').update(input).digest('hex'))
  writeFileSync(path, input)
  return path
}

/** Returns an input with one part replaced: by nothing, a random byte, a word, or a part of another input. */
function mutate(input) {
  const start = integer(input.length + 1)
  const end = Math.min(input.length, start + (integer(2) ? 0 : integer(16)))
  const other = pick(corpus)
  const first = integer(other.length + 1)
  const replacement = pick([
    () => Buffer.alloc(0),
    () => Buffer.from([integer(256)]),
    () => pick(words),
    () => other.subarray(first, first + integer(32)),
    () => other.subarray(first),
  ])()
  return Buffer.concat([input.subarray(0, start), replacement, input.subarray(end)]).subarray(0, MAX_LENGTH)
}

/** The inputs, the shortest first. */
const corpus = readdirSync(folder).map((name) => readFileSync(join(folder, name)))
corpus.sort((a, b) => a.length - b.length)
/** The blocks found, and the blocks with the magnitude of their count, as in libFuzzer. */
const [covered, counted] = [new Set(), new Set()]
/** Adds a coverage, and returns whether it has a new block and whether it has a new count. */
function add(blocks) {
  const sizes = [covered.size, counted.size]
  for (const [block, count] of blocks) {
    covered.add(block)
    counted.add(`${block} ${Math.floor(Math.log2(count))}`)
  }
  return [covered.size > sizes[0], counted.size > sizes[1]]
}

let executions = 0
for (const input of corpus) {
  add(await run(input))
  executions += 1
}
for (const end = Date.now() + Number(seconds) * 1000; Date.now() < end; executions += 1) {
  let input = pick(corpus)
  for (let count = 1 + integer(4); count > 0; count -= 1) input = mutate(input)
  const [, isNew] = add(await run(input))
  if (!isNew) continue
  corpus.push(input)
  store(folder, input)
}
console.log(`  ${executions} executions, ${covered.size} blocks`)

if (kept) {
  covered.clear()
  corpus.sort((a, b) => a.length - b.length)
  for (const input of corpus) {
    const [isNew] = add(await run(input))
    if (isNew) store(kept, input)
  }
}
