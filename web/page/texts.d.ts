// Types of the pages' texts. Browsers never load this file.

type Text<Parameters extends unknown[] = [string]> = (...parameters: Parameters) => string
type Period = 'day' | 'week' | 'month' | 'year' | 'all'
type Outcome = 'counted' | 'duplicate' | 'undone' | 'nothing-to-undo' | 'capped' | 'stale' | 'queued'

/** The texts of one language. Strings in parameters are formatted; a number before one selects the plural. */
export interface PageTexts extends Record<PlainText, string> {
  back: Text
  points: Text<[points: number, p: string]>
  states_of_service: Record<'ok' | 'misconfigured' | 'store-unavailable' | 'unreachable', string>
  updated: Text
  fact_place: Text
  not_in_calendar: Text<[points: number, p: string]>
  views: Record<'top' | 'around' | 'friends', string>
  alone: Record<'around' | 'friends', string>
  winners_of: Record<'day' | 'week' | 'month' | 'year', string>
  states: Record<'coming' | 'running' | 'settling' | 'final', string>
  ends_in: Text
  starts_in: Text
  prize: Text<[ranks: string, title: string]>
  actions: Record<string, string>
  rules: Record<'once_day' | 'once_standing' | 'once_member' | 'service' | 'changed' | 'no_limit', string> & {
    fields: Record<'points' | 'daily_cap' | 'member_cap' | 'pair_cap' | 'cooldown' | 'received', string>
    cap: Text<[points: number, p: string]>
    member_cap: Text<[points: number, p: string]>
    pair_cap: Text<[points: number, p: string]>
    cooldown: Text
    received: Text<[points: number, p: string]>
  }
  now: Record<Period, string>
  /** Short. */
  tabs: Record<Period, string>
  /** `{target}`, `{action}` and `{event}` are replaced. */
  why: Record<
    'activity' | 'undo' | 'undo_gone' | 'received' | 'adjustment' | 'event_adjustment' | 'undo_adjustment' | 'undone',
    string
  > & {
    activities: Record<string, string>
    gifts: Record<string, string>
    /** By reason. `{action}` is replaced. */
    refused: Record<string, string>
  }
  /** The progress to the next step of an achievement. */
  progress: Text<[value: string, next: string]>
  times: Text<[count: number, n: string]>
  entries: Text<[count: number, n: string]>
  undo_of: Text
  waiting: Text
  failed: Text<[name: string, reason: string]>
  standing: Text<[points: string, rank: string | null]>
  outcomes: Record<Outcome, Text<[name: string, points: string]>>
  /** Between sentences. */
  separator: string
}

/** Why a member is not signed in. */
export type Notice = 'invalid_token' | 'expired_token' | 'rejected_token'

type PlainText =
  | Notice
  | 'by_month'
  | 'fact_best'
  | 'fact_days'
  | 'fact_first'
  | 'fact_last'
  | 'fact_points'
  | 'fact_received'
  | 'fact_streak'
  | 'incomplete'
  | 'last_year'
  | 'years'
  | 'recap_private'
  | 'recaps'
  | 'so_far'
  | 'about_event'
  | 'achievements'
  | 'pauses'
  | 'pauses_about'
  | 'first_day'
  | 'last_day'
  | 'pause_streak'
  | 'pause_end'
  | 'pause_withdraw'
  | 'pause_saved'
  | 'pause_ended'
  | 'pause_withdrawn'
  | 'pause_invalid'
  | 'pause_conflict'
  | 'act'
  | 'activity'
  | 'authors'
  | 'boards'
  | 'close'
  | 'content'
  | 'copied'
  | 'credential'
  | 'copy'
  | 'dark'
  | 'earn'
  | 'empty_list'
  | 'events'
  | 'language'
  | 'levels'
  | 'members'
  | 'menu'
  | 'missing'
  | 'missing_title'
  | 'mine'
  | 'more'
  | 'no_requests'
  | 'not_allowed'
  | 'not_loaded'
  | 'not_saved'
  | 'nothing'
  | 'now_private'
  | 'now_public'
  | 'periods'
  | 'playground'
  | 'playground_about'
  | 'public_activity'
  | 'published'
  | 'read_board'
  | 'read_points'
  | 'read_standings'
  | 'request'
  | 'requests'
  | 'response'
  | 'selected'
  | 'sign_in'
  | 'sign_out'
  | 'retry'
  | 'skip'
  | 'status'
  | 'snippet_curl'
  | 'snippet_html'
  | 'snippet_html_hashed'
  | 'snippet_script'
  | 'snippets'
  | 'target'
  | 'title'
  | 'to_board'
  | 'token'
  | 'unavailable'
  | 'undo'
  | 'unknown_member'
  | 'unknown_title'
  | 'view'
  | 'is_hidden'
  | 'is_frozen'
  | 'is_excluded'
  | 'why_private'
  | 'why_title'
  | 'winners'
