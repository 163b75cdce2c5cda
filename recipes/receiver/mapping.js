// Mapping files: which activity an event of a source is.

/** @import { Changes, Json, Mapping, Payload, Rule, Template } from './types.js' */
/** @import { Activity } from '@activity-rank/server' */

import { Problem } from './problem.js'

const RULE_FIELDS = [
  'if',
  'unless',
  'action',
  'user',
  'target',
  'member',
  'on',
  'author',
  'at',
  'undo',
  'source_gone',
  'groups',
  'profile',
  'about',
]
const FIELD = /\{([^{}]+)\}/g // of a template
const MEMBER_CHANGES = ['hide', 'show', 'erase']
const NAME_LENGTH = 80 // characters, as the API allows
const TITLE_LENGTH = 200

/**
 * Throws an `Error` that names the first mistake of a mapping file. wrangler reports it before it deploys the Worker.
 * @param {Mapping} mapping
 */
export function checkMapping({ events, users = {}, private: isPrivate = false, categories = [], labels = [] }) {
  if (typeof events !== 'object') throw new Error('mapping.json: `events` must be an object of rules by event.')
  for (const [event, rules] of Object.entries(events)) {
    for (const rule of [rules].flat()) {
      if (![undefined, true, false, 'all'].includes(rule.undo)) {
        throw new Error(`mapping.json: ${event}: \`undo\` must be true, false or "all".`)
      }
      const unknown = Object.keys(rule).find((name) => !RULE_FIELDS.includes(name))
      if (unknown) throw new Error(`mapping.json: ${event}: unknown field \`${unknown}\`.`)
      if (rule.member !== undefined && !MEMBER_CHANGES.includes(rule.member)) {
        throw new Error(`mapping.json: ${event}: \`member\` must be "hide", "show" or "erase".`)
      }
      const values = [rule.if, rule.unless].flatMap((conditions) => Object.values(conditions ?? {})).flat()
      if (values.some((value) => Number.isInteger(value) && !Number.isSafeInteger(value))) {
        throw new Error(`mapping.json: ${event}: write integers from 2^53 on as text.`)
      }
      for (const name of /** @type {const} */ (['action', 'user', 'target'])) {
        if (rule.member && name !== 'user') continue
        if (!rule[name] && !(name === 'user' && rule.undo === 'all'))
          throw new Error(`mapping.json: ${event}: \`${name}\` is missing.`)
      }
    }
  }
  if (typeof isPrivate !== 'boolean') throw new Error('mapping.json: `private` must be true or false.')
  if (!Array.isArray(categories) || !categories.every(Number.isSafeInteger)) {
    throw new Error('mapping.json: `categories` must be a list of integers.')
  }
  if (!Array.isArray(labels) || !labels.every((label) => typeof label === 'string')) {
    throw new Error('mapping.json: `labels` must be a list of names.')
  }
  const invalid = Object.entries(users).find(([, user]) => typeof user !== 'string')
  if (invalid) throw new Error(`mapping.json: users: the value of \`${invalid[0]}\` must be a string.`)
}

/**
 * Returns the changes that an event makes. They are empty if no rule applies. Throws a `Problem` if the payload lacks
 * the user or the target of a rule that applies.
 * @param {Mapping} mapping
 * @param {string | undefined} event
 * @param {Payload} payload
 * @param {{ isPrivate?: boolean, isBot?: boolean, isExcluded?: boolean }} [options] as in `Event`
 * @returns {Changes}
 */
export function changesOf(mapping, event, payload, { isPrivate = false, isBot = false, isExcluded = false } = {}) {
  /** @type {Changes} */
  const changes = { activities: [], undos: [], members: [], profiles: new Map(), targets: new Map() }
  const rules = event !== undefined && Object.hasOwn(mapping.events, event) ? [mapping.events[event]].flat() : []
  const isLeftOut = isBot || isExcluded || (isPrivate && !mapping.private)
  for (const rule of rules) {
    if ((rule.undo || !isLeftOut) && applies(rule, payload)) addChanges(changes, rule, mapping, payload, String(event))
  }
  return changes
}

/**
 * @param {Rule} rule
 * @param {Payload} payload
 */
function applies(rule, payload) {
  const holds = (/** @type {[string, Json | undefined]} */ [path, values]) =>
    [values].flat().includes(/** @type {any} */ (field(payload, path) ?? null))
  return Object.entries(rule.if ?? {}).every(holds) && !Object.entries(rule.unless ?? {}).some(holds)
}

/**
 * @param {Changes} changes
 * @param {Rule} rule
 * @param {Mapping} mapping
 * @param {Payload} payload
 * @param {string} event
 */
function addChanges(changes, rule, mapping, payload, event) {
  const fill = (/** @type {Template | undefined} */ template) => filled(template, payload)
  const required = (/** @type {'user' | 'target'} */ name) => {
    const text = fill(rule[name])
    if (text === undefined)
      throw new Problem('invalid-request', `The payload has no \`${[rule[name]].flat().join('` or `')}\`.`)
    return text
  }
  // The account was deleted, so no one can receive points. An undo for all members needs no user.
  if (rule.undo !== 'all' && fill(rule.user) === undefined && isNull(rule.user, payload)) return
  const own = (/** @type {string | undefined} */ id) => {
    const { users = {} } = mapping
    return id !== undefined && Object.hasOwn(users, id) ? users[id] : id
  }
  if (rule.member) {
    const user = required('user')
    const change = /** @type {import('./types.js').MemberChange['change']} */ (rule.member)
    // A member of the site outlives an account of the source.
    if (own(user) === user) changes.members.push({ user, change, event })
    return
  }
  const action = String(rule.action)
  if (rule.undo === 'all') {
    const undo = {
      action,
      target: required('target'),
      source_gone: rule.source_gone,
      at: fill(rule.at),
      user: own(fill(rule.user)),
    }
    changes.undos.push(/** @type {typeof undo & { target: string }} */ (present(undo)))
    return
  }
  const sender = required('user')
  const user = own(sender) ?? sender
  const target = required('target')
  const on = fill(rule.on)
  changes.activities.push(
    /** @type {Activity} */ (
      present({
        user,
        action,
        target,
        undo: rule.undo,
        source_gone: rule.undo && rule.source_gone,
        on: rule.undo ? undefined : on,
        author: rule.undo ? undefined : own(fill(rule.author)),
        at: fill(rule.at),
        groups: rule.groups,
      })
    ),
  )
  if (rule.undo) return
  // The site knows the members that it lists better than the source does.
  if (rule.profile && user === sender) {
    const { name, avatar, url } = rule.profile
    changes.profiles.set(
      user,
      present({ name: clipped(fill(name), NAME_LENGTH), avatar: link(fill(avatar)), url: link(fill(url)) }),
    )
  }
  if (rule.about) {
    const { title, url, image, author } = rule.about
    changes.targets.set(
      on ?? target,
      present({
        title: clipped(fill(title), TITLE_LENGTH),
        url: link(fill(url)),
        image: link(fill(image)),
        author: own(fill(author)),
      }),
    )
  }
}

/**
 * Returns the text of a template, or `undefined` if the payload lacks one of its fields.
 * @param {Template | undefined} template
 * @param {Payload} payload
 */
function filled(template, payload) {
  for (const text of template === undefined ? [] : [template].flat()) {
    let isComplete = true
    const result = text.replace(FIELD, (_, path) => {
      const value = field(payload, path)
      isComplete &&= (typeof value === 'string' && value !== '') || typeof value === 'number'
      return String(value)
    })
    if (isComplete) return result
  }
  return undefined
}

/**
 * Returns whether a field of a template is null, or belongs to an object that is.
 * @param {Template | undefined} template
 * @param {Payload} payload
 */
const isNull = (template, payload) =>
  [template ?? []].flat().some((text) => [...text.matchAll(FIELD)].some(([, path]) => field(payload, path) === null))

/**
 * Returns the value at a path such as `comment.user.id` or `authors.0.name`; null also for a field of null.
 * @param {Json | undefined} value
 * @param {string} path
 * @returns {Json | undefined}
 */
function field(value, path) {
  for (const name of path.split('.')) {
    if (value === null) return null
    if (typeof value !== 'object' || !Object.hasOwn(value, name)) return undefined
    value = /** @type {Record<string, Json>} */ (value)[name]
  }
  return value
}

/**
 * Returns the first characters of a text, in one line.
 * @param {string | undefined} text
 * @param {number} length
 */
const clipped = (text, length) => text && [...text.replace(/\s+/g, ' ').trim()].slice(0, length).join('')

/**
 * Returns a link that the API accepts, or `undefined` for any other.
 * @param {string | undefined} url
 */
const link = (url) => (url?.startsWith('https://') ? url : undefined)

/**
 * Returns an object without its undefined fields.
 * @template {object} T
 * @param {T} object
 */
const present = (object) =>
  /** @type {{ [Name in keyof T]?: Exclude<T[Name], undefined> }} */ (
    Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
  )
