// Cases: members whose giving their activity does not explain, and the numbers of fairness.

/** @import { Content } from './parts.js' */
/** @import { Case, Cases, Context } from './types.js' */

import { make } from '../page/dom.js'
import { ApiError, path } from './api.js'
import { openForm, readerField, reasonField } from './dialog.js'
import { exclusionOf, spanFields } from './exclusion.js'
import { badge, button, feed, heading, note, paged, problem, time } from './parts.js'
import { itemsOf } from './search.js'

export const SEARCH_PATH = '/v1/cases/search'
const SEARCHES = 20 // requests until a long journal is read to its end
const SHOWN = 5 // members of a case in the list

export const STATES = /** @type {const} */ (['open', 'dismissed', 'excluded'])
export const KINDS = /** @type {const} */ ({ open: 'warn', dismissed: '', excluded: 'bad' })

/** @param {string} id */
export const caseUrl = (id) => `#case/${encodeURIComponent(id)}`

/**
 * Reads a page of cases. Returns null if the deployment does not search for cases.
 * @param {Context} context
 * @param {string} query
 * @returns {Promise<Cases | null>}
 */
export async function readCases({ api, signal }, query) {
  try {
    return await api.get(`/v1/cases?${query}`, signal)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

/**
 * @param {Context} context
 * @param {string} argument a state or `all`
 * @returns {Promise<HTMLElement>}
 */
export async function casesView(context, argument) {
  const { texts } = context
  const words = texts.cases
  const state = argument === 'all' ? undefined : (STATES.find((state) => state === argument) ?? 'open')
  const query = `limit=30${state ? `&state=${state}` : ''}`
  const [first, names] = await Promise.all([readCases(context, query), namesOf(context)])
  if (!first) return make('div', {}, heading(texts.sections.cases), note(words.not_configured))
  const links = [...STATES, undefined].map((value) => {
    const label = value ? words.states[value].is_set : texts.webhooks.all
    const link = make('a', { href: `#cases/${value ?? 'all'}`, id: `state-${value ?? 'all'}` }, label)
    if (value === state) link.setAttribute('aria-current', 'true')
    return link
  })
  const filter = make('nav', { className: 'segments', ariaLabel: texts.state }, ...links)
  const { node } = await paged(context, {
    load: async (next) => {
      const page = (next ? await readCases(context, `${query}&after=${next}`) : first) ?? first
      return { page: page.cases, next: page.next }
    },
    render: (pages) => {
      const items = pages.flat().map((item) => itemOf(context, item, names, !state))
      return [items.length ? feed(items) : note(words.none)]
    },
  })
  const { search } = first
  return make(
    'div',
    {},
    heading(texts.sections.cases, filter, openButton(context), searchButton(context)),
    ...(search ? [fairnessTiles(context, search.fairness)] : []),
    make(
      'p',
      { className: 'note' },
      ...(search ? [`${words.searched} `, time(context, search.at)] : [words.no_search]),
    ),
    make('section', { className: 'card' }, node),
  )
}

/**
 * Returns the names of members on the boards by id: a list of cases has ids alone.
 * @param {Context} context
 * @returns {Promise<Map<string, string | undefined>>}
 */
async function namesOf(context) {
  try {
    const items = (await itemsOf(context, 'members')) ?? []
    return new Map(items.map(({ id, name }) => [id, name]))
  } catch (error) {
    if (error instanceof ApiError) return new Map()
    throw error
  }
}

/**
 * @param {Context} context
 * @param {Case} item
 * @param {Map<string, string | undefined>} names
 * @param {boolean} hasState whether the list has cases of several states
 */
function itemOf(context, { id, kind, state, score, gifts, days, share, members, found, updated }, names, hasState) {
  const { texts, format } = context
  const words = texts.cases
  const shown = members
    .slice(0, SHOWN)
    .flatMap((member, index) => [index ? ', ' : '', make('bdi', {}, names.get(member) ?? member)])
  const rest = members.length - SHOWN
  const more = rest > 0 ? [` ${words.more(format.number(rest))}`] : []
  const facts = [
    `${words.score} ${format.number(score, { maximumFractionDigits: 1 })}`,
    words.gifts_in(format.number(gifts), days),
    `${words.share} ${format.share(share)}`,
    `${words.found} `,
  ]
  /** @type {Content[]} */
  const line = [
    ...(hasState ? [badge(words.states[state].is_set, KINDS[state]), ' '] : []),
    make('a', { href: caseUrl(id) }, texts.answered(words.kinds[kind].name, ''), ...shown, ...more),
  ]
  return { line, more: [facts.join(' · '), time(context, found), ` · ${words.updated} `, time(context, updated)] }
}

/**
 * Returns the button that opens a case of members whom the moderator names. With a span, their activity does not count at once.
 * @param {Context} context
 */
function openButton(context) {
  const { api, texts, signal } = context
  const words = texts.cases
  const element = button(words.open, async () => {
    const { configured } = await api.health(signal)
    const timezone = configured?.timezone ?? 'UTC'
    const exclusion = [...spanFields(context, timezone, {}), readerField(context)]
    const answer = await openForm(context, {
      title: words.open,
      fields: [
        {
          name: 'members',
          label: texts.sections.members,
          hint: words.open_hint,
          type: 'textarea',
          required: true,
          pointer: '/members',
        },
        reasonField(context, ''),
        ...exclusion.map((field) => ({ ...field, group: words.open_excluded })),
      ],
      submit: words.open,
      send: async ({ members, reason, ...span }) => {
        const body = { members: members.split(/[\s,]+/), reason }
        /** @type {Case} */
        const found = await api.request('POST', '/v1/cases', { body })
        if (!span.from && !span.until) return found
        const decision = { state: 'excluded', reason, ...exclusionOf(span, timezone) }
        return api.request('PUT', path`/v1/cases/${found.id}`, { body: decision })
      },
    })
    if (answer) location.hash = caseUrl(answer.id)
  })
  element.id = 'open-case'
  return element
}

/**
 * Returns the button that searches for cases, until the journal is read to its end.
 * @param {Context} context
 */
function searchButton(context) {
  const { api, texts, format, announce, signal } = context
  const words = texts.cases
  const element = button(
    words.search,
    async () => {
      element.disabled = true
      document.querySelector('#view .heading + .problem')?.remove()
      try {
        const sums = { opened: 0, updated: 0, isCut: false }
        for (let searches = 0, isComplete = false; !isComplete && searches < SEARCHES; searches++) {
          const { complete, opened, updated, cut } = await api.request('POST', SEARCH_PATH, { signal })
          isComplete = complete
          sums.opened += opened
          sums.updated += updated
          sums.isCut ||= cut.length > 0
        }
        const done = words.search_done(format.number(sums.opened), format.number(sums.updated))
        announce(sums.isCut ? `${done} ${words.search_cut}` : done)
        context.reload()
      } catch (error) {
        signal.throwIfAborted()
        element.disabled = false
        element.closest('.heading')?.after(problem(context, error))
      }
    },
    'primary',
  )
  element.id = 'search-cases'
  return element
}

/**
 * Creates the numbers of fairness, each with what it means.
 * @param {Context} context
 * @param {NonNullable<Cases['search']>['fairness']} fairness
 */
export function fairnessTiles({ texts, format }, { top_givers_share, gini, mutual_share }) {
  const words = texts.cases.fairness
  /** @type {[{ title: string, meaning: string }, string | null][]} */
  const tiles = [
    [words.top_givers_share, top_givers_share === null ? null : format.share(top_givers_share)],
    [words.gini, gini === null ? null : format.number(gini, { maximumFractionDigits: 2 })],
    [words.mutual_share, mutual_share === null ? null : format.share(mutual_share)],
  ]
  const items = tiles.map(([{ title, meaning }, value]) =>
    make(
      'div',
      {},
      make('dt', {}, title),
      make('dd', {}, make('b', {}, value ?? '–'), make('p', { className: 'hint' }, meaning)),
    ),
  )
  return make('dl', { className: 'tiles' }, ...items)
}
