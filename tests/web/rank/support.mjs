// Shared by the tests of <activity-rank>. Importing it starts an app for the file, and selects a new group for each test.

import { after, before, beforeEach } from 'node:test'

import { recordRequests, startApp } from '../support.mjs'

export let app
export let group

before(async () => {
  // Polling with boards as fresh as possible, and a period that is disabled.
  app = await startApp({
    live: false,
    vars: { BOARD_MAX_AGE: 1, PERIODS: 'day,week,month,all', TIMEZONE: 'Asia/Shanghai' },
  })
})
after(() => app?.stop())
beforeEach(() => {
  group = app.newGroup()
})

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
export const text = (page, part) => page.locator(`[part~=${part}]:visible`).innerText({ timeout: 1000 })
export const loaded = (page) => page.locator('section:not(.loading)').waitFor()
export const box = (page, selector) => page.locator(selector).boundingBox()
export const rowCount = (page) => page.locator('tbody tr').count()
export const attribute = (page, name) => page.locator('activity-rank').getAttribute(name)
export const ownRank = (page) => page.locator('[part=own] [part=rank]').textContent()

export const recordBoardRequests = (page) => recordRequests(page, /\/v1\/ranking\/\w+\?/)

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
