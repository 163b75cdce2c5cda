// Runs the code blocks of a document in order, in a folder, as a reader does: commands in one shell, files as they are
// named, servers until the end.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

import { eventually } from '../sdk/eventually.mjs'
import { scaled } from '../sdk/slowness.mjs'
import { blocksOf, patternOf, ROOT } from './blocks.mjs'
import { isRunElsewhere } from './elsewhere.mjs'

// Runs a script with the directory and the variables that the script before has left.
const SHELL = `
set -aeuo pipefail
if [ -e "$STATE" ]; then . "$STATE"; fi
. "$SCRIPT"
{ export -p; printf 'cd %q\\n' "$PWD"; } >"$STATE"
`
// Runs a script until it or standard input ends, which also happens when this process is killed. Then its processes end.
const SERVER = '(eval "$0"; kill 0) & cat >/dev/null; kill 0'
/** The standard input of commands: a secret in each line. */
const INPUT = 'a-secret-of-this-test\n'
const TIMEOUT = scaled(60_000) // ms

export class Runner {
  #document
  #common
  #prepare
  #example
  #env
  /** @type {[string, string][]} */
  #replacements = []
  #servers = []
  #cleanups = []
  #stateFile
  #scriptFile

  /**
   * @param {string} document the path of a Markdown file
   * @param {object} options
   * @param {[string, string][]} options.replacements what the document has, and what takes its place in this run
   * @param {(block: import('./blocks.mjs').Block) => Promise<[string, string][]>} [options.prepare] called before each
   *   block; returns further replacements, for this block only
   * @param {(block: import('./blocks.mjs').Block, pattern: RegExp) => Promise<void>} [options.example] called with each
   *   block that is neither run nor written
   * @param {Record<string, string>} [options.env] added to the environment
   * @param {string} [options.folder] by default a new one
   */
  constructor(
    document,
    { replacements, prepare = async () => [], example = async () => {}, env = {}, folder = undefined },
  ) {
    this.#document = document
    this.#common = replacements
    this.#prepare = prepare
    this.#example = example
    const own = mkdtempSync(join(tmpdir(), 'activity-rank-document-'))
    this.#cleanups.push(() => rmSync(own, { recursive: true, force: true }))
    const home = join(own, 'home')
    const bin = join(own, 'bin')
    mkdirSync(join(home, '.local/share/bash-completion/completions'), { recursive: true })
    mkdirSync(join(home, '.local/share/man/man1'), { recursive: true })
    mkdirSync(bin)
    for (const [name, command] of Object.entries({
      'activity-rank': join(ROOT, 'target/debug/activity-rank'),
      'redis-rest': join(ROOT, 'target/debug/redis-rest'),
    })) {
      writeFileSync(join(bin, name), `#!/bin/sh\nexec '${command}' "$@"\n`, { mode: 0o755 })
    }
    this.#stateFile = join(own, 'state')
    this.#scriptFile = join(own, 'script')
    if (!folder) {
      folder = join(own, 'folder')
      mkdirSync(folder)
    }
    this.folder = folder
    this.#env = {
      ...process.env,
      PATH: [bin, join(ROOT, 'node_modules/.bin'), process.env.PATH].join(delimiter),
      HOME: home,
      STATE: this.#stateFile,
      SCRIPT: this.#scriptFile,
      NO_COLOR: '1',
      npm_config_cache: join(own, 'npm'),
      npm_config_offline: 'true',
      ...env,
    }
  }

  /** Runs all blocks. Fails at the first command that fails or prints something else than the document says. */
  async run() {
    let output = ''
    for (const block of blocksOf(this.#document)) {
      const place = `${block.document}:${block.line}`
      this.#replacements = [...(await this.#prepare(block)), ...this.#common]
      const code = this.#replace(block.code)
      if (block.role === 'file') this.write(block.name, code)
      else if (block.role === 'server') output = await this.#start(code, place)
      else if (block.role === 'commands') output = await this.#runCommands(code, place)
      else if (block.role === 'transcript') await this.#runCommands(commandsOf(code), place)
      else if (block.role === 'output') {
        const printed = this.#restore(output).trim()
        assert.match(printed, patternOf(block.code), `${place}: the commands above print\n${printed}`)
      } else await this.#example(block, patternOf(block.code))
    }
  }

  /** Writes a file into the directory of the shell. */
  write(name, text) {
    const path = join(this.#directory(), name)
    assert.ok(!name.startsWith('/') && !name.includes('..'), name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }

  /** Ends all servers and removes what the run has written. */
  async stop() {
    await Promise.all(this.#servers.splice(0).map((stop) => stop()))
    for (const cleanup of this.#cleanups.splice(0)) cleanup()
  }

  #directory() {
    const state = existsSync(this.#stateFile) ? readFileSync(this.#stateFile, 'utf8') : ''
    return /^cd (.*)\n$/m.exec(state)?.[1] ?? this.folder
  }

  #replace(text) {
    return this.#replacements.reduce((text, [from, to]) => text.replaceAll(from, to), text)
  }

  #restore(text) {
    const urls = this.#replacements.filter(([from]) => /^https?:[^…]+$/.test(from))
    return urls.reduceRight((text, [from, to]) => text.replaceAll(to, from), text)
  }

  /** Runs commands, except the ones that other tests run, and returns their standard output. */
  async #runCommands(code, place) {
    const lines = code.split('\n').filter((line) => !isRunElsewhere(line))
    writeFileSync(this.#scriptFile, lines.join('\n'))
    const child = spawn('bash', ['-c', SHELL], { cwd: this.folder, env: this.#env, detached: true })
    const ended = new Promise((resolve) => child.on('close', resolve))
    const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), TIMEOUT)
    child.stdin.on('error', () => {})
    child.stdin.end(INPUT.repeat(4))
    const [stdout, stderr] = await Promise.all([child.stdout, child.stderr].map(textOfStream))
    const status = await ended
    clearTimeout(timer)
    assert.equal(status, 0, `${place}: exit code ${status}\n${lines.join('\n')}\n${stdout}${stderr}`)
    return stdout
  }

  /** Starts a server, and returns what it prints up to its URL, once it is ready. */
  async #start(code, place) {
    const state = existsSync(this.#stateFile) ? readFileSync(this.#stateFile, 'utf8') : ''
    const child = spawn('bash', ['-c', SERVER, `${state}\n${code}`], {
      cwd: this.folder,
      env: this.#env,
      detached: true,
    })
    const ended = new Promise((resolve) => child.on('exit', resolve))
    this.#servers.push(() => {
      child.stdin.end()
      return ended
    })
    let output = ''
    let log = ''
    child.stderr.on('data', (bytes) => {
      log += bytes
    })
    return new Promise((resolve, reject) => {
      const fail = () => reject(new Error(`${place}: the server printed only\n${output}${log}`))
      const timer = setTimeout(fail, TIMEOUT)
      ended.then(fail)
      child.stdout.on('data', (bytes) => {
        output += bytes
        const [, url] = /(https?:\/\/\S+)\n/.exec(output) ?? []
        if (!url) return
        clearTimeout(timer)
        resolve(untilReady(url).then(() => output))
      })
    })
  }
}

/** Returns the commands of a transcript. Exit code 1 is that of a command which has found something. */
const commandsOf = (code) =>
  [...code.matchAll(/^\$ (.*)$/gm)].map(([, command]) => `${command} || [ $? -eq 1 ]`).join('\n')

/** Waits until a server that has printed its URL is ready: the gateway may still connect to Redis. */
async function untilReady(url) {
  const isReady = async () => (await fetch(new URL('/healthz', url))).status !== 503
  await eventually(isReady, true)
}

async function textOfStream(stream) {
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
