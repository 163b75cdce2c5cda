// A server as a child process: logged, watched, and never left behind.

import { spawn } from 'node:child_process'
import { createWriteStream, mkdirSync } from 'node:fs'
import { once } from 'node:events'

// The shell ends the server when its stdin does, which is when we have gone, killed or not.
// Group of its own (detached): Ctrl-C in the terminal reaches us alone, and we choose the order.
const TIED = `
"$@" </dev/null 2>&1 & server=$!
exec >/dev/null 2>&1
read -r _
kill -TERM "$server"
wait "$server"
`

export class Server {
  #shell
  #tail = ''
  #ended

  /** Starts `command` (program and arguments) with the environment `env` added to ours. */
  constructor(name, command, env = {}) {
    this.name = name
    mkdirSync('.dev/log', { recursive: true })
    this.logFile = `.dev/log/${name}.log`
    const log = createWriteStream(this.logFile)
    this.#shell = spawn('sh', ['-c', TIED, 'sh', ...command], {
      detached: true,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    // The shell may have ended already when we close its stdin.
    this.#shell.stdin.on('error', () => {})
    this.#shell.stdout.on('data', (bytes) => {
      log.write(bytes)
      this.#tail = (this.#tail + bytes).slice(-8000)
      if (this.shown) process.stdout.write(bytes)
    })
    this.#ended = once(this.#shell.stdout, 'close')
  }

  /** Its output is also ours from now on. */
  show() {
    this.shown = true
  }

  /** The last lines it wrote. */
  get tail() {
    return this.#tail.trimEnd().split('\n').slice(-20).join('\n')
  }

  /** Settles when the server, and whatever it started, has ended. */
  get ended() {
    return this.#ended
  }

  /** Asks it to end, and waits; whatever still runs after ten seconds is killed. */
  async end() {
    this.#shell.stdin.end()
    const impatience = setTimeout(() => process.kill(-this.#shell.pid, 'SIGKILL'), 10_000)
    await this.#ended
    clearTimeout(impatience)
  }
}
