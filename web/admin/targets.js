// A target: state, standings, hide, show and delete.

/** @import { Content } from './parts.js' */
/** @import { Context, Standing, Target } from './types.js' */

import { make } from '../page/dom.js'
import { ApiError, path } from './api.js'
import { historyOf } from './history.js'
import { flagBadges, flagButtons, removeButton, targetPath } from './moderate.js'
import { attempt, card, code, columns, facts, heading, memberUrl, outward, table } from './parts.js'

/** @param {Context} context */
const contentPeriods = async ({ api, signal }) => (await api.health(signal)).configured?.content_periods ?? []

/**
 * @param {Context} context
 * @param {string} id
 * @returns {Promise<HTMLElement>}
 */
export async function targetView(context, id) {
  const { api, texts, signal } = context
  const url = targetPath(id)
  /** @type {[{ target: Target, hidden: boolean }, Target | null, Content, Content]} */
  const [state, registered, standings, history] = await Promise.all([
    api.get(`${url}/moderation`, signal),
    api.get(url, signal).catch(orNull),
    attempt(context, () => standingsOf(context, id)),
    attempt(context, () => historyOf(context, ({ target }) => target?.id === id)),
  ])
  const { title: name } = state.target
  const flags = flagButtons(context, {
    url: `${url}/moderation`,
    id,
    name,
    state: { hidden: state.hidden },
    flags: ['hidden'],
  })
  const remove = removeButton(context, {
    url,
    id,
    name,
    label: texts.delete_target.title,
    effect: texts.delete_target.effect,
    done: texts.delete_target.done,
    back: '#targets',
  })
  const badges = flagBadges(context, { hidden: state.hidden })
  /** @type {[string, ...Content[]][]} */
  const rows = [
    [texts.id, code(id)],
    [texts.state, ...(registered || state.hidden ? badges : [texts.targets.unregistered])],
  ]
  if (registered?.author)
    rows.push([texts.author, make('a', { href: memberUrl(registered.author) }, registered.author)])
  const link = outward(state.target.url)
  if (link) rows.push([texts.website, link])
  return make(
    'div',
    { className: 'detail' },
    make('a', { className: 'back', href: '#targets' }, texts.sections.targets),
    heading(name ?? id, ...flags, remove),
    facts(rows),
    columns(card(texts.targets.standings, standings), card(texts.member_page.audit, history)),
  )
}

/**
 * Returns null for a target that is not registered, or hidden.
 * @param {unknown} error
 */
function orNull(error) {
  if (error instanceof ApiError && error.status === 404) return null
  throw error
}

/**
 * @param {Context} context
 * @param {string} id
 */
async function standingsOf(context, id) {
  const { api, texts, format, signal } = context
  const periods = await contentPeriods(context)
  /** @type {Standing[]} */
  const standings = await Promise.all(
    periods.map((period) => api.get(`/v1/content/${period}${path`/targets/${id}`}`, signal)),
  )
  return table(
    texts.targets.standings,
    [texts.board, `${texts.rank}>`, `${texts.points}>`, `${texts.targets.of}>`],
    standings.map(({ rank, score, total }, index) => [
      texts.periods[/** @type {'day'} */ (periods[index])],
      rank === null ? '–' : format.number(rank),
      score === null ? '–' : format.number(score),
      format.number(total),
    ]),
  )
}
