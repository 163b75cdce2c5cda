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
  /** The names of the columns, the values and the text of the button of a field of rows. */
  columns?: string[]
  rows?: string[][]
  add?: string
  /** The JSON pointer of the request that it fills. */
  pointer?: string
}
