// Types of the elements' modules. Browsers never load this file.

/** The property of an attribute. */
export type Camel<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name

/**
 * The texts of one language that several elements have. An element may have a text of its own with the same name. `n`, `p`,
 * `rank` and `time` are formatted; `count` and `points` select the plural.
 */
export interface Texts {
  day: string
  week: string
  month: string
  year: string
  all: string
  unit(count: number): string
  left(time: string): string
  me: string
  new: string
  unranked: string
  up(n: string): string
  down(n: string): string
  next(points: number, p: string, rank: string): string
  first: string
  top(n: string): string
  offline(time: string): string
  failed(time: string): string
  streak(current: string, longest: string): string
  place(rank: string): string
  not_loaded: string
  not_found: string
}

/** The texts of `<activity-rank>`. */
export interface BoardTexts {
  label: string
  periods: string
  hot: string
  earlier: string
  later: string
  rank: string
  member: string
  author: string
  item: string
  points: string
  members(count: number, n: string): string
  authors(count: number, n: string): string
  content(count: number, n: string): string
  starts(time: string): string
  final: string
  winners(period: string): string
  nobody: Record<'day' | 'week' | 'month' | 'year' | 'all', string>
  empty: string
  free(from: string, to: string): string
  show_more: string
  expired: string
  you: string
  stale(time: string): string
  recent: string
  not_loaded: string
  no_event: string
}

/** The texts of `<activity-heatmap>`. */
export interface ActivityTexts {
  label: string
  day_points(date: string, points: number, p: string): string
  done(action: string, count: number, n: string, points: number, p: string): string
  summary(days: string, points: number, p: string, of: string): string
  not_loaded: string
  last_days(points: number, p: string, days: number, of: string): string
  in_year(year: string, points: number, p: string): string
  active_days(days: number, n: string): string
  frozen: string
  less: string
  more: string
}

/** The texts of `<activity-card>`. */
export interface CardTexts {
  label: string
  earned(n?: number): string
}

/** The texts of `<activity-climb>`. */
export interface ClimbTexts {
  label: string
  my_place(kind: string): string
  enter(kind: string): string
  of_total(n: string): string
  pass(action: string, count: number, n: string, name: string): string
  lead(points: number, p: string, name: string): string
  way(action: string): string
  ways: string
  result(rank: string, total: string, risen: string | false): string
  earned(n?: number): string
  days_streak(days: number, n: string): string
  reached(reached: Reached, number: (value: number) => string): string
  share: string
  not_shared: string
}

/** The texts of `<activity-like>`. */
export interface LikeTexts {
  like: string
  question: string
  helpful: string
  unhelpful: string
  thanks: string
  limited: string
  not_saved: string
}

/** The steps that a member has reached: `detail.reached` of the event `rankchange` of `<activity-climb>`. */
export interface Reached {
  /** the rank, if it is on the podium */
  place?: 1 | 2 | 3
  /** the highest of the members on the ladder who were above and are below */
  passed?: { id: string; name?: string }
  level?: { number: number; name: string }
  /** the days of the current streak, which has grown */
  streak?: number
}

/** The `detail` of the event `rankchange`. Ranks are null off the board. */
export interface RankChange {
  period: { kind: string; id: string }
  from: number | null
  to: number | null
  /** of `<activity-climb>` only */
  reached?: Reached
}
