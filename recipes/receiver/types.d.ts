// The types of the receiver: sources and mapping files.

import type { Activity } from '../../sdk/js/src/index.js'

/** A value of a payload. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** The software that sends webhooks: its signature, and where an event has its name. */
export interface Source {
  /** The name of the secret that the source signs with, such as `GITHUB_SECRET`. */
  secret: string
  /** Milliseconds in which the receiver answers: less than the source waits. */
  timeout: number
  /** Returns whether the body was signed with the secret. */
  verify(delivery: Delivery): Promise<boolean>
  /**
   * Returns the name of the event, or `undefined` if it has none, and optionally facts that the payload lacks. Templates
   * find the facts as if they were fields of the payload.
   */
  read(headers: Headers, payload: Payload, mapping: Mapping): { event: string | undefined; facts?: Payload }
}

/** A request whose signature is checked. */
export interface Delivery {
  headers: Headers
  body: Uint8Array<ArrayBuffer>
  secret: string
  /** Now, in milliseconds. */
  now: number
}

export type Payload = { [name: string]: Json }

/** Text with `{path}` for fields of the payload, or several: the first whose fields all exist. */
export type Template = string | string[]

/** Conditions on fields of the payload, by path: the value, or a list of values. */
export type Conditions = Record<string, Json>

/** The activity that an event is. */
export interface Rule {
  /** The rule applies only if all of these hold. */
  if?: Conditions
  /** The rule does not apply if one of these holds. */
  unless?: Conditions
  action: string
  user: Template
  target: Template
  on?: Template
  author?: Template
  at?: Template
  undo?: boolean
  groups?: string[]
  /** The user's public profile. */
  profile?: { name?: Template; avatar?: Template; url?: Template }
  /** The target on boards of content, or `on` if the rule has it. */
  about?: { title?: Template; url?: Template; image?: Template; author?: Template }
}

/** A mapping file. */
export interface Mapping {
  /** The URL of the site that sends, for sources whose payloads have only paths. */
  site?: string
  /** Your user ids by the ids that `user` and `author` give. */
  users?: Record<string, string>
  /** The rules by event. */
  events: Record<string, Rule | Rule[]>
}

/** The requests to a deployment for one delivery. */
export interface Changes {
  activities: Activity[]
  /** Profiles by user id. */
  profiles: Map<string, { name?: string; avatar?: string; url?: string }>
  /** Targets by id. */
  targets: Map<string, { title?: string; url?: string; image?: string; author?: string }>
}

/** Bindings of the Worker, and the secret of its source. */
export interface Env {
  /** The service binding of a deployment in the same account. */
  RANK?: { fetch: typeof fetch }
  /** The URL of a deployment elsewhere. */
  ACTIVITY_RANK_URL?: string
  /** A service key. */
  ACTIVITY_RANK_KEY?: string
  [name: string]: unknown
}
