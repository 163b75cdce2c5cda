// The entries of the audit log that are about one member or target. The API lists the whole log, so pages are searched.

/** @import { Content } from './parts.js' */
/** @import { Audit, AuditEntry, Context } from './types.js' */

import { auditItem, feed, note, paged } from './parts.js'

const PAGE = 100
const PAGES = 3 // searched at a time

/**
 * @param {Context} context
 * @param {(entry: AuditEntry) => boolean} isAbout
 * @param {(entry: AuditEntry, entries: AuditEntry[]) => Content[]} [actions] of an entry
 */
export async function historyOf(context, isAbout, actions = () => []) {
  const { api, signal, texts } = context
  const { node } = await paged(context, {
    label: texts.search_older,
    load: async (next) => {
      /** @type {AuditEntry[]} */
      const page = []
      for (let searched = 0; searched < PAGES && (next || !searched); searched++) {
        /** @type {Audit} */
        const audit = await api.get(`/v1/moderation?limit=${PAGE}${next ? `&before=${next}` : ''}`, signal)
        page.push(...audit.entries.filter(isAbout))
        next = audit.next
      }
      return { page, next }
    },
    render: (pages, isComplete) => {
      const entries = pages.flat()
      if (!entries.length) return [note(isComplete ? texts.audit.none : texts.audit.none_yet)]
      return [
        feed(entries.map((entry) => auditItem(context, entry, { actions: actions(entry, entries), isOwn: true }))),
      ]
    },
  })
  return node
}
