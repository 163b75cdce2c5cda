// What web/client.js exports. tests/web/client.types.ts holds it against the OpenAPI document.

/** An action that has a rule: those there are by default, or a deployment's own. */
export type Action = 'visit' | 'like' | 'bookmark' | 'follow' | 'comment' | 'publish' | (string & {})

export type Kind = 'day' | 'week' | 'month' | 'year' | 'all'

/** What is sent. */
export interface Activity {
  user: string
  action: Action
  target: string
  undo?: true
}

/** The member's place on a board. */
export interface Place {
  /** Which board, `2026-11-20`. */
  id: string
  score: number
  /** `null` without points. */
  rank: number | null
}

/** What became of an activity. */
export interface Outcome {
  outcome: 'counted' | 'duplicate' | 'undone' | 'nothing-to-undo' | 'capped' | 'stale' | 'queued'
  /** Why it is `capped`. */
  reason?: 'daily-cap' | 'cooldown'
  /** The signed change of the member's points. */
  points: number
  /** The member's places afterwards; not of what was sent together with others. */
  standings?: { [kind in Kind]?: Place }
  error?: undefined
}

/** Why it never counts (RFC 9457). `status` 0: dropped here, because too much waited. */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  errors?: { pointer: string; detail: string }[]
}

export type Result = Outcome | { error: Problem; outcome?: undefined; points?: undefined; standings?: undefined }

export interface Options {
  /** Who is signed in. */
  user: string | number
  /** Their token, or a function that is asked for it before each request. */
  token: string | (() => string | Promise<string>)
  /** The deployment; by default where the module comes from. */
  src?: string | URL
}

export interface ClientEventMap {
  /** Something has arrived, from this tab or another. */
  result: CustomEvent<{ activity: Activity; result: Result }>
  /** It could not be sent now, and is tried again: `message` says why. */
  error: ErrorEvent
}

export class Client extends EventTarget {
  static fetch: (url: string, options: RequestInit) => Promise<Response>

  constructor(options: Options)

  /** The promise is settled when it has arrived, maybe much later, and never rejected. */
  track(action: Action, target: string): Promise<Result>

  /** Takes it back. */
  undo(action: Action, target: string): Promise<Result>

  /** Counts this page as a visit, and each one that the history leads to. */
  visits(): this

  /** Sends no more; what waits is sent by the next client of this member. */
  close(): void

  addEventListener<Name extends keyof ClientEventMap>(
    name: Name,
    listener: (this: Client, event: ClientEventMap[Name]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void
  addEventListener(name: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void
}
