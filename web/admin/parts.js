// Parts that several views use.

/** @import { AuditEntry, Context, Target, User } from './types.js' */
/** @typedef {string | Node} Content */

import { make } from '../page/dom.js'
import { ApiError } from './api.js'

/** @param {string} id */
export const memberUrl = (id) => `#member/${encodeURIComponent(id)}`

/** @param {string} id */
export const targetUrl = (id) => `#target/${encodeURIComponent(id)}`

/**
 * Creates the heading of a view, with its actions beside it.
 * @param {string} title
 * @param {...Content} actions
 */
export function heading(title, ...actions) {
  const h1 = make('h1', { tabIndex: -1 }, title)
  return make('div', { className: 'heading' }, h1, make('div', { className: 'actions' }, ...actions))
}

/**
 * Creates a section with a title.
 * @param {string} title
 * @param {...Content} content
 */
export const card = (title, ...content) => make('section', { className: 'card' }, make('h2', {}, title), ...content)

/** @param {...Content} cards beside each other where there is room */
export const columns = (...cards) => make('div', { className: 'columns' }, ...cards)

/**
 * @param {string} text
 * @param {(button: HTMLButtonElement) => void} onClick
 * @param {string} [className] `primary` or `danger`
 */
export function button(text, onClick, className = '') {
  const element = make('button', { type: 'button', className }, text)
  element.addEventListener('click', () => onClick(element))
  return element
}

/**
 * @param {string} text
 * @param {'' | 'good' | 'warn' | 'bad'} [kind]
 */
export const badge = (text, kind = '') => make('span', { className: `badge ${kind}` }, text)

/** @param {string} text */
export const note = (text) => make('p', { className: 'note' }, text)

/**
 * Creates a link to a page of the site, if its address is `https`: profiles are written by members.
 * @param {string | undefined} url
 */
export function outward(url) {
  if (!url || !URL.canParse(url) || new URL(url).protocol !== 'https:') return ''
  return make('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, url)
}

/**
 * Creates an instant in the moderator's time zone.
 * @param {Context} context
 * @param {string} instant
 */
export const time = ({ format }, instant) =>
  make('time', { dateTime: instant, title: instant, className: 'muted' }, format.time(instant))

/**
 * Creates an instant in the deployment's time zone, with its name.
 * @param {Context} context
 * @param {string} instant
 * @param {string} timeZone
 */
export const deploymentTime = ({ format }, instant, timeZone) =>
  make('time', { dateTime: instant, title: instant }, `${format.time(instant, timeZone)} ${timeZone}`)

/** @param {User} user */
export const member = ({ id, name }) => reference(memberUrl(id), id, name)

/**
 * Returns a name with its id, for titles of dialogs.
 * @param {string} id
 * @param {string} [name]
 */
export const named = (id, name) => (name && name !== id ? `${name} (${id})` : id)

/** @param {Target} target */
export const target = ({ id, title }) => reference(targetUrl(id), id, title)

/**
 * Creates a link, with the id beside a name.
 * @param {string} href
 * @param {string} id
 * @param {string} [name]
 */
function reference(href, id, name) {
  const link = make('a', { href }, make('bdi', {}, name ?? id))
  return name ? make('span', {}, link, ' ', code(id)) : link
}

/** @param {string} text */
export const code = (text) => make('code', {}, text)

/**
 * Creates a list of facts.
 * @param {[name: string, ...value: Content[]][]} rows
 */
export function facts(rows) {
  const items = rows.map(([name, ...value]) => make('div', {}, make('dt', {}, name), make('dd', {}, ...value)))
  return make('dl', { className: 'facts' }, ...items)
}

/**
 * Creates a table. Columns of numbers end with `>`.
 * @param {string} caption for screen readers
 * @param {string[]} titles
 * @param {Content[][]} rows the first cell names the row
 */
export function table(caption, titles, rows) {
  const isNumber = titles.map((title) => title.endsWith('>'))
  /**
   * @param {'th' | 'td'} tag
   * @param {number} column
   * @param {Content} content
   * @param {object} properties
   */
  const cell = (tag, column, content, properties = {}) =>
    make(tag, { className: isNumber[column] ? 'number' : '', ...properties }, content)
  const head = titles.map((title, column) => cell('th', column, title.replace(/>$/, ''), { scope: 'col' }))
  const body = rows.map((cells) => {
    const row = cells.map((content, column) =>
      column ? cell('td', column, content) : cell('th', column, content, { scope: 'row' }),
    )
    return make('tr', {}, ...row)
  })
  return make(
    'table',
    {},
    make('caption', { className: 'unseen' }, caption),
    make('thead', {}, make('tr', {}, ...head)),
    make('tbody', {}, ...body),
  )
}

/**
 * Creates a region that scrolls if a table does not fit.
 * @param {string} label
 * @param {HTMLElement} content
 */
export const wide = (label, content) =>
  make('div', { className: 'wide', tabIndex: 0, role: 'region', ariaLabel: label }, content)

/**
 * Creates a list whose items have a line, a second line and a value at the end.
 * @param {{ line: Content[], more?: Content[], value?: Content[] }[]} items
 */
export function feed(items) {
  const rows = items.map(({ line, more = [], value = [] }) =>
    make(
      'li',
      {},
      make('div', { className: 'line' }, ...line),
      make('div', { className: 'value' }, ...value),
      make('div', { className: 'more' }, ...more),
    ),
  )
  return make('ul', { className: 'feed' }, ...rows)
}

/**
 * Creates the description of an error: what the service said, and where in the request.
 * @param {Pick<Context, 'texts'>} context
 * @param {unknown} error
 */
export function problem({ texts }, error) {
  if (!(error instanceof ApiError)) throw error
  const { detail, title, errors = [], errors_omitted: omitted } = error.problem
  const items = errors.map(({ pointer, detail }) => make('li', {}, code(pointer || '/'), ` ${detail}`))
  if (omitted) items.push(make('li', {}, texts.errors.omitted(omitted)))
  const text = detail ?? title ?? (error.status ? '' : texts.errors.network)
  const status = error.status ? make('span', { className: 'muted' }, ` (${error.status})`) : ''
  // The detail of an invalid request repeats its only error.
  const list = items.length && !(items.length === 1 && detail?.includes(errors[0]?.detail)) ? items : []
  return make('div', { className: 'problem', role: 'alert' }, text, status, list.length ? make('ul', {}, ...list) : '')
}

/**
 * Returns the content of a part that fails alone: the others stay.
 * @param {Context} context
 * @param {() => Promise<Content>} load
 */
export async function attempt(context, load) {
  try {
    return await load()
  } catch (error) {
    context.signal.throwIfAborted()
    return problem(context, error)
  }
}

/**
 * Creates a list that loads page after page.
 * @template Page
 * @param {Context} context
 * @param {object} options
 * @param {(next: string | null) => Promise<{ page: Page, next: string | null }>} options.load
 * @param {(pages: Page[], isComplete: boolean) => Content[]} options.render
 * @param {string} [options.label] of the button
 */
export async function paged(context, { load, render, label = context.texts.load_more }) {
  /** @type {Page[]} */
  const pages = []
  /** @type {string | null} */
  let next = null
  const list = make('div', {})
  const failure = make('div', {})
  const more = button(label, () => advance())
  const show = () => {
    list.replaceChildren(...render(pages, !next))
    more.hidden = !next
  }
  const advance = async () => {
    more.disabled = true
    try {
      const loaded = await load(next)
      pages.push(loaded.page)
      next = loaded.next
      failure.replaceChildren()
      const shown = list.querySelectorAll('li').length
      show()
      // The button may be gone, and readers continue at the first new item.
      const first = list.querySelectorAll('li')[shown]
      if (pages.length > 1 && first) {
        first.tabIndex = -1
        first.focus()
      }
    } catch (error) {
      context.signal.throwIfAborted()
      failure.replaceChildren(problem(context, error))
    }
    more.disabled = false
  }
  await advance()
  return { node: make('div', {}, list, failure, more), show }
}

/**
 * Returns the item of a feed for an entry of the audit log.
 * @param {Context} context
 * @param {AuditEntry} entry
 * @param {{ actions?: Content[], isOwn?: boolean }} [options] `isOwn`: all entries of the feed are about the same
 */
export function auditItem(context, entry, { actions = [], isOwn = false } = {}) {
  const { texts, format } = context
  const { action, actor, user, target: item, reason, adjustment, achievement, removed, version } = entry
  const rules = version && make('a', { href: '#rules' }, texts.rules.version(version))
  const subject = item ? target(item) : user ? member(user) : rules || make('i', {}, texts.audit.erased)
  const facts = []
  if (actor) facts.push(texts.audit.by(actor.key ?? texts.audit.member))
  if (adjustment?.event) facts.push(`${texts.adjust.event}: ${adjustment.event}`)
  if (adjustment?.date) facts.push(`${texts.adjust.date}: ${format.day(adjustment.date)}`)
  if (achievement) facts.push(`${achievement.id}: ${achievement.steps.map((step) => format.number(step)).join(', ')}`)
  if (removed) facts.push(texts.audit.removed(format.number(removed.boards), format.number(removed.keys)))
  /** @type {Content[]} */
  const more = [time(context, entry.at), ...facts.map((fact) => ` · ${fact}`)]
  if (reason && !isOwn) more.push(' · ', make('q', {}, reason))
  const points = adjustment ? [make('b', {}, format.signed(adjustment.points))] : []
  const kind = /^(hide|freeze|erase|delete)$/.test(action) ? 'warn' : ''
  /** @type {Content} */
  const about = isOwn ? make('q', {}, reason ?? '') : subject
  return {
    line: [badge(texts.audit.actions[action] ?? action, kind), ' ', about],
    more,
    value: [...points, ...actions],
  }
}
