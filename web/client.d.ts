// Exports of client.js. tests/web/client.types.ts checks them against the OpenAPI document.

/** An action with a rule: one of the defaults, or one of the deployment's own. */
export type Action = 'visit' | 'like' | 'bookmark' | 'follow' | 'comment' | 'publish' | (string & {})

export type PeriodName = 'day' | 'week' | 'month' | 'year' | 'all'

/** The body of a request. */
export interface Activity {
  user: string
  action: Action
  target: string
  undo?: true
  /** The target that receives points, if it is not `target`: the post of a comment. */
  on?: string
}

/** The user's standing on one board. */
export interface BoardStanding {
  /** The period, such as `2026-11-20`. */
  id: string
  score: number
  /** `null` without points. */
  rank: number | null
}

/** The outcome of an activity. */
export interface Outcome {
  outcome: 'counted' | 'duplicate' | 'undone' | 'nothing-to-undo' | 'capped' | 'stale' | 'queued'
  /** Why the activity did not count, if `outcome` is `capped`. */
  reason?: 'daily-cap' | 'pair-cap' | 'cooldown' | 'own-target'
  /** The signed change of the user's points. */
  points: number
  /** The level that the user has reached by this activity, if the deployment has levels. */
  level_up?: { number: number; name: string }
  /**
   * The user's standings afterwards. Absent for visits, if several activities were sent in one request, and with
   * `standings: false`.
   */
  standings?: { [period in PeriodName]?: BoardStanding }
  /** The user's standings afterwards in running events in which the activity counts, by event. Absent as `standings`. */
  events?: { [event: string]: { score: number; rank: number | null } }
  error?: undefined
}

/** Why an activity was rejected (RFC 9457). `status` is 0 if it was dropped because the queue was full. */
export interface Problem {
  type: string
  title: string
  status: number
  /** Absent from brief problems: those after 20 failed items of an array. */
  detail?: string
  /** The number of errors after the first 20. */
  errors_omitted?: number
  errors?: { pointer: string; detail: string }[]
}

export type Result = Outcome | { error: Problem; outcome?: undefined; points?: undefined; standings?: undefined }

export interface Options {
  /** The id of the signed-in user. A number from 2^53 on throws a `TypeError`. */
  user: string | number
  /** A user token, or a function called before each request that returns one. Without one, the client tries again later. */
  token: string | (() => string | undefined | Promise<string | undefined>)
  /** The URL of the deployment; by default, where the module was loaded from. */
  src?: string | URL
  /** Whether results have standings; `true` by default. Without them, the service needs fewer commands of its store. */
  standings?: boolean
}

export interface ClientEventMap {
  /** An activity was counted or rejected, in this tab or another. */
  result: CustomEvent<{ activity: Activity; result: Result }>
  /** A request failed and will be retried. `message` is the reason. */
  error: ErrorEvent
}

export class Client extends EventTarget {
  /** Sends every request; may be overridden. */
  static fetch: (url: string, options: RequestInit) => Promise<Response>

  constructor(options: Options)

  /**
   * Queues an activity. The promise resolves with its result, possibly much later, and never rejects. `on` is the
   * target that receives points, if it is another one: the post of a comment.
   */
  track(action: Action, target: string, options?: { on?: string }): Promise<Result>

  /** Queues the undo of an activity. The promise resolves with its result and never rejects. */
  undo(action: Action, target: string): Promise<Result>

  /**
   * Returns for each target whether an activity counts: of an action that counts once a day, whether it has counted
   * today. Activity that is still queued counts, too. Up to 100 targets, none twice. Rejects if the service cannot be
   * reached or refuses the request.
   */
  done(action: Action, targets: string[]): Promise<boolean[]>

  /** Tracks a visit of this page, and of each page that `history` navigates to. */
  visits(): this

  /** Stops sending. The user's next client sends the rest of the queue. */
  close(): void

  addEventListener<Name extends keyof ClientEventMap>(
    name: Name,
    listener: (this: Client, event: ClientEventMap[Name]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void
  addEventListener(
    name: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void
}
