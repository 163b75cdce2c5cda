// The rules in force, their published versions, the form that publishes a version, and the preview of one.

/** @import { Content } from './parts.js' */
/** @import { Context, Health, Rule, Rules, RulesVersion } from './types.js' */

import { make } from '../page/dom.js'
import { ApiError, path } from './api.js'
import { openForm, readerField, reasonField } from './dialog.js'
import { badge, button, card, deploymentTime, feed, heading, note, paged, table, time, wide } from './parts.js'
import { bodyOf, changeOf, changesOf, FIELDS, fieldsOf } from './rules_form.js'
import { previewCard, startPreview } from './rules_preview.js'
import { instantOf } from './zone.js'

const KINDS = /** @type {const} */ ({ coming: 'warn', 'in-force': 'good', 'taken-back': '', removed: '' })
const PAGE = 20 // versions

/**
 * @param {Context} context
 * @returns {Promise<HTMLElement>}
 */
export async function rulesView(context) {
  const { api, texts, signal } = context
  const words = texts.rules
  /** @type {[Rules, Health]} */
  const [{ rules, locked, versions }, { configured }] = await Promise.all([
    api.get('/v1/rules', signal),
    api.health(signal),
  ])
  const timezone = configured?.timezone ?? 'UTC'
  const add = button(words.publish, () => publish(context, rules, timezone), 'primary')
  add.id = 'publish'
  const actions = [add]
  /** @type {Content[]} */
  const previews = []
  if (configured?.bound.includes('journal')) {
    const preview = button(words.preview.title, () => startPreview(context, rules))
    preview.id = 'preview'
    actions.unshift(preview)
    previews.push(await previewCard(context))
  }
  const { node } = await paged(context, {
    load: async (next) => {
      const start = Number(next ?? 0)
      const end = start + PAGE
      return { page: versions.slice(start, end), next: end < versions.length ? String(end) : null }
    },
    render: (pages) => {
      const items = pages.flat().map((version) => itemOf(context, version, timezone, locked))
      return [items.length ? feed(items) : note(words.none)]
    },
  })
  return make(
    'div',
    {},
    heading(texts.sections.rules, ...(locked ? [] : actions)),
    ...(locked ? [note(words.locked)] : []),
    ...previews,
    card(words.in_force, ruleTable(context, rules)),
    card(words.versions, node),
  )
}

/**
 * Creates the table of the rules, with the fields that one of them has.
 * @param {Context} context
 * @param {Record<string, Rule>} rules
 */
function ruleTable({ texts, format }, rules) {
  const words = texts.rules
  const fields = FIELDS.filter((field) => Object.values(rules).some((rule) => rule[field] !== undefined))
  const titles = [texts.audit.kind, ...fields.map((field) => `${words.fields[field]}>`)]
  const rows = Object.entries(rules).map(([action, rule]) => [
    texts.actions[action] ?? action,
    ...fields.map((field) => (rule[field] === undefined ? '–' : format.number(rule[field]))),
  ])
  return wide(words.in_force, table(words.in_force, titles, rows))
}

/**
 * @param {Context} context
 * @param {RulesVersion} version
 * @param {string} timezone
 * @param {boolean} isLocked
 */
function itemOf(context, version, timezone, isLocked) {
  const { texts } = context
  const words = texts.rules
  const { version: number, from, state, changes, takes_back, reason, public_reason, published_at, actor } = version
  const facts = changes.map((change) => changeOf(context, change))
  if (takes_back) facts.unshift(words.takes_back(takes_back))
  const canEnd = !isLocked && (state === 'coming' || state === 'in-force')
  const more = [
    make('div', {}, facts.join(' · ')),
    ...(reason ? [make('q', {}, reason), ' '] : []),
    ...(public_reason ? [badge(words.public_reason)] : []),
    ...(actor?.key ? [` · ${texts.audit.by(actor.key)}`] : []),
    ...(published_at ? [` · ${words.published} `, time(context, published_at)] : []),
  ]
  return {
    line: [
      badge(words.states[state], KINDS[state]),
      ' ',
      make('b', {}, words.version(number)),
      ` ${words.from} `,
      deploymentTime(context, from, timezone),
    ],
    more,
    value: canEnd ? [takeBackButton(context, version)] : [],
  }
}

/**
 * Opens the form of a version, and publishes it once the moderator has confirmed its changes.
 * @param {Context} context
 * @param {Record<string, Rule>} rules
 * @param {string} timezone
 */
async function publish(context, rules, timezone) {
  const { api, texts, format, announce } = context
  const words = texts.rules
  /** @type {RulesVersion | null} */
  const answer = await openForm(context, {
    title: words.publish,
    content: [make('p', {}, words.publish_hint)],
    fields: [
      ...Object.entries(rules).flatMap(([action, rule]) => fieldsOf(context, action, rule)),
      {
        ...{ name: 'from', label: words.instant, hint: `${words.instant_hint} ${texts.rules.zone(timezone)}` },
        ...{ type: 'datetime-local', step: 'any', pointer: '/from' },
      },
      reasonField(context, ''),
      readerField(context, ['all', texts.rules.everyone]),
    ],
    submit: words.check,
    send: async ({ from, reason, reader, ...values }) => {
      const changes = changesOf(rules, values)
      if (!changes.length) throw new ApiError(0, { detail: words.no_changes })
      const instant = from && instantOf(from, timezone)
      const isConfirmed = await openForm(context, {
        title: words.confirm,
        content: [
          make('ul', { className: 'changes' }, ...changes.map((change) => make('li', {}, changeOf(context, change)))),
          make(
            'p',
            {},
            ...(instant ? [`${words.instant}: `, deploymentTime(context, instant, timezone)] : [words.soon]),
          ),
        ],
        fields: [],
        submit: words.publish,
        send: async () => true,
      })
      if (!isConfirmed) return null
      const body = {
        ...(instant && { from: instant }),
        rules: bodyOf(changes),
        reason,
        public_reason: reader === 'all',
      }
      return api.request('POST', '/v1/rules', { body })
    },
  })
  if (!answer) return
  const from = `${format.time(answer.from, timezone)} ${timezone}`
  announce(texts.answered(words.version(answer.version), words.is_published(from)))
  context.reload()
}

/**
 * Returns the button that takes a version back.
 * @param {Context} context
 * @param {RulesVersion} version
 */
function takeBackButton(context, { version, changes }) {
  const { api, texts, announce } = context
  const words = texts.rules
  const element = button(words.take_back, async () => {
    /** @type {RulesVersion | null} */
    const answer = await openForm(context, {
      title: texts.answered(words.take_back, words.version(version)),
      content: [
        make('ul', { className: 'changes' }, ...changes.map((change) => make('li', {}, changeOf(context, change)))),
        make('p', {}, words.take_back_hint),
      ],
      fields: [reasonField(context, ''), readerField(context, ['all', texts.rules.everyone])],
      submit: words.take_back,
      send: ({ reason, reader }) => {
        const query = new URLSearchParams({ reason, public_reason: String(reader === 'all') })
        return api.request('DELETE', `${path`/v1/rules/${String(version)}`}?${query}`)
      },
    })
    if (!answer) return
    announce(
      texts.answered(words.version(version), answer.state === 'removed' ? words.is_removed : words.is_taken_back),
    )
    context.reload()
  })
  element.id = `take-back-${version}`
  element.ariaLabel = texts.answered(words.take_back, words.version(version))
  return element
}
