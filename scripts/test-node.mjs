// Runs test files of node:test for scripts/test-node: `node scripts/test-node.mjs [FOLDER or FILE …]`.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'

const REPORTS = process.env.TEST_REPORTS ?? 'target/test-report'
/** The tests of these folders run several files in a process, which share their servers. */
const TOGETHER = ['tests/web', 'tests/recipes', 'tests/server-sdk']
/** Files that run in one process, at most. */
const FILES = 14
/** The folders that only other targets of the Makefile run. */
const ELSEWHERE = ['tests/ecosystem', 'tests/docs']

const isIn = (/** @type {string} */ file, /** @type {string[]} */ folders) =>
  folders.some((folder) => file.startsWith(`${folder}/`))
const sizeOf = (/** @type {string} */ file) => statSync(file).size

/**
 * Returns the test files of a folder or a file; files that only `make soak` runs are left out.
 * @param {string} path
 */
function filesOf(path) {
  if (!statSync(path).isDirectory()) return [path]
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.mjs'))
  return names.filter((name) => process.env.SOAK || !name.endsWith('.soak.test.mjs')).map((name) => join(path, name))
}

/**
 * Returns files in this many lists of about the same size.
 * @param {string[]} files
 * @param {number} count
 */
function divide(files, count) {
  const lists = Array.from({ length: count }, () => ({ size: 0, files: /** @type {string[]} */ ([]) }))
  for (const file of files.toSorted((a, b) => sizeOf(b) - sizeOf(a))) {
    const smallest = lists.reduce((least, list) => (list.size < least.size ? list : least))
    smallest.files.push(file)
    smallest.size += sizeOf(file)
  }
  return lists.map(({ files }) => files)
}

/**
 * Returns the files to run: those of TOGETHER in files that import several of them.
 * @param {string[]} files
 */
function programsOf(files) {
  const programs = []
  for (const folder of TOGETHER) {
    const inside = files.filter((file) => isIn(file, [folder]))
    for (const [index, list] of divide(inside, Math.ceil(inside.length / FILES)).entries()) {
      const program = join(REPORTS, `${basename(folder)}-${index + 1}.mjs`)
      const path = join(process.cwd(), 'tests/together.mjs')
      writeFileSync(program, `import { together } from ${JSON.stringify(path)}\n\ntogether(${JSON.stringify(list)})\n`)
      programs.push(program)
    }
  }
  return [...programs, ...files.filter((file) => !isIn(file, TOGETHER))]
}

const paths = process.argv.slice(2)
const found = paths.length ? paths.flatMap(filesOf) : filesOf('tests').filter((file) => !isIn(file, ELSEWHERE))
const files = [...new Set(found.map((file) => relative('', file)))].sort()
if (!files.length) {
  console.error('test-node: no tests/**/*.test.mjs')
  process.exit(1)
}
mkdirSync(REPORTS, { recursive: true })
// All files use the packages that one of them packs: tests/npm/packages.mjs.
const packages = mkdtempSync(join(tmpdir(), 'packages-'))
process.env.TEST_PACKAGES = packages
process.on('exit', () => rmSync(packages, { recursive: true, force: true }))
const programs = programsOf(files).map((file) => resolve(file))

/** @type {Record<string, number>} by file */
const seconds = {}
/** @type {{ name: string, reason: string }[]} */
const skipped = []
/** @type {Set<string>} files that ran a test */
const tested = new Set()
let counts = { tests: 0, passed: 0, skipped: 0, todo: 0 }
let success = false

// By default Node.js runs as many files as the machine has processors, less one. Tests of pages mostly wait.
const concurrency = Number(process.env.CONCURRENCY) || 2 * availableParallelism()
const events = run({ files: programs, concurrency })
events.on('test:pass', note).on('test:fail', note)
events.on('test:summary', (summary) => {
  if (!summary.file) ({ counts, success } = summary)
  else if (files.includes(relative('', summary.file))) seconds[relative('', summary.file)] = summary.duration_ms / 1000
})

/**
 * Records the time of a file, or that a test was skipped.
 * @param {any} event
 */
function note({ name, nesting, skip, todo, details, file }) {
  const reason = skip ?? todo
  if (details.type !== 'suite') tested.add(relative('', file))
  if (details.type === 'suite' && nesting === 0 && files.includes(name)) seconds[name] = details.duration_ms / 1000
  else if (reason !== undefined) skipped.push({ name, reason: reason === true ? 'no reason' : reason })
}

const output = events.compose(new spec())
output.pipe(process.stdout, { end: false })
await finished(output, { writable: false })

const slowest = Object.entries(seconds)
  .map(([name, duration]) => ({ name, seconds: Number(duration.toFixed(1)) }))
  .sort((first, second) => second.seconds - first.seconds)
// A file that registers no test passes, too.
const untested = files.filter((file) => !tested.has(file))
const failed = counts.tests - counts.passed - counts.skipped - counts.todo + untested.length
const report = {
  ...{
    group: paths.length ? basename(paths[0]).replace(/\..*/, '') : 'web',
    tests: counts.tests,
    failed,
    skipped,
  },
  ...{ seconds: Number((performance.now() / 1000).toFixed(1)), slowest: slowest.slice(0, 10) },
}
writeFileSync(join(REPORTS, `${report.group}.json`), `${JSON.stringify(report, null, 2)}\n`)
const lines = skipped.map(({ name, reason }) => `  ${name}: ${reason}\n`)
process.stdout.write(skipped.length ? `Skipped tests: ${skipped.length}\n${lines.join('')}` : 'Skipped no test.\n')
if (untested.length) console.error(`test-node: no test in ${untested.join(', ')}`)
process.exitCode = success && !failed ? 0 : 1
