// The client: a method for each operation of the API, and the batch sender.

/** @import { Activity, Arguments, CallOptions, Calls, ClientOptions, Operation, Response, Result } from './types.js' */

import { Transport } from './http.js'
import { watch } from './live.js'
import { OPERATIONS } from './operations.js'
import { Sender } from './sender.js'

// Has a method for each operation. They are made of the table, so that none is missing; `Calls` has their types.
const Operations = /** @type {new () => Calls} */ (/** @type {unknown} */ (class {}))

/** @type {Record<string, (this: Client, args?: any, options?: CallOptions) => unknown>} */
const methods = Operations.prototype
for (const operation of /** @type {Operation[]} */ (Object.keys(OPERATIONS))) {
  methods[operation] = operation.startsWith('watch')
    ? function (args, options) {
        return this.watch(operation, args, options)
      }
    : async function (args, options) {
        return (await this.request(operation, args, options)).body
      }
}

/**
 * A client of one deployment.
 *
 *     const rank = new Client({ url: 'https://activity-rank.example.com', key: process.env.SERVICE_KEY })
 *     await rank.track({ user: '42', action: 'like', target: 'post-7' })
 *     const { entries } = await rank.getBoard({ period: 'week', limit: 10 })
 *     await rank.close()
 */
export class Client extends Operations {
  #transport
  #senderOptions
  /** @type {Sender | undefined} */
  #sender

  /**
   * Throws a `TypeError` or `RangeError` for invalid options. With an `outbox`, what an earlier process left in it is
   * sent from now on.
   * @param {ClientOptions} options
   */
  constructor(options) {
    super()
    this.#transport = new Transport(options)
    this.#senderOptions = options
    if (options.outbox) this.#startSender().start()
  }

  /**
   * Calls an operation and returns the whole response: `status`, `headers`, and the decoded `body`. With an
   * `if-none-match` header the status may be 304, without a body.
   * @template {Operation} Id
   * @param {Id} operation
   * @param {Arguments<Id>} [args]
   * @param {CallOptions} [options]
   * @returns {Promise<Response<Result<Id>>>}
   */
  async request(operation, args, options) {
    const parameters = /** @type {Record<string, unknown> | undefined} */ (args)
    return /** @type {Response<any>} */ (await this.#transport.request(operation, parameters, options))
  }

  /**
   * Calls an operation whose response is an event stream, as the method of its name does.
   * @param {Operation} operation
   * @param {Record<string, unknown>} [args]
   * @param {CallOptions} [options]
   * @returns {AsyncGenerator<unknown, void, void>}
   */
  watch(operation, args = {}, options) {
    return watch(this.#transport, operation, args, options)
  }

  /**
   * Accepts an activity, which is sent in a batch later. Resolves once the outbox has stored it; rejects if the outbox
   * cannot store it, is full or closed, if the signal is already aborted, and with a `TypeError` if JSON cannot represent the
   * activity or its `user` is neither a string nor an integer. Without `at`, the activity gets the instant
   * of this call: the clock of this machine may be at most 60 seconds ahead.
   * @param {Activity} activity
   * @param {{ signal?: AbortSignal }} [options]
   * @returns {Promise<void>}
   */
  async track(activity, options) {
    await this.#startSender().track(activity, options)
  }

  /**
   * Sends accepted activities now, and resolves when none is waiting. Aborting only stops the wait.
   * @param {{ signal?: AbortSignal }} [options]
   * @returns {Promise<void>}
   */
  async flush(options) {
    await this.#sender?.flush(options)
  }

  /**
   * Accepts no more activities, sends the rest, and closes the outbox. Returns whether everything was sent. While the
   * service does not respond, activities in a durable outbox stay there for the next process; those in memory are tried
   * until the signal is aborted, and are lost then.
   * @param {{ signal?: AbortSignal }} [options]
   * @returns {Promise<boolean>}
   */
  async close(options) {
    return this.#startSender().close(options)
  }

  async [Symbol.asyncDispose]() {
    await this.close()
  }

  #startSender() {
    return (this.#sender ??= new Sender(this.#transport, this.#senderOptions))
  }
}
