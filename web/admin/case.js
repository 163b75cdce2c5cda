// A case: its members as a graph, what they gave each other, and the decision of a moderator.

/** @import { Content } from './parts.js' */
/** @import { BoardChange, CaseDetails, CaseState, Context, Moderation } from './types.js' */

import { make } from '../page/dom.js'
import { ApiError, path } from './api.js'
import { KINDS, STATES } from './cases.js'
import { openForm, readerField, reasonField } from './dialog.js'
import { exclusionOf, spanFields } from './exclusion.js'
import { graph } from './graph.js'
import { flagBadges, userPath } from './moderate.js'
import {
  badge,
  button,
  card,
  code,
  columns,
  deploymentTime,
  facts,
  feed,
  heading,
  member,
  memberUrl,
  note,
  table,
  target,
  time,
  wide,
} from './parts.js'

const DRAWN = 24 // members. The labels of more would be too small.

/**
 * @param {Context} context
 * @param {string} id
 * @returns {Promise<HTMLElement>}
 */
export async function caseView(context, id) {
  const { api, texts, format, signal } = context
  const words = texts.cases
  /** @type {[CaseDetails, string]} */
  const [found, timezone] = await Promise.all([
    api.get(path`/v1/cases/${id}`, signal),
    api.health(signal).then(({ configured }) => configured?.timezone ?? 'UTC'),
  ])
  const { kind, state, pairs, latest, losses: changes = [] } = found
  const members = byGifts(found)
  const states = new Map(await Promise.all(members.slice(0, DRAWN).map((member) => stateOf(context, member))))
  /** @param {string} member */
  const nameOf = (member) => states.get(member)?.user.name
  /** @param {string} member */
  const link = (member) => make('a', { href: memberUrl(member) }, make('bdi', {}, nameOf(member) ?? member))
  const { name, about, share } = words.kinds[kind]
  const title = words.title(name, format.number(members.length))
  const alternative = words.graph(format.number(members.length), format.number(pairs.length))
  const drawn = pairs.map(({ giver, receiver, gifts }) => {
    const names = `${nameOf(giver) ?? giver} → ${nameOf(receiver) ?? receiver}`
    return { giver, receiver, gifts, title: texts.answered(names, words.gift_count(format.number(gifts))) }
  })
  const givers = new Set(pairs.map(({ giver }) => giver))
  const receivers = new Set(pairs.map(({ receiver }) => receiver).filter((member) => !givers.has(member)))
  const list = members.map((member) => memberItem(context, member, receivers.has(member), states.get(member)))
  /** @type {[string, ...Content[]][]} */
  const rows = [
    [texts.state, badge(words.states[state].is_set, KINDS[state])],
    ...decisionRows(context, found, timezone),
    [words.gifts, words.gifts_in(format.number(found.gifts), found.days)],
    [words.share, make('b', {}, format.share(found.share)), ` ${share}`],
    [words.score, format.number(found.score, { maximumFractionDigits: 1 }), ` ${words.score_hint}`],
    [words.found, time(context, found.found)],
    [words.updated, time(context, found.updated)],
    [texts.id, code(id)],
  ]
  return make(
    'div',
    { className: 'detail' },
    make('a', { className: 'back', href: '#cases' }, texts.sections.cases),
    heading(title, ...STATES.filter((next) => next !== state).map((next) => decide(context, found, next, timezone))),
    note(about),
    facts(rows),
    columns(
      card(
        words.graph_title,
        graph(alternative, members.slice(0, DRAWN), drawn),
        ...(members.length > DRAWN ? [note(words.drawn(DRAWN))] : []),
      ),
      card(texts.sections.members, make('ol', { className: 'nodes' }, ...list), note(words.members_hint)),
    ),
    card(words.pairs, pairTable(context, found, link)),
    ...(changes.length ? [card(words.changes, changeTable(context, changes))] : []),
    card(
      words.latest,
      latest.length ? feed(latest.map((gift) => giftItem(context, gift, link))) : note(words.no_gifts),
    ),
  )
}

/**
 * Returns the members who gave and received most first.
 * @param {CaseDetails} found
 */
function byGifts({ members, pairs }) {
  /** @param {string} member */
  const sum = (member) =>
    pairs
      .filter(({ giver, receiver }) => giver === member || receiver === member)
      .reduce((total, { gifts }) => total + gifts, 0)
  const sums = new Map(members.map((member) => [member, sum(member)]))
  return [...members].sort((one, other) => (sums.get(other) ?? 0) - (sums.get(one) ?? 0))
}

/**
 * Reads the name and the flags of a member, which a case does not have.
 * @param {Context} context
 * @param {string} member
 * @returns {Promise<[string, Moderation | undefined]>}
 */
async function stateOf({ api, signal }, member) {
  try {
    return [member, await api.get(`${userPath(member)}/moderation`, signal)]
  } catch (error) {
    if (error instanceof ApiError) return [member, undefined]
    throw error
  }
}

/**
 * @param {Context} context
 * @param {string} id
 * @param {boolean} onlyReceives
 * @param {Moderation} [state]
 */
function memberItem(context, id, onlyReceives, state) {
  const isFlagged = state && (state.hidden || state.frozen || state.user.hidden)
  const badges = isFlagged ? flagBadges(context, state) : []
  if (onlyReceives) badges.push(badge(context.texts.cases.receives))
  const spaced = badges.flatMap((item) => [' ', item])
  return make('li', {}, make('span', {}, member({ id, name: state?.user.name }), ...spaced))
}

/**
 * @param {Context} context
 * @param {CaseDetails} found
 * @param {string} timezone
 * @returns {[string, ...Content[]][]}
 */
function decisionRows(context, { state, decision }, timezone) {
  if (!decision) return []
  const { texts } = context
  const words = texts.cases
  const { reason, actor, at, from, until, public_reason, past } = decision
  const by = actor?.key ? [` · ${texts.audit.by(actor.key)}`] : []
  /** @type {[string, ...Content[]][]} */
  const rows = [[words.decision, make('q', {}, reason), ...by, ' · ', time(context, at)]]
  if (public_reason) rows.push([texts.adjust.reader, texts.adjust.member])
  if (state === 'excluded' && from) {
    const end = until ? deploymentTime(context, until, timezone) : words.no_end
    rows.push([words.excluded, deploymentTime(context, from, timezone), ' – ', end])
  }
  if (past)
    rows.push([words.past.title, words.past[past], ...(past === 'pending' ? [' ', code(words.past.command)] : [])])
  return rows
}

/**
 * Returns the button of a decision.
 * @param {Context} context
 * @param {CaseDetails} found
 * @param {CaseState} state
 * @param {string} timezone
 */
function decide(context, { id, kind, members, pairs }, state, timezone) {
  const { api, texts, format, announce } = context
  const words = texts.cases
  const { set, about, is_set } = words.states[state]
  const title = words.title(words.kinds[kind].name, format.number(members.length))
  const [first = ''] = pairs.map(({ first }) => first).sort()
  const span = spanFields(context, timezone, { required: true, value: first && `${first}T00:00` })
  const element = button(set, async () => {
    const answer = await openForm(context, {
      title: texts.answered(set, title),
      content: [make('p', {}, about)],
      fields: state === 'excluded' ? [...span, reasonField(context), readerField(context)] : [reasonField(context, '')],
      submit: set,
      send: ({ reason, ...span }) => {
        const exclusion = state === 'excluded' && exclusionOf(span, timezone)
        return api.request('PUT', path`/v1/cases/${id}`, { body: { state, reason, ...exclusion } })
      },
    })
    if (!answer) return
    announce(texts.answered(title, is_set))
    context.reload()
  })
  element.id = `decide-${state}`
  return element
}

/**
 * @param {Context} context
 * @param {CaseDetails} found
 * @param {(member: string) => Content} link
 */
function pairTable({ texts, format }, { pairs }, link) {
  const words = texts.cases
  const numbers = [words.gifts, words.expected, words.share_given, words.share_received, words.burst]
  const titles = [words.giver, words.receiver, ...numbers.map((title) => `${title}>`), words.first, words.last]
  const rows = pairs.map((pair) => [
    link(pair.giver),
    link(pair.receiver),
    format.number(pair.gifts),
    format.number(pair.expected, { maximumFractionDigits: 1 }),
    format.share(pair.share_given),
    format.share(pair.share_received),
    format.number(pair.burst),
    format.day(pair.first),
    format.day(pair.last),
  ])
  return wide(words.pairs, table(words.pairs, titles, rows))
}

/**
 * Creates the table of the boards that an exclusion changes.
 * @param {Context} context
 * @param {BoardChange[]} changes
 */
function changeTable({ texts, format }, changes) {
  const words = texts.cases
  /** @param {(number | null)[]} values */
  const change = (values) => values.map((value) => (value === null ? '–' : format.number(value))).join(' → ')
  const rows = changes.map(({ board, kind, user, score, rank }) => {
    const name = texts.periods[/** @type {'day'} */ (board)] ?? board
    return [member(user), kind === 'authors' ? words.authors(name) : name, change(score), change(rank)]
  })
  const titles = [texts.member, texts.board, `${texts.points}>`, `${texts.rank}>`]
  return wide(words.changes, table(words.changes, titles, rows))
}

/**
 * @param {Context} context
 * @param {CaseDetails['latest'][number]} gift
 * @param {(member: string) => Content} link
 */
function giftItem(context, { at, action, target: about, giver, receiver }, link) {
  const { actions } = context.texts
  // A member who is followed is the target.
  const object = about === receiver ? [] : [' ', target({ id: about })]
  return {
    line: [make('span', {}, actions[action] ?? action), ...object],
    more: [link(giver), ' → ', link(receiver), ' · ', time(context, at)],
  }
}
