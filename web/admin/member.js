// A member: moderation state, standings, what gave and took points, and the entries of the audit log.

/** @import { Content } from './parts.js' */
/** @import { AuditEntry, Context, Field, Health, Moderation, Points, SiteEvent, Standing } from './types.js' */

import { make } from '../page/dom.js'
import { accountList, accountsOf, detachButton, joinButton } from './accounts.js'
import { achievementsOf } from './awards.js'
import { openForm, readerField, reasonField } from './dialog.js'
import { historyOf } from './history.js'
import { flagBadges, flagButtons, removeButton, userPath } from './moderate.js'
import {
  attempt,
  badge,
  button,
  card,
  code,
  columns,
  facts,
  feed,
  heading,
  member,
  named,
  note,
  outward,
  paged,
  table,
  target,
  time,
} from './parts.js'
import { dayOf, noonOf } from './zone.js'

/**
 * @param {Context} context
 * @param {string} id
 * @returns {Promise<HTMLElement>}
 */
export async function memberView(context, id) {
  const { api, texts, signal } = context
  const url = userPath(id)
  const { account_of: of, accounts } = await accountsOf(context, id)
  const back = make('a', { className: 'back', href: '#members' }, texts.sections.members)
  if (of) {
    const owner = make('p', {}, texts.accounts.of(of), ' ', member({ id: of }))
    return make('div', {}, back, heading(id, detachButton(context, id)), owner)
  }
  /** @type {[Moderation, Content, Content, Content, Content]} */
  const [state, standings, points, history, achievements] = await Promise.all([
    api.get(`${url}/moderation`, signal),
    attempt(context, () => standingsOf(context, url)),
    attempt(context, () => pointsOf(context, url)),
    attempt(context, () => historyOf(context, ({ user }) => user?.id === id, undoButton(context, url, id))),
    attempt(context, () => achievementsOf(context, id)),
  ])
  const { user } = state
  const { name } = user
  const adjust = button(texts.adjust.title, () => adjustPoints(context, url, id, name))
  adjust.id = 'adjust'
  const join = joinButton(context, id, name)
  const remove = removeButton(context, {
    url,
    id,
    name,
    label: texts.erase.title,
    effect: texts.erase.effect,
    done: texts.erase.done,
    back: '#members',
  })
  const flags = flagButtons(context, {
    url: `${url}/moderation`,
    id,
    name,
    state: flagsOf(state),
    flags: ['hidden', 'frozen'],
  })
  /** @type {[string, ...Content[]][]} */
  const rows = [
    [texts.id, code(id)],
    [texts.state, ...flagBadges(context, state).flatMap((item) => [item, ' '])],
  ]
  const parts = make('div', {}, standings, history, points)
  const isKnown =
    name || accounts.length || user.hidden || state.hidden || state.frozen || parts.querySelector('li, table, .problem')
  if (!isKnown) {
    return make('div', {}, back, heading(id, ...flags, adjust, join), note(texts.member_page.unknown))
  }
  const link = outward(user.url)
  if (link) rows.push([texts.website, link])
  if (accounts.length) rows.push([texts.accounts.title, ...accountList(context, accounts)])
  return make(
    'div',
    { className: 'detail' },
    back,
    heading(name ?? id, ...flags, adjust, join, remove),
    facts(rows),
    columns(card(texts.member_page.standings, standings), card(texts.member_page.audit, history)),
    ...(achievements ? [card(texts.achievements.title, achievements)] : []),
    card(texts.member_page.points, points),
  )
}

/** @param {Moderation} state */
const flagsOf = ({ hidden, frozen }) => ({ hidden, frozen })

/**
 * @param {Context} context
 * @param {string} url
 */
async function standingsOf({ api, texts, format, signal }, url) {
  /** @type {{ standings: Record<string, Standing>, events?: Record<string, Standing> }} */
  const { standings, events = {} } = await api.get(`${url}/standings`, signal)
  const boards = Object.entries(standings)
    .filter(([, { rank }]) => rank !== undefined)
    .map(([period, standing]) => ({ name: texts.periods[/** @type {'day'} */ (period)], ...standing }))
  const rows = [...boards, ...Object.entries(events).map(([id, standing]) => ({ name: id, ...standing }))]
  if (rows.every(({ rank }) => rank === null)) return note(texts.member_page.no_standings)
  return table(
    texts.member_page.standings,
    [texts.board, `${texts.rank}>`, `${texts.points}>`, `${texts.member_page.of}>`],
    rows.map(({ name, rank, score, total }) => [
      name,
      rank === null ? '–' : format.number(rank),
      score === null ? '–' : format.number(score),
      format.number(total),
    ]),
  )
}

/**
 * @param {Context} context
 * @param {string} url
 */
async function pointsOf(context, url) {
  const { api, texts, format, signal } = context
  const { node } = await paged(context, {
    load: async (next) => {
      /** @type {Points} */
      const page = await api.get(
        `${url}/points?limit=20&refused=true${next ? `&before=${encodeURIComponent(next)}` : ''}`,
        signal,
      )
      return { page, next: page.next }
    },
    render: (pages) => {
      const entries = pages.flatMap(({ entries }) => entries)
      const [{ source, behind }] = pages
      const hint = source === 'records' ? texts.points_page.records : behind ? texts.points_page.behind : ''
      const changes = entries.map((entry) => {
        const { type, action, target: about, event, points, undone, source_gone: isGone } = entry
        /** @type {Content[]} */
        const line = [make('span', {}, texts.points_page.types[type](texts.actions[action ?? ''] ?? action ?? ''))]
        if (about) line.push(' ', target(about))
        if (event) line.push(' ', code(event))
        if (undone) line.push(' ', badge(texts.points_page.undone))
        if (isGone) line.push(' ', badge(texts.points_page.gone))
        const change = format.signed(points)
        return {
          line,
          more: [time(context, entry.at)],
          value: [undone ? make('s', {}, change) : make('b', {}, change)],
          at: Date.parse(entry.at),
        }
      })
      const refusals = pages
        .flatMap(({ refused = [] }) => refused)
        .map(({ at, action, reason, count, targets }) => ({
          line: [
            make('span', {}, texts.points_page.refused(texts.actions[action] ?? action, format.number(count))),
            ' ',
            badge(texts.points_page.reasons[reason] ?? reason),
          ],
          more: [time(context, at), ...targets.flatMap((about) => [' ', target(about)])],
          value: [],
          at: Date.parse(at),
        }))
      const items = [...changes, ...refusals].sort((one, other) => other.at - one.at)
      return [...(hint ? [note(hint)] : []), items.length ? feed(items) : note(texts.points_page.none)]
    },
  })
  return node
}

/**
 * @param {Context} context
 * @param {string} url
 * @param {string} id
 * @param {string} [name]
 */
async function adjustPoints(context, url, id, name) {
  const { api, texts, format, announce } = context
  /** @type {[{ events: SiteEvent[] }, Health]} */
  const [{ events }, { configured }] = await Promise.all([api.get('/v1/events'), api.health()])
  const timezone = configured?.timezone ?? 'UTC'
  const today = dayOf(Date.now(), timezone)
  const open = events.filter(({ state }) => state === 'running' || state === 'settling')
  /** @type {Field[]} */
  const fields = [
    {
      name: 'points',
      label: texts.points,
      hint: texts.adjust.points_hint,
      type: 'number',
      step: 'any',
      required: true,
      pointer: '/points',
    },
    reasonField(context),
    readerField(context),
    { name: 'date', label: texts.adjust.date, hint: texts.adjust.date_hint, type: 'date', pointer: '/at' },
  ]
  if (open.length) {
    /** @type {[string, string][]} */
    const options = [
      ['', texts.adjust.no_event],
      ...open.map(({ id, title }) => /** @type {[string, string]} */ ([id, title])),
    ]
    fields.push({
      name: 'event',
      label: texts.adjust.event,
      hint: texts.adjust.event_hint,
      type: 'select',
      options,
      pointer: '/event',
    })
  }
  // One id for all attempts: a repeated one counts once.
  const adjustment = crypto.randomUUID()
  const answer = await openForm(context, {
    title: `${texts.adjust.title}: ${named(id, name)}`,
    fields,
    submit: texts.adjust.submit,
    send: ({ points, reason, reader, date, event }) => {
      const when = date && date !== today && { at: noonOf(date, timezone) }
      return api.request('POST', `${url}/adjustments`, {
        body: {
          id: adjustment,
          points: Number(points),
          reason,
          public_reason: reader === 'member',
          ...when,
          ...(event && { event }),
        },
      })
    },
  })
  if (!answer) return
  announce(
    texts.answered(
      name ?? id,
      texts.adjust.outcome(texts.outcomes[answer.outcome] ?? answer.outcome, format.signed(answer.points)),
    ),
  )
  context.reload()
}

/**
 * Returns the actions of an entry of the audit log: an adjustment that has not been undone can be.
 * @param {Context} context
 * @param {string} url
 * @param {string} id
 * @returns {(entry: AuditEntry, entries: AuditEntry[]) => Content[]}
 */
const undoButton = (context, url, id) => (entry, entries) => {
  const { api, texts, format, announce } = context
  const { action, adjustment, user } = entry
  if (action !== 'adjust' || !adjustment) return []
  const isUndone = entries.some(
    ({ action, adjustment: other }) => action === 'undo-adjust' && other?.id === adjustment.id,
  )
  if (isUndone) return []
  const name = `${format.signed(adjustment.points)} ${texts.points}`
  const element = button(texts.undo, async () => {
    const answer = await openForm(context, {
      title: `${texts.adjust.undo(format.signed(adjustment.points))}: ${named(id, user?.name)}`,
      fields: [reasonField(context)],
      submit: texts.undo,
      send: ({ reason }) =>
        api.request('POST', `${url}/adjustments`, { body: { id: adjustment.id, undo: true, reason } }),
    })
    if (!answer) return
    const outcome = texts.outcomes[answer.outcome] ?? answer.outcome
    announce(texts.adjust.outcome(outcome, format.signed(answer.points)))
    context.reload()
  })
  element.ariaLabel = texts.adjust.undo(format.signed(adjustment.points))
  element.title = name
  return [element]
}
