// Events: their state, and forms that define, change and delete them; how to recount one.

/** @import { Content } from './parts.js' */
/** @import { Context, EventDefinition, Field, SiteEvent } from './types.js' */
/** @typedef {(id: string, event: SiteEvent | null) => void} Update */

import { make } from '../page/dom.js'
import { path } from './api.js'
import { confirmField, openForm } from './dialog.js'
import { badge, button, code, feed, heading, named, note, outward, time } from './parts.js'

const KINDS = /** @type {const} */ ({ coming: '', running: 'good', settling: 'warn', final: '' })

/**
 * @param {Context} context
 * @returns {Promise<HTMLElement>}
 */
export async function eventsView(context) {
  const { api, texts, signal } = context
  /** @type {{ events: SiteEvent[] }} */
  let { events } = await api.get('/v1/events', signal)
  const list = make('section', { className: 'card' })
  const show = () => {
    const focused = document.activeElement?.id
    const items = events.map((event) => item(context, event, update))
    list.replaceChildren(items.length ? feed(items) : note(texts.events.none))
    if (focused) document.getElementById(focused)?.focus()
  }
  /**
   * Shows what the service answered: its list may come from a cache.
   * @param {string} id
   * @param {SiteEvent | null} event null if it is deleted
   */
  const update = (id, event) => {
    const isNew = !events.some((other) => other.id === id)
    const others = events.map((other) => (other.id === id ? event : other)).filter((other) => other !== null)
    events = event && isNew ? [event, ...others] : others
    show()
  }
  show()
  const add = button(texts.events.add, () => edit(context, update, newIdField(context, events)), 'primary')
  add.id = 'add'
  return make('div', {}, heading(texts.sections.events, add), list)
}

/**
 * @param {Context} context
 * @param {SiteEvent} event
 * @param {Update} update
 */
function item(context, event, update) {
  const { texts } = context
  const { id, state, title, from, to, url } = event
  const link = outward(url)
  return {
    line: [badge(texts.events.states[state], KINDS[state]), ' ', make('b', {}, title), ' ', code(id)],
    more: [
      ...[time(context, from), ' – ', time(context, to)],
      ...(link ? [' · ', link] : []),
      ...details(context, event),
    ],
    value: [
      labelled(
        button(texts.events.change, () => edit(context, update, [], event)),
        id,
        'change',
      ),
      labelled(
        button(texts.events.recount, () => recount(context, event)),
        id,
        'recount',
      ),
      labelled(
        button(texts.delete, () => remove(context, update, event), 'danger quiet'),
        id,
        'delete',
      ),
    ],
  }
}

/**
 * Names a button of a list for screen readers, and for the focus after a reload.
 * @param {HTMLButtonElement} element
 * @param {string} id of the event
 * @param {string} name
 */
function labelled(element, id, name) {
  element.id = `${name}-${id}`
  element.ariaLabel = `${element.textContent}: ${id}`
  return element
}

/**
 * @param {Context} context
 * @param {SiteEvent} event
 */
function details({ texts, format }, { actions, groups, prizes = [] }) {
  const parts = []
  if (actions) {
    const list = Object.entries(actions).map(
      ([action, points]) => `${texts.actions[action] ?? action} ${format.number(points)}`,
    )
    parts.push(list.join(', '))
  }
  if (groups?.length) parts.push(`${texts.events.groups}: ${groups.join(', ')}`)
  if (prizes.length) parts.push(texts.events.prize_count(format.number(prizes.length)))
  return parts.map((part) => ` · ${part}`)
}

/**
 * Defines a new event, or changes one.
 * @param {Context} context
 * @param {Update} update
 * @param {Field[]} identity the field of the id of a new event
 * @param {SiteEvent} [event]
 */
async function edit(context, update, identity, event) {
  const { api, texts, announce } = context
  /** @type {SiteEvent | null} */
  const answer = await openForm(context, {
    title: event ? `${texts.events.change}: ${named(event.id, event.title)}` : texts.events.add,
    fields: [...fieldsOf(context, event), ...identity],
    submit: texts.save,
    send: (values) => api.request('PUT', path`/v1/events/${event?.id ?? values.id}`, { body: definitionOf(values) }),
  })
  if (!answer) return
  announce(texts.answered(answer.title, texts.events.saved(texts.events.states[answer.state])))
  update(answer.id, answer)
}

/**
 * Returns the field of the id of a new event, which follows the title.
 * @param {Context} context
 * @param {SiteEvent[]} events
 * @returns {Field[]}
 */
function newIdField({ texts }, events) {
  const words = texts.events
  const check = (/** @type {string} */ id) => {
    if (id && !ID.test(id)) return words.id_invalid
    return events.some((event) => event.id === id) ? words.id_taken : ''
  }
  const derive = (/** @type {Record<string, string>} */ { title, from }) =>
    slugOf(title) || (title && from && `event-${from.slice(0, 10)}`)
  return [{ name: 'id', label: texts.id, hint: words.id_hint, required: true, maxLength: 64, derive, check }]
}

const ID = /^(?!\.\.?$)[A-Za-z0-9_.:@|-]+$/

/**
 * Returns a title as an id, empty if none of its letters is Latin.
 * @param {string} title
 */
function slugOf(title) {
  const latin = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return latin
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 64)
    .replace(/-$/, '')
}

/**
 * @param {Context} context
 * @param {SiteEvent} [event]
 * @returns {Field[]}
 */
function fieldsOf({ texts }, event) {
  const words = texts.events
  const time = /** @type {const} */ ({ type: 'datetime-local', step: 'any', required: true })
  return [
    { name: 'title', label: words.title, required: true, maxLength: 200, value: event?.title, pointer: '/title' },
    { name: 'from', label: words.from, ...time, value: local(event?.from), pointer: '/from' },
    { name: 'to', label: words.to, hint: words.to_hint, ...time, value: local(event?.to), pointer: '/to' },
    {
      name: 'actions',
      label: words.actions,
      hint: words.actions_hint,
      type: 'rows',
      columns: [texts.audit.kind, texts.points],
      rows: Object.entries(event?.actions ?? {}).map(([action, points]) => [action, String(points)]),
      add: words.add_action,
      pointer: '/actions',
    },
    {
      name: 'prizes',
      label: words.prizes,
      hint: words.prizes_hint,
      type: 'rows',
      columns: [words.ranks, words.title],
      rows: event?.prizes?.map(({ ranks, title }) => [ranks, title]),
      add: words.add_prize,
      pointer: '/prizes',
    },
    {
      name: 'groups',
      label: words.groups,
      hint: words.groups_hint,
      value: event?.groups?.join(', '),
      pointer: '/groups',
    },
    { name: 'url', label: words.url, value: event?.url, pointer: '/url' },
  ]
}

/**
 * Returns an instant as a field needs it: in the moderator's time zone, with seconds only if it has some.
 * @param {string} [instant]
 */
function local(instant) {
  if (!instant) return ''
  const date = new Date(instant)
  const text = new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().replace('Z', '')
  return text.replace(/:00\.000$/, '').replace(/\.000$/, '')
}

/**
 * @param {Record<string, any>} values of the form
 * @returns {EventDefinition}
 */
function definitionOf({ title, from, to, url, actions, groups, prizes }) {
  /** @type {string[][][]} */
  const [points, awards] = [actions, prizes]
  return {
    title,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    ...(url && { url }),
    ...(points.length && { actions: Object.fromEntries(points.map(([action, value]) => [action, Number(value)])) }),
    ...(groups && { groups: groups.split(/[\s,]+/).filter(Boolean) }),
    ...(awards.length && { prizes: awards.map(([ranks, title]) => ({ ranks, title })) }),
  }
}

/**
 * @param {Context} context
 * @param {Update} update
 * @param {SiteEvent} event
 */
async function remove(context, update, { id, title }) {
  const { api, texts, announce } = context
  const answer = await openForm(context, {
    title: `${texts.delete}: ${named(id, title)}`,
    content: [make('p', {}, texts.events.delete_effect)],
    fields: [confirmField(context, id)],
    submit: texts.delete,
    isDanger: true,
    send: async () => {
      await api.request('DELETE', path`/v1/events/${id}`)
      return true
    },
  })
  if (!answer) return
  announce(texts.answered(title, texts.events.deleted))
  update(id, null)
}

/**
 * Opens a form with a definition, and shows the commands that count the event again by it.
 * @param {Context} context
 * @param {SiteEvent} event
 */
async function recount(context, event) {
  const { api, texts, announce, signal } = context
  const url = path`/v1/events/${event.id}/recount`
  const definition = await openForm(context, {
    title: `${texts.events.recount}: ${named(event.id, event.title)}`,
    content: [make('p', {}, texts.events.recount_effect)],
    fields: fieldsOf(context, event),
    submit: texts.events.recount_check,
    send: async (values) => {
      const body = definitionOf(values)
      await api.request('POST', url, { body, signal })
      return body
    },
  })
  if (!definition) return
  // The definition is one line. An id has no quote, but may begin like an option.
  const commands = [
    `cat > event.json <<'END'\n${JSON.stringify(definition)}\nEND`,
    `activity-rank recount --event='${event.id}' --definition event.json --dry-run`,
  ].join('\n')
  const copied = await openForm(context, {
    title: texts.events.recount_title(event.title),
    content: [make('p', {}, texts.events.recount_commands), make('pre', { tabIndex: 0 }, commands)],
    fields: [],
    submit: texts.events.recount_copy,
    send: async () => {
      await navigator.clipboard.writeText(commands)
      return true
    },
  })
  if (copied) announce(texts.answered(event.title, texts.events.recount_copied))
}
