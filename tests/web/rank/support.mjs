// Shared by the tests of <activity-rank>.

import { before, beforeEach } from 'node:test'

import { recordRequests, shareApp } from '../support.mjs'

export let app
export let group

/** Gives the file an app, and each of its tests a group. */
export function useApp() {
  before(async () => {
    // Polling with boards as fresh as possible, and a period that is disabled.
    app = await shareApp({
      live: false,
      vars: {
        BOARD_MAX_AGE: 1,
        PERIODS: 'day,week,month,all',
        CONTENT_PERIODS: 'day,all',
        TIMEZONE: 'Asia/Shanghai',
      },
    })
  })
  beforeEach(() => {
    group = app.newGroup()
  })
}

/** Returns an element with further attributes. */
export const element = (attributes = '') =>
  `<activity-rank src="APP_URL" group="GROUP" ${attributes} refresh="1"></activity-rank>`

/** Counts a number of likes for each user: `{ ada: 3 }` gives Ada 6 points. */
export async function countLikes(counts, at = '') {
  const activities = Object.entries(counts).flatMap(([user, count]) =>
    Array.from({ length: count }, (_, number) => ({
      user,
      action: 'like',
      target: `${group}-${at}-${number}`,
      groups: [group],
      ...(at && { at }),
    })),
  )
  await app.count(activities)
}

/** Writes profiles, and deletes them when the test ends. */
export async function putProfiles(t, profiles) {
  t.after(() => Promise.all(profiles.map(({ id }) => app.request('DELETE', `/v1/users/${id}`))))
  await app.request('PUT', '/v1/users', profiles)
}

/** Returns likes for a number of users, in descending order: m1 has the most. */
export const crowd = (size) =>
  Object.fromEntries(Array.from({ length: size }, (_, index) => [`m${index + 1}`, size - index]))

export const scores = (page) => page.locator('tbody [part=score]').allTextContents()
export const text = (page, part) => page.locator(`[part~=${part}]:visible`).innerText()
export const loaded = (page) => page.locator('section:not(.loading)').waitFor()
export const box = (page, selector) => page.locator(selector).boundingBox()
export const rowCount = (page) => page.locator('tbody tr').count()
export const attribute = (page, name) => page.locator('activity-rank').getAttribute(name)
export const ownRank = (page) => page.locator('[part=own] [part=rank]').textContent()

export const recordBoardRequests = (page) => recordRequests(page, /\/v1\/ranking\/\w+\?/)

const START = Date.parse('2026-11-23T00:00:00Z')
const DAY = 864e5 // ms

/** Returns the period of a week of UTC: a current one, or one that has closed. */
const week = (isClosed = false) => ({
  kind: 'week',
  id: isClosed ? '2026-W47' : '2026-W48',
  start: new Date(START - (isClosed ? 7 * DAY : 0)).toISOString(),
  end: new Date(START + (isClosed ? 0 : 7 * DAY)).toISOString(),
  timezone: 'UTC',
  closed: isClosed,
})

/**
 * Returns the board of a week. Entries get their ranks.
 * @param {Record<string, any>} fields whether it is closed, and further fields
 */
export const boardOf = (entries, fields = {}) => ({
  period: week(fields.closed),
  total: entries.length,
  entries: entries.map((entry, index) => ({ rank: index + 1, score: 10 * (entries.length - index), ...entry })),
  ...fields,
})

/** Returns entries of a number of members, some with long names, levels and other ranks in the period before. */
export const members = (size) =>
  Array.from({ length: size }, (_, index) => ({
    user: {
      id: `m${index + 1}`,
      name: ['Ada Lovelace', '王小明', 'ابن الهيثم', 'Johann Wolfgang von Weisskopf-Morgenstern'][index % 4],
      ...(index % 2 === 0 && { level: { number: 2, name: 'Expert' } }),
    },
    previous_rank: [3, 2, 1, null, 12][index % 5],
  }))

/** Returns entries of a number of targets. */
export const targets = (size) =>
  Array.from({ length: size }, (_, index) => ({
    target: { id: `post-${index}`, title: 'How we made the build ten times faster', url: 'https://example.com/post' },
    author: { id: 'ada', name: 'Ada Lovelace' },
  }))

/**
 * Answers the requests of a page's elements with JSON: boards, the standing of a user, winners. Each is a value, a
 * function that returns it, or nothing for 404. Returns the URLs of the requests, which await `gate`.
 */
export async function answer(page, { board = undefined, standing = undefined, winners = undefined, gate = undefined }) {
  const urls = []
  await page.route(/\/v1\//, async (route) => {
    const { pathname, href } = new URL(route.request().url())
    urls.push(href)
    await gate
    const [, kind = 'board'] = /\/(live|winners|users)\b/.exec(pathname) ?? []
    const found = { board, winners, users: standing, live: undefined }[kind]
    const json = typeof found === 'function' ? found() : found
    const headers = { 'access-control-allow-origin': '*' }
    await route.fulfill(json ? { json, headers } : { status: 404, json: {}, headers })
  })
  return urls
}

/** Collects the events of a page's elements in the global `events`. */
export function recordEvents(page) {
  return page.addInitScript(() => {
    globalThis.events = []
    for (const name of ['load', 'error', 'rankchange']) {
      document.addEventListener(
        name,
        (event) => {
          const { type } = event
          if (!(event.target instanceof HTMLElement) || event.target.localName !== 'activity-rank') return
          events.push(event instanceof CustomEvent ? [type, event.detail.from, event.detail.to] : type)
        },
        true,
      )
    }
  })
}
