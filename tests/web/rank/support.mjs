// What the tests of <activity-rank> share. Who imports this has a site of their own for a file, and
// a group of their own for each test.

import { after, before, beforeEach } from 'node:test'

import { start } from '../support.mjs'

export let site
export let group

before(async () => {
  // Boards are as new as can be without an event stream, and one period is switched off.
  site = await start({ live: false, vars: { BOARD_MAX_AGE: 1, PERIODS: 'day,week,month,all', TIMEZONE: 'Asia/Shanghai' } })
})
after(() => site?.stop())
beforeEach(() => {
  group = site.newGroup()
})

export const ELEMENT = '<activity-rank src="SITE" group="GROUP" refresh="1"></activity-rank>'

/** Likes of users, so many of each: `{ ada: 3 }` gives Ada 6 points. */
export async function likes(counts, at) {
  const all = Object.entries(counts).flatMap(([user, count]) =>
    Array.from({ length: count }, (_, number) => ({
      ...{ user, action: 'like', target: `${group}-${at ?? ''}-${number}`, groups: [group] },
      ...(at && { at }),
    })),
  )
  await site.count(all)
}

/** Gives users profiles, until the test ends. */
export async function profiles(t, all) {
  t.after(() => Promise.all(all.map(({ id }) => site.call('DELETE', `/v1/users/${id}`))))
  await site.call('PUT', '/v1/users', all)
}

/** So many users, the first with most points. */
export const crowd = (size) => Object.fromEntries(Array.from({ length: size }, (_, at) => [`m${at + 1}`, size - at]))

export const names = (page) => page.locator('tbody [part=name]').allTextContents()
export const scores = (page) => page.locator('tbody [part=score]').allTextContents()
export const text = (page, part) => page.locator(`[part~=${part}]:visible`).innerText({ timeout: 1000 })
export const shown = (page) => page.locator('section:not(.loading)').waitFor()
export const box = (page, selector) => page.locator(selector).boundingBox()

/** Board requests from now on. */
export function requests(page, pattern = /\/v1\/ranking\/\w+\?/) {
  const seen = []
  page.on('request', (request) => pattern.test(request.url()) && seen.push(request.url()))
  return seen
}

/** What happens to the first element of a page, from before it is there. */
export function events(page) {
  return page.addInitScript(() => {
    globalThis.events = []
    for (const name of ['load', 'error', 'rankchange']) {
      const note = ({ target, type, detail }) =>
        target.localName === 'activity-rank' && events.push(detail ? [type, detail.from, detail.to] : type)
      document.addEventListener(name, note, true)
    }
  })
}
