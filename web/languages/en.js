// English. To add a language, write a file like this one in this folder.

const s = (count) => (count === 1 ? '' : 's')

const NOUNS = {
  visit: 'visit',
  like: 'like',
  bookmark: 'bookmark',
  follow: 'follow',
  comment: 'comment',
  publish: 'publication',
  adjust: 'adjustment',
}

/** Texts of the API reference. `locale` is the name that Scalar gives this language; without one, `en`. */
export const docs = {
  locale: 'en',
  title: 'API reference',
  leaderboard: 'Leaderboard',
  language: 'Language',
  dark: 'Dark',
  code: 'Code',
  more: 'Show more',
  schemas: 'Schemas',
  failed: (reason) => `Could not load the API document: ${reason}.`,
}

/** @type {import('../elements/types.d.ts').Texts} */
export const elements = {
  label: 'Leaderboard',
  periods: 'Period',
  day: 'Day',
  week: 'Week',
  month: 'Month',
  year: 'Year',
  all: 'All time',
  earlier: 'Previous',
  later: 'Next',
  rank: 'Rank',
  member: 'Member',
  points: 'Points',
  members: (count, n) => `${n} member${s(count)}`,
  empty: 'No activity yet.',
  expired: 'No activity, or the data has expired.',
  you: 'Your rank',
  unranked: 'Not ranked yet.',
  up: (n) => `Up ${n} since your last visit`,
  down: (n) => `Down ${n} since your last visit`,
  next: (points, p, rank) => `${p} point${s(points)} to rank ${rank}`,
  first: 'First place',
  top: (n) => `Top ${n}%`,
  stale: (time) => `Updates are delayed. Last updated ${time}.`,
  offline: (time) => `You are offline. Last updated ${time}.`,
  failed: (time) => `Could not refresh. Last updated ${time}.`,
  nothing: 'Could not load the leaderboard.',
  activity: 'Activity',
  day_points: (date, points, p) => `${date}: ${p} point${s(points)}`,
  done: (action, count, n, points, p) =>
    `${n} ${NOUNS[action] ? NOUNS[action] + s(count) : action}, ${p} point${s(points)}`,
  streak: (current, longest) => `${current}-day streak (best: ${longest}).`,
  summary: (days, points, p, of) => `${p} point${s(points)} on ${days} of the last ${of} days.`,
  unknown: 'Could not load the activity.',
  last_days: (points, p, days, of) => `${p} point${s(points)} in the last ${days > 360 ? 'year' : `${of} days`}`,
  active_days: (days, n) => `${n} active day${s(days)}`,
  less: 'Less',
  more: 'More',
  card: 'Member',
  no_member: 'Could not load the member.',
  place: (rank) => `#${rank}`,
  unit: (points) => `point${s(points)}`,
}
