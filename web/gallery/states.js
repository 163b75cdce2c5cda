// What the gallery shows: elements with their attributes, the width of their place, and the data of each state.

/**
 * @typedef {{
 *   name: string,
 *   width: 240 | 390 | 480 | 768,
 *   element?: string,
 *   attributes?: Record<string, string>,
 *   fallback?: string,
 * }} State
 */

const WEEK = { period: 'week', user: 'wu' }

/** @type {State[]} */
export const STATES = [
  { name: 'full', width: 768, attributes: WEEK },
  { name: 'list', width: 390, attributes: { ...WEEK, layout: 'list' } },
  { name: 'compact', width: 240, attributes: WEEK },
  { name: 'podium', width: 480, attributes: { period: 'week', layout: 'podium' } },
  { name: 'own-row', width: 390, attributes: { period: 'week', user: 'grace' } },
  { name: 'large-scores', width: 240, attributes: { period: 'all', user: 'grace' } },
  { name: 'one-row', width: 390, attributes: { period: 'week' } },
  { name: 'three-rows', width: 768, attributes: { period: 'week' } },
  { name: 'hundred-rows', width: 390, attributes: { period: 'week', limit: '100' } },
  { name: 'closed', width: 390, attributes: { period: 'week', date: '2020-03-04' } },
  { name: 'empty', width: 390, attributes: { period: 'week' } },
  { name: 'stale', width: 390, attributes: { period: 'day', limit: '3' } },
  { name: 'unavailable', width: 390, attributes: { period: 'week' } },
  { name: 'fallback', width: 390, attributes: { period: 'week' }, fallback: 'Our most active members' },
  { name: 'event', width: 480, attributes: { event: 'hackathon' } },
  { name: 'content', width: 480, attributes: { of: 'content', period: 'week' } },
  { name: 'content-narrow', width: 240, attributes: { of: 'content', period: 'hot' } },
  { name: 'authors', width: 390, attributes: { of: 'authors', period: 'month' } },
  { name: 'year', width: 768, element: 'activity-heatmap', attributes: { user: 'ada' } },
  { name: 'year-narrow', width: 240, element: 'activity-heatmap', attributes: { user: 'ada' } },
  { name: 'few-days', width: 768, element: 'activity-heatmap', attributes: { user: 'ada' } },
  { name: 'month', width: 390, element: 'activity-heatmap', attributes: { user: 'ada' } },
  {
    name: 'private',
    width: 390,
    element: 'activity-heatmap',
    attributes: { user: 'ada' },
    fallback: 'This is private.',
  },
  { name: 'card', width: 390, element: 'activity-card', attributes: { user: 'ada' } },
  { name: 'card-narrow', width: 240, element: 'activity-card', attributes: { user: 'johann' } },
  { name: 'climb', width: 768, element: 'activity-climb', attributes: { user: 'wu' } },
  { name: 'climb-narrow', width: 390, element: 'activity-climb', attributes: { user: 'wu' } },
  { name: 'climb-compact', width: 240, element: 'activity-climb', attributes: { user: 'wu' } },
  { name: 'climb-first', width: 768, element: 'activity-climb', attributes: { user: 'ada' } },
  { name: 'climb-new', width: 390, element: 'activity-climb', attributes: { user: 'new', period: 'day' } },
  { name: 'card-unranked', width: 390, element: 'activity-card', attributes: { user: 'li' } },
  { name: 'like', width: 240, element: 'activity-like', attributes: { target: 'post-7' } },
  { name: 'question', width: 480, element: 'activity-like', attributes: { target: 'post-7', type: 'helpful' } },
]
