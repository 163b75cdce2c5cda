// The audit log, newest first. Filters apply to the entries that are loaded: the API has none.

/** @import { Content } from './parts.js' */
/** @import { Audit, AuditEntry, Context } from './types.js' */

import { make } from '../page/dom.js'
import { auditItem, feed, heading, note, paged } from './parts.js'
import { matches } from './search.js'

/**
 * @param {Context} context
 * @returns {Promise<HTMLElement>}
 */
export async function auditView(context) {
  const { api, texts, format, signal, announce } = context
  const kinds = Object.entries(texts.audit.actions)
  const kind = make(
    'select',
    { id: 'kind', autocomplete: 'off' },
    make('option', { value: '' }, texts.audit.all),
    ...kinds.map(([value, label]) => make('option', { value }, label)),
  )
  const about = make('input', { id: 'about', type: 'search', autocomplete: 'off', spellcheck: false })
  const text = make('input', { id: 'text', type: 'search', autocomplete: 'off', spellcheck: false })
  /** @param {AuditEntry} entry */
  const isShown = ({ action, user, target, reason, adjustment, achievement }) =>
    (!kind.value || action === kind.value) &&
    (!about.value || matches(about.value.trim(), user?.id, user?.name, target?.id, target?.title)) &&
    (!text.value || matches(text.value.trim(), reason, adjustment?.id, adjustment?.event, achievement?.id))
  let shown = 0
  const { node, show } = await paged(context, {
    load: async (next) => {
      /** @type {Audit} */
      const { entries, next: following } = await api.get(
        `/v1/moderation?limit=50${next ? `&before=${next}` : ''}`,
        signal,
      )
      return { page: entries, next: following }
    },
    render: (pages) => {
      const loaded = pages.flat()
      const entries = loaded.filter(isShown)
      shown = entries.length
      /** @type {Content} */
      const list = entries.length ? feed(entries.map((entry) => auditItem(context, entry))) : note(texts.audit.none)
      return [note(texts.audit.count(format.number(entries.length), format.number(loaded.length))), list]
    },
  })
  const filters = make(
    'form',
    { className: 'filters', autocomplete: 'off' },
    field(texts.audit.kind, kind),
    field(texts.audit.about, about),
    field(texts.audit.text, text),
  )
  filters.addEventListener('submit', (event) => event.preventDefault())
  filters.addEventListener('input', () => {
    show()
    announce(texts.results(format.number(shown)))
  })
  return make('div', {}, heading(texts.sections.audit), filters, make('section', { className: 'card' }, node))
}

/**
 * @param {string} label
 * @param {HTMLElement} input
 */
const field = (label, input) => make('div', {}, make('label', { htmlFor: input.id }, label), input)
