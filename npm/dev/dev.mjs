// Runs Redis, the gateway and the Worker on this machine, with a real community's data: `activity-rank dev` of the npm
// package, `make dev` and `make cluster`. All servers end with this process.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

import { UserError } from '../user_error.mjs'
import { ACHIEVEMENTS, profiles, shiftToNow, targets } from './community.mjs'
import { runCronAfterImport, startCron } from './cron.mjs'
import { introduction } from './introduction.mjs'
import { Server } from './server.mjs'
import { cluster, single } from './store.mjs'
import { developmentFiles } from './web.mjs'

/**
 * What to run, and where its data goes.
 * @typedef {object} Setup
 * @property {string} command how the user started this
 * @property {string} commandLine how the user runs the command line
 * @property {string} folder data of Redis, of wrangler's databases, logs and files. A journal belongs to one Redis, so each
 *   store needs a folder of its own
 * @property {boolean} isCluster whether Redis is a cluster of six nodes
 * @property {boolean} isEmpty whether the data of the community is left out
 * @property {{ worker: number, gateway: number, redis: number }} ports
 * @property {string} config configuration of wrangler
 * @property {string} [environment] of the configuration
 * @property {string[]} crons schedules
 * @property {Record<string, unknown>} vars of the configuration
 * @property {string[]} secrets files of variables; later ones override earlier ones
 * @property {string} wrangler the program, a JavaScript file
 * @property {string} programs folder of `redis-rest` and `activity-rank`
 * @property {string} community file of activities
 * @property {(folder: string) => Promise<void>} assemble writes the files for browsers to a folder
 * @property {string} [watched] folder whose changes call `assemble` again
 */

const run = promisify(execFile)

/**
 * Runs until a signal, or until a server ends by itself. Returns the exit status.
 * @param {Setup} setup
 */
export async function dev(setup) {
  const development = new Development(setup)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => development.end(0))
  development.start().catch((error) => {
    if (development.isEnding) return
    console.error(error instanceof UserError ? `dev: ${error.message}` : error)
    development.end(1)
  })
  return development.ended
}

class Development {
  #setup
  #store
  #secrets
  /** @type {Server[]} */
  #servers = []
  #stopCron = () => {}
  /** @type {(status: number) => void} */
  #resolve = () => {}
  isEnding = false
  /** Settles with the exit status. */
  ended = new Promise((/** @type {(status: number) => void} */ resolve) => (this.#resolve = resolve))

  /** @param {Setup} setup */
  constructor(setup) {
    this.#setup = setup
    this.#store = setup.isCluster ? cluster : single
    this.#secrets = Object.assign({}, ...setup.secrets.map(variables))
  }

  async start() {
    const { ports, folder } = this.#setup
    await this.#assertFree('PORT', ports.worker)
    await this.#assertFree('GATEWAY_PORT', ports.gateway)
    for (const port of this.#store.ports(ports.redis)) await this.#assertFree('REDIS_PORT', port)
    mkdirSync(folder, { recursive: true })

    await this.#store.start(folder, (name, command) => this.#serve(name, command), ports.redis)
    const gateway = this.#serve('gateway', [join(this.#setup.programs, 'redis-rest')], {
      REDIS_URL: this.#store.url(ports.redis),
      LISTEN: `127.0.0.1:${ports.gateway}`,
      REDIS_REST_TOKEN: this.#secrets.UPSTASH_REDIS_REST_TOKEN,
    })
    await this.#waitUntilHealthy(this.#gatewayUrl, gateway)
    for (const database of ['ARCHIVE', 'JOURNAL']) await this.#migrate(database)
    const worker = await this.#startWorker()
    await this.#waitUntilHealthy(this.#url, worker)
    if (this.isEnding) return
    this.#stopCron = startCron(this.#url, this.#setup.crons, (message) => {
      if (!this.isEnding) console.error(`dev: ${message}`)
    })
    if (!this.#setup.isEmpty) await this.#importOnce()
    if (this.isEnding) return
    console.log(introduction(this.#setup, { url: this.#url, gatewayUrl: this.#gatewayUrl }, this.#secrets))
    worker.show()
  }

  /**
   * Ends all servers, the last started first.
   * @param {number} status
   */
  async end(status) {
    if (this.isEnding) return
    this.isEnding = true
    this.#stopCron()
    for (const server of this.#servers.reverse()) await server.end()
    this.#resolve(status)
  }

  get #url() {
    return `http://127.0.0.1:${this.#setup.ports.worker}`
  }

  get #gatewayUrl() {
    return `http://127.0.0.1:${this.#setup.ports.gateway}`
  }

  /**
   * Starts a server. If it ends by itself, everything ends.
   * @param {string} name
   * @param {string[]} command
   * @param {NodeJS.ProcessEnv} [env]
   */
  #serve(name, command, env) {
    const server = new Server(join(this.#setup.folder, 'log'), name, command, env)
    this.#servers.push(server)
    server.ended.then(() => {
      if (this.isEnding) return
      console.error(`dev: ${name} ended unexpectedly. Its last output (${server.logFile}):\n\n${server.tail}\n`)
      this.end(1)
    })
    return server
  }

  async #startWorker() {
    const { folder, ports, config, environment, secrets, assemble, watched, isEmpty, vars } = this.#setup
    const hasOwn = vars.ACHIEVEMENTS || vars.RULES
    const assets = join(folder, 'web')
    await developmentFiles(assets, this.#secrets.JWT_SECRET, assemble, watched)
    return this.#serve('worker', [
      ...[process.execPath, this.#setup.wrangler, 'dev', '--config', config],
      ...(environment ? ['--env', environment] : []),
      ...['--ip', '127.0.0.1', '--port', `${ports.worker}`, '--inspector-port', '0'],
      ...['--persist-to', this.#state, '--show-interactive-dev-session=false', '--assets', assets],
      ...secrets.flatMap((file) => ['--env-file', file]),
      ...['--var', `UPSTASH_REDIS_REST_URL:${this.#gatewayUrl}`],
      // The limits of the free plan do not hold on this machine.
      ...['--var', 'CRON_BUDGET:1000'],
      ...['--var', 'CONTENT_PERIODS:day,week,month,year,all', '--var', 'PLAYGROUND:true'],
      // All readers of this machine have one address.
      ...['--var', `VISITORS:${vars.VISITORS ?? 'like'}`, '--var', 'VISITORS_PER_ADDRESS:10000'],
      ...(isEmpty || hasOwn ? [] : ['--var', `ACHIEVEMENTS:${JSON.stringify(ACHIEVEMENTS)}`]),
      // Pages of a site that is developed on this machine, on any port.
      ...['--var', 'ALLOWED_ORIGINS:http://localhost:*,http://127.0.0.1:*'],
      ...this.#store.variables.flatMap((variable) => ['--var', variable]),
    ])
  }

  /** The folder of wrangler's databases, namespaces and queues. */
  get #state() {
    return join(this.#setup.folder, 'wrangler')
  }

  /** @param {string} database its binding */
  async #migrate(database) {
    const { wrangler, config, environment } = this.#setup
    const args = [wrangler, 'd1', 'migrations', 'apply', database, '--local', '--persist-to', this.#state]
    args.push('--config', config, ...(environment ? ['--env', environment] : []))
    await run(process.execPath, args, { env: { ...process.env, CI: '1' } }).catch((error) => {
      throw new UserError(`The migrations of ${database} failed:\n${error.stdout}${error.stderr}`)
    })
  }

  /**
   * Fails unless a port is free.
   * @param {string} variable
   * @param {number} port
   */
  async #assertFree(variable, port) {
    if (!(port >= 1 && port <= 65_535)) throw new UserError(`${variable} must be a port from 1 to 65535.`)
    const probe = createServer()
    await new Promise((resolve, reject) => {
      probe.once('error', reject).listen(port, '127.0.0.1', () => resolve(undefined))
    }).catch((error) => {
      const other = `${variable}=${port + 10} ${this.#setup.command}`
      throw new UserError(`Port ${port} is not available (${error.code}). Use another one: ${other}`)
    })
    await new Promise((resolve) => probe.close(resolve))
  }

  /**
   * Waits until a server is healthy. Fails with its last response after a minute.
   * @param {string} url
   * @param {Server} server
   */
  async #waitUntilHealthy(url, server) {
    let last = 'no response'
    for (const deadline = Date.now() + 60_000; Date.now() < deadline && !this.isEnding; await pause(50)) {
      try {
        const response = await fetch(`${url}/healthz`)
        if (response.ok) return
        last = `${response.status} ${await response.text()}`
      } catch {
        // It does not listen yet.
      }
    }
    if (!this.isEnding) throw new UserError(`${url}/healthz: ${last}\n\n${server.tail}`)
  }

  /** Imports the community's data, once per data folder: the marker file is stored with the data. */
  async #importOnce() {
    const { folder, community } = this.#setup
    const marker = join(folder, 'imported')
    if (existsSync(marker)) return
    console.log('dev: importing the activity of a real community (once)')
    const { publications, others } = shiftToNow(community)
    // A target is registered at the instant of its publication, and receives from then on.
    const upload = async (/** @type {string} */ command, /** @type {string[]} */ lines) => {
      const file = join(folder, `${command}.jsonl`)
      writeFileSync(file, lines.join('\n'))
      await this.#upload([command, file])
    }
    await upload('profiles', profiles(community))
    await upload('import', publications)
    await upload('targets', targets(community))
    await upload('import', others)
    writeFileSync(marker, `${new Date().toISOString()}\n`)
    // Nothing waits for the archive, which calendars show.
    runCronAfterImport(this.#url, this.#setup.crons, () => this.isEnding).catch((error) => {
      if (!this.isEnding) console.error(`dev: ${error.message}`)
    })
  }

  /**
   * Runs a command of the command line that uploads a file.
   * @param {string[]} args
   */
  async #upload(args) {
    const env = { ...process.env, ACTIVITY_RANK_KEY: this.#secrets.SERVICE_KEYS }
    const program = join(this.#setup.programs, 'activity-rank')
    const { stdout } = await run(program, [...args, '--url', this.#url], { env }).catch((error) => {
      throw new UserError(`The import failed:\n${error.stdout}${error.stderr}`)
    })
    console.log(stdout.trimEnd().replace(/^/gm, '  '))
  }
}

/**
 * Returns the variables in a file of lines `NAME=value`.
 * @param {string} file
 */
const variables = (file) =>
  Object.fromEntries(
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => /^\w+=/.test(line))
      .map((line) => line.split(/=(.*)/)),
  )
