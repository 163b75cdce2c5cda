// The client of activity-rank for servers. Everything here runs wherever `fetch` and WebCrypto exist: Node.js 20, Deno,
// Bun and Workers. The outbox in a file needs Node's modules and is an export of its own, file-outbox.js. In reading order:
//
//   client.js     Client: a method for each operation of the API, and the batch sender
//   http.js       requests with a deadline and retries
//   retry.js      back-off, `Retry-After`, which errors are temporary
//   live.js       event streams
//   activity.js   activities as JSON, ids of users
//   sender.js     batches of activities, until the service has them
//   outbox.js     the interface of an outbox, and the one in memory
//   token.js      user tokens
//   errors.js     errors
//
// operations.js and openapi.d.ts are made from the OpenAPI document; types.d.ts derives the types of all methods from it.

export { Client } from './client.js'
export { ApiError, ClosedError, ConnectionError, OutboxFullError } from './errors.js'
export { MemoryOutbox } from './outbox.js'
export { userToken } from './token.js'

/** @typedef {import('./types.js').Activity} Activity */
/** @typedef {import('./types.js').ActivityResult} ActivityResult */
/** @typedef {import('./types.js').CallOptions} CallOptions */
/** @typedef {import('./types.js').ClientOptions} ClientOptions */
/** @typedef {import('./types.js').Operation} Operation */
/** @typedef {import('./types.js').Outbox} Outbox */
/** @typedef {import('./types.js').OutboxEntry} OutboxEntry */
/** @typedef {import('./types.js').Outcome} Outcome */
/** @typedef {import('./types.js').Problem} Problem */
/** @typedef {import('./types.js').UserTokenOptions} UserTokenOptions */
/**
 * The arguments of an operation: parameters of path and query, and `body`.
 * @template {import('./types.js').Operation} Id
 * @typedef {import('./types.js').Arguments<Id>} Arguments
 */
/**
 * The decoded body of a successful response to an operation.
 * @template {import('./types.js').Operation} Id
 * @typedef {import('./types.js').Result<Id>} Result
 */
