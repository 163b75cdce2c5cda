// Types of the elements' modules. Browsers never load this file.

/** The texts of one language. `n`, `p`, `rank` and `time` are formatted; `count` and `points` select the plural. */
export interface Texts {
  label: string
  periods: string
  day: string
  week: string
  month: string
  year: string
  all: string
  earlier: string
  later: string
  rank: string
  member: string
  points: string
  members(count: number, n: string): string
  empty: string
  expired: string
  you: string
  unranked: string
  up(n: string): string
  down(n: string): string
  next(points: number, p: string, rank: string): string
  first: string
  top(n: string): string
  stale(time: string): string
  offline(time: string): string
  failed(time: string): string
  nothing: string
  activity: string
  day_points(date: string, points: number, p: string): string
  done(action: string, count: number, n: string, points: number, p: string): string
  streak(current: string, longest: string): string
  summary(days: string, points: number, p: string, of: string): string
  unknown: string
  last_days(points: number, p: string, days: number, of: string): string
  active_days(days: number, n: string): string
  less: string
  more: string
  card: string
  no_member: string
  place(rank: string): string
  unit(points: number): string
}
