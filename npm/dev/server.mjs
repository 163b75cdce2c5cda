// A server as a child process. It logs to a file and ends with this process.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync } from 'node:fs'

// The shell ends the server when its standard input closes, which also happens when this process is killed. It is
// detached, so Ctrl-C in the terminal reaches this process only, which chooses the order of shutdown.
const SHELL = `
"$@" </dev/null 2>&1 & server=$!
exec >/dev/null 2>&1
read -r _
kill -TERM "$server"
wait "$server"
`
const TIMEOUT = 10_000 // ms to end before it is killed

export class Server {
  #shell
  #tail = ''
  #isShown = false

  /**
   * Starts a server.
   * @param {string} folder of its log
   * @param {string} name
   * @param {string[]} command program and arguments
   * @param {NodeJS.ProcessEnv} env added to the environment of this process
   */
  constructor(folder, name, command, env = {}) {
    this.name = name
    mkdirSync(folder, { recursive: true })
    this.logFile = `${folder}/${name}.log`
    const log = createWriteStream(this.logFile)
    this.#shell = spawn('sh', ['-c', SHELL, 'sh', ...command], {
      detached: true,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    // Ignores a write error if the shell has already ended.
    this.#shell.stdin.on('error', () => {})
    this.#shell.stdout.on('data', (bytes) => {
      log.write(bytes)
      this.#tail = (this.#tail + bytes).slice(-8000)
      if (this.#isShown) process.stdout.write(bytes)
    })
    /** Settles when the server and its child processes have ended. */
    this.ended = once(this.#shell.stdout, 'close')
  }

  /** Prints further output to this process's standard output. */
  show() {
    this.#isShown = true
  }

  /** The last 20 lines of output. */
  get tail() {
    return this.#tail.trimEnd().split('\n').slice(-20).join('\n')
  }

  /** Ends the server. After 10 seconds it is killed. */
  async end() {
    this.#shell.stdin.end()
    const timer = setTimeout(() => this.#shell.pid && process.kill(-this.#shell.pid, 'SIGKILL'), TIMEOUT)
    await this.ended
    clearTimeout(timer)
  }
}
