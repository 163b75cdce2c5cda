// The texts of the admin page. Browsers never load this file.

import type {
  Case,
  CaseState,
  Points,
  RuleField,
  RulesPreviewJob,
  RulesPreviewResult,
  RulesVersion,
} from './types.d.ts'

export interface Texts {
  /** The texts of `data-text` in admin.html are in `page`. */
  admin: string
  navigation: string
  dark: string
  page: {
    skip: string
    admin: string
    sign_out: string
    sign_in_title: string
    sign_in_text: string
    service_key: string
    sign_in: string
  }
  sections: {
    overview: string
    members: string
    targets: string
    cases: string
    audit: string
    rules: string
    numbers: string
    health: string
    events: string
    webhooks: string
  }
  sign_in: {
    wrong_key: string
    missing_scope: string
    rejected: string
  }
  errors: {
    network: string
    omitted: (count: number) => string
  }
  loading: string
  load_more: string
  search_older: string
  retry: string
  refresh: string
  cancel: string
  save: string
  delete: string
  undo: string
  remove: (name: string) => string
  open: string
  id: string
  state: string
  website: string
  visible: string
  member: string
  target: string
  author: string
  board: string
  rank: string
  points: string
  reason: string
  reason_hint: string
  results: (count: string) => string
  scored: (points: string) => string
  jump: {
    title: string
    label: string
    results: string
    section: string
  }
  answered: (name: string, answer: string) => string
  type_to_confirm: (id: string) => string
  type_exactly: (id: string) => string
  periods: {
    day: string
    week: string
    month: string
    year: string
    all: string
  }
  actions: Record<string, string>
  outcomes: Record<string, string>
  flags: {
    hidden: {
      set: string
      clear: string
      is_set: string
      is_clear: string
      set_effect: string
      clear_effect: string
    }
    frozen: {
      set: string
      clear: string
      is_set: string
      is_clear: string
      set_effect: string
      clear_effect: string
    }
  }
  overview: {
    attention: string
    all_good: string
    no_items: string
    kinds: { warn: string; bad: string }
    cron_failed: string
    cron_late: (age: string) => string
    deliveries: (count: string) => string
    outbox: (count: string, age: string) => string
    changes: (count: string) => string
    messages: (count: string, age: string) => string
    journal_down: string
    cron_ran: (age: string) => string
    cron_never: string
    needs_metrics: string
    dead_letters: string
    today: string
    week: string
    members: string
    targets: string
    answers: Record<'title' | 'page' | 'yes' | 'no' | 'none', string>
    syncs: Record<'title' | 'source' | 'completed' | 'differences' | 'mended', string>
    sync_failed: (source: string) => string
    sync_differs: (source: string, count: string) => string
    sync_late: (source: string, age: string) => string
    fairness: string
    cases: (count: string) => string
  }
  cases: {
    not_configured: string
    states: Record<CaseState, { set: string; is_set: string; about: string }>
    kinds: Record<Case['kind'], { name: string; about: string; share: string }>
    fairness: Record<'top_givers_share' | 'gini' | 'mutual_share', { title: string; meaning: string }>
    open: string
    open_hint: string
    open_excluded: string
    search: string
    search_done: (opened: string, updated: string) => string
    search_cut: string
    searched: string
    no_search: string
    none: string
    title: (kind: string, members: string) => string
    more: (count: string) => string
    gifts: string
    gifts_in: (count: string, days: number) => string
    gift_count: (count: string) => string
    share: string
    score: string
    score_hint: string
    found: string
    updated: string
    decision: string
    excluded: string
    no_end: string
    past: { title: string; pending: string; counted: string; command: string }
    from: string
    until: string
    until_hint: string
    graph_title: string
    graph: (members: string, pairs: string) => string
    drawn: (count: number) => string
    members_hint: string
    receives: string
    pairs: string
    giver: string
    receiver: string
    expected: string
    share_given: string
    share_received: string
    burst: string
    first: string
    last: string
    latest: string
    no_gifts: string
    changes: string
    authors: (board: string) => string
  }
  rules: {
    locked: string
    in_force: string
    versions: string
    none: string
    fields: Record<RuleField, string>
    no_value: string
    remove: string
    change: (action: string, field: string) => string
    states: Record<RulesVersion['state'], string>
    version: (number: number) => string
    from: string
    soon: string
    published: string
    public_reason: string
    takes_back: (version: number) => string
    publish: string
    publish_hint: string
    instant: string
    instant_hint: string
    zone: (name: string) => string
    everyone: string
    check: string
    no_changes: string
    confirm: string
    is_published: (from: string) => string
    take_back: string
    take_back_hint: string
    is_taken_back: string
    is_removed: string
    preview: {
      title: string
      hint: string
      span: string
      check: string
      confirm: string
      cost: (entries: string, commands: string, minutes: string) => string
      start: string
      is_started: string
      states: Record<RulesPreviewJob['state'], string>
      errors: Record<NonNullable<RulesPreviewJob['error']>, string>
      no_changes: string
      started: string
      updated: string
      progress: string
      read: (read: string, entries: string) => string
      activities: (activities: string, changed: string) => string
      actions: string
      picture: string
      before: string
      after: string
      share: string
      received: string
      counted: string
      boards: Record<RulesPreviewResult['boards'][number]['board'], string>
      moved: (changed: string, members: string) => string
      member: string
      rank: string
      limited: string
      limit: string
      limits: Record<RulesPreviewResult['limits'][number]['limit'], string>
      members: string
      refused: string
      first: string
      unknown: string
      no_rule: (activities: string) => string
      member_cap: (action: string) => string
      unknown_limit: (action: string) => string
      daily_cap: (action: string, days: number, bound: string) => string
      bound: (points: string) => string
      no_bound: string
      without_points: string
    }
  }
  members: {
    label: string
    hint: string
    found: string
    none: string
    open: string
  }
  member_page: {
    standings: string
    points: string
    audit: string
    of: string
    opted_out: string
    unknown: string
    no_standings: string
  }
  points_page: {
    types: Record<Points['entries'][number]['type'], (action: string) => string>
    undone: string
    gone: string
    none: string
    records: string
    behind: string
    refused: (action: string, count: string) => string
    reasons: Record<string, string>
  }
  adjust: {
    title: string
    submit: string
    points_hint: string
    reader: string
    moderators: string
    member: string
    date: string
    date_hint: string
    event: string
    event_hint: string
    no_event: string
    outcome: (outcome: string, points: string) => string
    undo: (points: string) => string
  }
  erase: {
    title: string
    effect: string
    done: string
  }
  accounts: {
    title: string
    of: (member: string) => string
    account: string
    join: string
    compare: string
    standings: string
    standing: (points: string, rank: string) => string
    after: string
    after_hint: string
    join_hint: string
    joined: (member: string) => string
    detach: string
    detach_hint: string
    detached: string
  }
  achievements: {
    title: string
    value: (value: string, next: string) => string
    by: (step: string) => string
    step: string
    award: { title: string; hint: string; done: string }
    withdraw: { title: string; hint: string; done: string }
  }
  targets: {
    label: string
    hint: string
    found: string
    none: string
    open: string
    no_boards: string
    standings: string
    of: string
    unregistered: string
  }
  delete_target: {
    title: string
    effect: string
    done: string
  }
  audit: {
    kind: string
    about: string
    text: string
    all: string
    none: string
    none_yet: string
    erased: string
    by: (actor: string) => string
    member: string
    count: (shown: string, loaded: string) => string
    removed: (boards: string, keys: string) => string
    actions: Record<string, string>
  }
  numbers: {
    range: string
    days: (count: number) => string
    date: string
    active: string
    active_mean: string
    activities: string
    points: string
    new: string
    others: string
    before: string
    no_before: string
    whole_days: (from: string, to: string) => string
    so_far: (day: string) => string
    chart: (title: string) => string
    table: (title: string) => string
    as_of: (time: string) => string
    no_journal: string
  }
  health: {
    states: {
      ok: string
      misconfigured: string
      'store-unavailable': string
    }
    latency: string
    slow: string
    circuit: string
    circuits: {
      closed: string
      open: string
      'half-open': string
    }
    normal: string
    failing: string
    outbox: string
    oldest: (age: string) => string
    queue: string
    waited: (age: string) => string
    emptied: (age: string) => string
    unused: string
    no_outage: string
    version: string
    processed: string
    since_start: (age: string) => string
    nothing: string
    warnings: string
    no_warnings: string
    commands: string
    estimate: string
    estimate_hint: string
    estimate_without_journal: string
    cause: string
    count: string
    cron: string
    total: string
    bindings: string
    binding_names: {
      journal: string
      archive: string
      snapshots: string
      queue: string
      live: string
      analytics: string
    }
    bound: string
    not_bound: string
    configuration: string
  }
  events: {
    add: string
    change: string
    recount: string
    none: string
    states: {
      coming: string
      running: string
      settling: string
      final: string
    }
    title: string
    id_hint: string
    id_invalid: string
    id_taken: string
    from: string
    to: string
    to_hint: string
    url: string
    actions: string
    actions_hint: string
    groups: string
    groups_hint: string
    prizes: string
    prizes_hint: string
    ranks: string
    add_action: string
    add_prize: string
    prize_count: (count: string) => string
    saved: (state: string) => string
    deleted: string
    delete_effect: string
    recount_effect: string
    recount_check: string
    recount_title: (title: string) => string
    recount_commands: string
    recount_copy: string
    recount_copied: string
  }
  webhooks: {
    all: string
    states: {
      pending: string
      delivered: string
      failed: string
      dropped: string
    }
    none: string
    not_configured: string
    attempts: (count: number) => string
    status: (code: number) => string
    errors: {
      timeout: string
      network: string
    }
    due: string
  }
}
