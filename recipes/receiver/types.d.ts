// The types of the receiver: sources and mapping files.

import type { Activity } from '@activity-rank/server'

/** A value of a payload. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** The software that sends webhooks: its signature, and where an event has its name. */
export interface Source {
  /** The name of the secret that the source signs with, such as `GITHUB_SECRET`. */
  secret: string
  /** Milliseconds in which the receiver answers: less than the source waits. */
  timeout: number
  /** Returns whether the body was signed with the secret. Throws a `Problem` for a text that is no secret. */
  verify(delivery: Delivery): Promise<boolean>
  /** Reads the event of a delivery. */
  read(headers: Headers, payload: Payload, mapping: Mapping): Event
}

/** The event of a delivery. */
export interface Event {
  /** Its name, or `undefined` if it has none. */
  event: string | undefined
  /** What the payload lacks. Templates find the facts as if they were fields of the payload. */
  facts?: Payload
  /** Whether the content is private. Then only undos apply, unless the mapping has `private`. */
  isPrivate?: boolean
  /** Whether the source itself acted, or a bot of it. Then only undos apply. */
  isBot?: boolean
  /** Whether a label excludes the content. Then only undos apply. */
  isExcluded?: boolean
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
export type Conditions = Record<string, Json | undefined>

/** The activity that an event is, or what happens to a member. */
export interface Rule {
  /** The rule applies only if all of these hold. */
  if?: Conditions
  /** The rule does not apply if one of these holds. */
  unless?: Conditions
  /** Required without `member`, and so is `target`. */
  action?: string
  /** May be missing only with `undo: 'all'`, which needs it for a deployment without a journal. */
  user?: Template
  target?: Template
  /** `hide`, `show` or `erase`: hides the user, takes that back, or erases the user. `checkMapping` refuses any other text. */
  member?: string
  on?: Template
  author?: Template
  at?: Template
  /**
   * `true` takes the activity of the user back. `all` takes it back from every member who has it, which is right also if the
   * payload names another owner than the one who received the points. `checkMapping` refuses any other text: the type of a JSON
   * file has only `string`.
   */
  undo?: boolean | string
  /** With `undo`: whether the content is deleted or withdrawn. The member reads that with the points. */
  source_gone?: boolean
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
  /** Whether private content counts too, with its titles. */
  private?: boolean
  /** The ids of the public categories, for sources whose payloads do not say which these are. */
  categories?: number[]
  /** The labels whose content does not count, for sources with labels. */
  labels?: string[]
  /** Your user ids by the ids that `user` and `author` give. */
  users?: Record<string, string>
  /** The rules by event. */
  events: Record<string, Rule | Rule[]>
}

/** The requests to a deployment for one delivery. */
export interface Changes {
  activities: Activity[]
  undos: Undo[]
  members: MemberChange[]
  /** Profiles by user id. */
  profiles: Map<string, { name?: string; avatar?: string; url?: string }>
  /** Targets by id. */
  targets: Map<string, { title?: string; url?: string; image?: string; author?: string }>
}

/** A change of a member: hidden, shown again or erased. */
export interface MemberChange {
  user: string
  change: 'hide' | 'show' | 'erase'
  /** The name of the event, which is the reason in the audit log. */
  event: string
}

/** An undo for every member who has the activity. */
export interface Undo {
  action: string
  target: string
  source_gone?: boolean
  at?: string
  /** The member whom the payload names. */
  user?: string
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

/** A chat whose members have roles: Discord, or Slack with its user groups. */
export interface Chat {
  /** The user ids of the deployment are this, a colon and the id of the chat, such as `discord:80351110224678912`. */
  prefix: string
  /** The variable that verifies requests. */
  secret: string
  /** Returns whether the chat signed the body. */
  verify(delivery: Delivery): Promise<boolean>
  /** Reads a command, or returns the response to a request that is none. */
  read(body: Uint8Array<ArrayBuffer>): Command | Response
  /** Returns the response with a text. Only the sender of the command sees it if `isPrivate`. */
  reply(text: string, isPrivate: boolean): Response
  /** Returns a name that mentions no one and has no formatting. */
  escape(name: string): string
  /** Returns which of these roles a user has, or `undefined` for a user who is not there any more. */
  rolesOf(env: Env, mapping: ChatMapping, user: string): Promise<string[] | undefined>
  /** Returns the users who have any of the roles, with their roles. */
  holders(env: Env, mapping: ChatMapping): Promise<Map<string, string[]>>
  /** Gives a user a role, or takes it. Throws a `Refused` if the chat refuses that for good. */
  setRole(env: Env, mapping: ChatMapping, user: string, role: string, has: boolean): Promise<void>
}

/** A command of a member. */
export interface Command {
  name: string
  text: string
  user: string
}

/** The mapping file of a chat. */
export interface ChatMapping {
  /** The page of your site on which a signed-in member links the account of the chat. */
  link?: string
  /** The id of the server, for Discord. */
  guild?: string
  roles: RoleRule[]
}

/** The holders of a role: members with a level, with a place in the last period that ended, or with a step of an achievement. */
export interface RoleRule {
  /** The id of the role, or of the user group. */
  role: string
  /** At least this level. */
  level?: number
  /** The period of a board, whose first members have the role until the next one ends. */
  place?: string
  /** The number of these members: 1 to 3. */
  within?: number
  achievement?: string
  /** At least this step of the achievement. */
  step?: number
}
