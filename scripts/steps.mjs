// Runs commands at the same time: `node scripts/steps.mjs 'TITLE|SECONDS|COMMAND' …`. SECONDS is how long it takes on two
// processors if nothing is there yet. Prints which commands run and for how long, unless they end within seconds, and the output
// of each when it has ended. Fails if one fails, after all have ended.

import { spawn } from 'node:child_process'

/** A command that takes longer, in milliseconds, is reported. */
const LONG = 3000
/** Milliseconds between two reports. */
const INTERVAL = 20_000

const begin = performance.now()
const secondsSince = (/** @type {number} */ start) => Math.round((performance.now() - start) / 1000)

const steps = process.argv.slice(2).map((argument, index) => {
  const [title, seconds, ...command] = argument.split('|')
  return {
    number: index + 1,
    title,
    seconds: Number(seconds),
    command: command.join('|'),
    isShown: false,
    isRunning: true,
  }
})
const of = `of ${steps.length}`

/** @param {number} seconds */
function roughly(seconds) {
  if (seconds < 50) return 'less than a minute'
  return seconds < 90 ? 'about a minute' : `about ${Math.round(seconds / 60)} minutes`
}

/** @param {typeof steps[number]} step */
async function run(step) {
  let output = ''
  const child = spawn('bash', ['-c', step.command], { stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const status = await new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)).on('error', resolve))
  step.isRunning = false
  if (output) console.log(output.trimEnd())
  if (status !== 0) console.error(`make: failed: ${step.title} (${step.number} ${of})`)
  else if (step.isShown) console.error(`make: done: ${step.title} (${step.number} ${of}), ${secondsSince(begin)} s`)
  return status === 0
}

/** Prints what runs: at first each command with its rough time, later all in one line. */
function report() {
  const running = steps.filter(({ isRunning }) => isRunning)
  for (const step of running.filter(({ isShown }) => !isShown)) {
    console.error(`make: ${step.title} (${step.number} ${of}, ${roughly(step.seconds)})`)
    step.isShown = true
  }
}

const first = setTimeout(report, LONG)
const timer = setInterval(() => {
  const running = steps.filter(({ isRunning }) => isRunning).map(({ number, title }) => `${title} (${number} ${of})`)
  console.error(`make: after ${secondsSince(begin)} s: ${running.join(', ')}`)
}, INTERVAL)
const results = await Promise.all(steps.map(run))
clearTimeout(first)
clearInterval(timer)
process.exitCode = results.every(Boolean) ? 0 : 1
