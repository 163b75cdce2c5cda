// Types of the elements' modules. Browsers never load this file.

/** The property of an attribute. */
export type Camel<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name

/** The texts of one language. `n`, `p`, `rank` and `time` are formatted; `count` and `points` select the plural. */
export interface Texts {
  label: string
  periods: string
  hot: string
  day: string
  week: string
  month: string
  year: string
  all: string
  earlier: string
  later: string
  rank: string
  member: string
  author: string
  item: string
  points: string
  unit(count: number): string
  members(count: number, n: string): string
  authors(count: number, n: string): string
  content(count: number, n: string): string
  left(time: string): string
  starts(time: string): string
  final: string
  winners(period: string): string
  nobody: Record<'day' | 'week' | 'month' | 'year' | 'all', string>
  empty: string
  free(from: string, to: string): string
  show_more: string
  expired: string
  you: string
  me: string
  new: string
  unranked: string
  up(n: string): string
  down(n: string): string
  next(points: number, p: string, rank: string): string
  first: string
  top(n: string): string
  stale(time: string): string
  offline(time: string): string
  failed(time: string): string
  recent: string
  nothing: string
  activity: string
  day_points(date: string, points: number, p: string): string
  done(action: string, count: number, n: string, points: number, p: string): string
  streak(current: string, longest: string): string
  summary(days: string, points: number, p: string, of: string): string
  unknown: string
  last_days(points: number, p: string, days: number, of: string): string
  in_year(year: string, points: number, p: string): string
  active_days(days: number, n: string): string
  less: string
  more: string
  card: string
  no_member: string
  place(rank: string): string
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
  days_streak(days: number, n: string): string
  share: string
  not_shared: string
}
