// Types of the client, derived from the types of the OpenAPI document.

import type { components, operations } from './openapi.js'
import type { OPERATIONS } from './operations.js'

type Schemas = components['schemas']

/** An operation of the API: an `operationId` of the OpenAPI document. */
export type Operation = keyof typeof OPERATIONS & keyof operations

type OrNothing<T> = [T] extends [never] ? unknown : T
type Parameters<Id extends Operation, In extends 'path' | 'query'> = OrNothing<
  NonNullable<operations[Id]['parameters'][In]>
>
type Body<Id extends Operation> = operations[Id] extends { requestBody: { content: { 'application/json': infer T } } }
  ? { body: T }
  : unknown

/** The arguments of an operation: parameters of path and query by name, and `body`. */
export type Arguments<Id extends Operation> = Parameters<Id, 'path'> & Parameters<Id, 'query'> & Body<Id>

type Content<T> = T extends { content: infer Types } ? Types[keyof Types] : undefined
type Success<T> = T[keyof T & (200 | 201 | 202 | 204)]

/** The decoded body of a successful response to an operation: JSON, text, or `undefined` without content. */
export type Result<Id extends Operation> = Content<Success<operations[Id]['responses']>>

// The events of `watchBoard` are what `getBoard` returns.
type Returned<Id extends Operation> = Id extends `watch${infer Board}`
  ? `get${Board}` extends Operation
    ? AsyncGenerator<Result<`get${Board}`>, void, void>
    : never
  : Promise<Result<Id>>

type Call<Id extends Operation> =
  Record<never, never> extends Arguments<Id>
    ? (args?: Arguments<Id>, options?: CallOptions) => Returned<Id>
    : (args: Arguments<Id>, options?: CallOptions) => Returned<Id>

interface CountActivity {
  (args: { body: Activity[] }, options?: CallOptions): Promise<Schemas['Outcomes']>
  (args: { body: Activity }, options?: CallOptions): Promise<Outcome>
  (args: { body: Schemas['MembersUndo'] }, options?: CallOptions): Promise<Schemas['Outcomes']>
}

/** A method for each operation. Each resolves with the decoded body, or yields the boards of an event stream. */
export type Calls = { [Id in Exclude<Operation, 'countActivity'>]: Call<Id> } & { countActivity: CountActivity }

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call, its retries, or its event stream. The call rejects with the reason of the signal. */
  signal?: AbortSignal
  /** A user token that is sent in place of the service key. */
  token?: string
  /** Further headers, such as `if-none-match` or `prefer`. */
  headers?: Record<string, string>
  /** Milliseconds for each attempt; by default as the client. */
  timeout?: number
  /** The largest number of attempts; by default as the client. 1 switches retries off. */
  attempts?: number
}

/** A decoded response. */
export interface Response<T> {
  /** 200 to 299, or 304. */
  status: number
  headers: Headers
  /** `undefined` with status 204 and 304. */
  body: T
}

/** When a failed request is sent again. Delays are in milliseconds. */
export interface RetryOptions {
  /** The largest number of attempts of a call; 4 by default. The batch sender has no limit. */
  attempts?: number
  /** The longest delay before the first retry, doubled for each further one; 250 by default. */
  baseDelay?: number
  /** The longest delay that the back-off reaches; 30,000 by default. */
  maxDelay?: number
  /**
   * The longest `Retry-After` that a call waits for; with a longer one it fails at once. 60,000 by default. The batch
   * sender waits for up to an hour.
   */
  maxRetryAfter?: number
  /** Returns the part of a delay that is waited, from 0 to 1; `Math.random` by default. */
  random?: () => number
}

/** An activity as a caller tracks it. */
export type Activity = Schemas['Activity']

/** An activity as it is sent. `at` is the instant at which it was accepted, unless the caller gave another. */
export type SentActivity = Activity & { at: string }

/** The outcome of an activity, with points and standings. */
export type Outcome = Schemas['Outcome']

/** A problem document (RFC 9457). `type` is `about:blank` if the response came from a proxy. */
export type Problem = Omit<Schemas['Problem'], 'type'> & { type: string }

/** The outcome of an activity, or why the service refuses it. */
export type ActivityResult = (Outcome & { error?: undefined }) | { error: Problem }

/** An activity that waits in an outbox. */
export interface OutboxEntry<Id = unknown> {
  /** Identifies the entry in this outbox. */
  id: Id
  activity: SentActivity
}

/** Where accepted activities wait until the service has them. One client uses it at a time. */
export interface Outbox<Id = unknown> {
  /** Whether what it stores outlives the process. If so, closing the client does not wait for an unavailable service. */
  readonly durable: boolean
  /** Stores an activity after those stored before. Resolves once it is stored. Calls may overlap. */
  append(activity: SentActivity): Promise<void>
  /** Returns up to `limit` of the oldest entries. They stay until they are removed. */
  peek(limit: number): Promise<OutboxEntry<Id>[]>
  /** Removes entries. If this is lost, they are sent again, which counts nothing twice. */
  remove(ids: Id[]): Promise<void>
  /** Releases what the outbox uses. */
  close(): Promise<void>
}

/** Options of the batch sender. */
export interface SenderOptions {
  /** Where accepted activities wait; in memory by default. */
  outbox?: Outbox
  /** A batch is sent at once when so many activities are waiting: 1 to 500, by default 500. */
  batchSize?: number
  /** Milliseconds after which a smaller batch is sent; 500 by default. */
  batchDelay?: number
  /** Called with the outcome of each activity. After a crash, an activity may be reported twice. */
  onResult?: (activity: SentActivity, outcome: Outcome) => void | Promise<void>
  /**
   * Called with each activity that the service refuses for good and that is not sent again. By default it is logged with
   * `console.warn`.
   */
  onRefused?: (activity: SentActivity, problem: Problem) => void | Promise<void>
  /** Called after each request that failed and is sent again later. By default the error is logged with `console.warn`. */
  onError?: (error: Error) => void
}

/** Options of a client. */
export interface ClientOptions extends SenderOptions {
  /** The deployment, such as `https://activity-rank.example.com`; it may have a path. */
  url: string | URL
  /** A service key, or a function that is called before each request. Without it, only public routes answer. */
  key?: string | (() => string | undefined | Promise<string | undefined>)
  /** Sends the requests; the global `fetch` by default. */
  fetch?: (url: string, init: RequestInit) => Promise<globalThis.Response>
  /** Milliseconds for each attempt, 20,000 by default. */
  timeout?: number
  retry?: RetryOptions
}

/** Claims of a user token. */
export interface UserTokenOptions {
  /** The `JWT_SECRET` of the deployment: at least 32 bytes of UTF-8. */
  secret: string
  /** `sub`: the user whose data the token gives access to. */
  user: string | number
  /** Seconds until the token expires; 3,600 by default. */
  expiresIn?: number
  /** `iss`, required if the deployment sets `JWT_ISSUER`. */
  issuer?: string
  /** `aud`, required if the deployment sets `JWT_AUDIENCE`. */
  audience?: string | string[]
  /** Creates a profile with this name for a user who has none. */
  name?: string
  /** The avatar of that profile, an `https` URL. */
  picture?: string
  /** Further claims, such as the one that `JWT_GROUPS_CLAIM` names. */
  claims?: Record<string, unknown>
}
