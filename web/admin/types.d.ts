// Types of the admin page. Browsers never load this file.

import type { Api } from './api.js'
import type { Format } from './format.js'
import type { Texts } from './texts.d.ts'

export type { Texts }

/** What a view needs. */
export interface Context {
  api: Api
  texts: Texts
  format: Format
  /** Aborted when another view is opened. */
  signal: AbortSignal
  /** Says what the service answered. */
  announce(text: string): void
  /** Opens the same view again, with what the service has now. */
  reload(): void
}

/** A problem document (RFC 9457). */
export interface Problem {
  type?: string
  title?: string
  status?: number
  detail?: string
  errors?: { pointer: string; detail: string }[]
  errors_omitted?: number
}

export interface User {
  id: string
  name?: string
  url?: string
  hidden?: true
  level?: { number: number; name: string }
}

export interface Target {
  id: string
  title?: string
  url?: string
  author?: string
}

export interface Moderation {
  user: User
  hidden: boolean
  frozen: boolean
}

export interface Accounts {
  account_of: string | null
  accounts: string[]
}

export interface Achievement {
  id: string
  name: string
  steps: { value: number; at: string | null; by?: 'moderator' }[]
  value: number
  next: number | null
}

export interface Standing {
  id?: string
  rank: number | null
  score: number | null
  total: number
}

export interface Points {
  source: 'journal' | 'records'
  behind?: true
  entries: {
    at: string
    type: 'activity' | 'undo' | 'adjustment' | 'received'
    action?: string
    target?: Target
    event?: string
    points: number
    undone?: boolean
    source_gone?: true
  }[]
  refused?: { at: string; action: string; reason: string; count: number; targets: Target[] }[]
  next: string | null
}

export interface AuditEntry {
  id: string
  at: string
  action: string
  actor: { key?: string; user?: string } | null
  user: User | null
  target?: Target
  reason?: string
  adjustment?: { id: string; points: number; date?: string; event?: string }
  achievement?: { id: string; steps: number[] }
  removed?: { boards: number; keys: number; profiles: number }
  version?: number
}

export interface Audit {
  entries: AuditEntry[]
  next: string | null
}

export interface Day {
  date: string
  active?: number
  new?: number
  activities?: number
  points?: number
  actions?: Record<string, { count: number; points: number }>
}

export interface Stats {
  timezone: string
  days: Day[]
  as_of?: string | null
}

export interface Health {
  status: 'ok' | 'misconfigured' | 'store-unavailable'
  version?: string
  problem?: Problem
  configured: {
    timezone: string
    periods: string[]
    content_periods: string[]
    actions: string[]
    shards: number
    bound: string[]
    rules?: Record<string, { points: number; once: 'day' | 'standing' }>
    [setting: string]: unknown
  } | null
  warnings: string[]
}

export interface Status {
  version: string
  store: { latency_ms: number | null; circuit: 'closed' | 'open' | 'half-open' }
  outbox: { entries: number; oldest: string | null } | null
  /** The last delivery of activity that was queued while the store did not respond. */
  queue: { oldest: string; delivered: string } | null
  commands: { processed: number; uptime_seconds: number } | null
}

export interface EventDefinition {
  title: string
  from: string
  to: string
  url?: string
  actions?: Record<string, number>
  groups?: string[]
  prizes?: { ranks: string; title: string }[]
}

export interface SiteEvent extends EventDefinition {
  id: string
  state: 'coming' | 'running' | 'settling' | 'final'
  final_at: string
}

export interface Delivery {
  id: string
  type: string
  endpoint: string
  state: 'pending' | 'delivered' | 'failed' | 'dropped'
  attempts: number
  status: number | null
  error: string | null
  at: string
  attempted: string | null
  due: string | null
}

export type CaseState = 'open' | 'dismissed' | 'excluded'

export interface Case {
  id: string
  kind: 'ring' | 'farm' | 'new-accounts' | 'burst' | 'few-givers' | 'manual'
  state: CaseState
  score: number
  gifts: number
  days: number
  share: number
  members: string[]
  found: string
  updated: string
  decision: {
    reason: string
    actor: { key?: string } | null
    at: string
    from?: string | null
    until?: string | null
    public_reason?: boolean
    past?: 'pending' | 'counted' | null
  } | null
}

export interface CaseDetails extends Case {
  pairs: {
    giver: string
    receiver: string
    gifts: number
    expected: number
    share_given: number
    share_received: number
    burst: number
    first: string
    last: string
  }[]
  latest: { at: string; action: string; target: string; giver: string; receiver: string }[]
  losses?: BoardChange[]
}

/** A change of a board by an exclusion. */
export interface BoardChange {
  board: string
  kind: 'members' | 'authors'
  user: User
  score: [before: number, after: number]
  rank: [before: number | null, after: number | null]
}

export interface Cases {
  cases: Case[]
  next: string | null
  search: {
    at: string
    fairness: { top_givers_share: number | null; gini: number | null; mutual_share: number | null }
  } | null
}

/** The result of the sync runs of a source. */
export interface Sync {
  source: string
  state: 'running' | 'done' | 'failed'
  detail: string | null
  completed_at: string | null
  differences: number | null
  mended: number | null
}

export type RuleField = 'points' | 'received' | 'daily_cap' | 'member_cap' | 'pair_cap' | 'cooldown'
export type Rule = Partial<Record<RuleField, number>>

export interface RulesChange {
  action: string
  field: RuleField
  before: number | null
  after: number | null
}

export interface RulesVersion {
  version: number
  from: string
  state: 'coming' | 'in-force' | 'taken-back' | 'removed'
  changes: RulesChange[]
  takes_back?: number
  reason?: string
  public_reason?: boolean
  published_at?: string
  actor?: { key?: string } | null
}

export interface Rules {
  rules: Record<string, Rule>
  locked: boolean
  versions: RulesVersion[]
}

/** A number by the rules in force and by the changed ones. */
export interface NumberChange {
  before: number | null
  after: number | null
}

export interface RulesPreviewResult {
  activities: number
  changed_activities: number
  boards: {
    board: 'members' | 'authors'
    members: number
    changed: number
    points: NumberChange
    moves: { id: string; rank: NumberChange; points: NumberChange }[]
  }[]
  actions: {
    action: string
    points: NumberChange
    share: NumberChange
    received: NumberChange
    counted: NumberChange
  }[]
  limits: {
    action: string
    limit: 'daily-cap' | 'pair-cap' | 'cooldown' | 'own-target'
    members: NumberChange
    activities: NumberChange
    first: string[]
  }[]
  unknown: {
    kind: 'no-rule' | 'member-cap' | 'limit' | 'daily-cap'
    action?: string
    activities?: number
    days?: number
    points?: number | null
  }[]
}

export interface RulesPreviewJob {
  state: 'running' | 'done' | 'cancelled' | 'failed'
  from: string
  to: string
  changes: RulesChange[]
  read: number
  entries: number
  started_at: string
  updated_at: string
  error?: 'erased' | 'expired' | 'lost'
  result?: RulesPreviewResult
}

export interface RulesPreview {
  cost?: { entries: number; commands: number; minutes: number }
  preview: RulesPreviewJob | null
}

/** A field of a dialog. */
export interface Field {
  name: string
  label: string
  hint?: string
  type?: 'text' | 'number' | 'date' | 'datetime-local' | 'textarea' | 'select' | 'rows'
  value?: string
  options?: [value: string, label: string][]
  required?: boolean
  maxLength?: number
  step?: string
  /** Returns why a value is not accepted, else an empty text. */
  check?: (value: string) => string
  /** Returns the value until the moderator enters another one. */
  derive?: (values: Record<string, string>) => string
  /** The value that is kept if the field stays empty. */
  placeholder?: string
  /** The text of the box that removes the value, which is null then. */
  remove?: string
  /** The section that contains the field. */
  group?: string
  /** The names of the columns, the values and the text of the button of a field of rows. */
  columns?: string[]
  rows?: string[][]
  add?: string
  /** The JSON pointer of the request that it fills. */
  pointer?: string
}
