// Deliveries to webhooks, newest first, and their retry.

/** @import { Content } from './parts.js' */
/** @import { Context, Delivery } from './types.js' */

import { make } from '../page/dom.js'
import { ApiError, path } from './api.js'
import { badge, button, code, feed, heading, note, paged, problem, time } from './parts.js'

const STATES = /** @type {const} */ (['pending', 'delivered', 'failed', 'dropped'])
const KINDS = /** @type {const} */ ({ pending: 'warn', delivered: 'good', failed: 'bad', dropped: '' })

/**
 * @param {Context} context
 * @param {string} argument a state
 * @returns {Promise<HTMLElement>}
 */
export async function webhooksView(context, argument) {
  const { api, texts, signal } = context
  const state = STATES.find((state) => state === argument)
  const links = [undefined, ...STATES].map((value) => {
    const label = value ? texts.webhooks.states[value] : texts.webhooks.all
    const link = make('a', { href: value ? `#webhooks/${value}` : '#webhooks', id: `state-${value ?? 'all'}` }, label)
    if (value === state) link.setAttribute('aria-current', 'true')
    return link
  })
  const filter = make('nav', { className: 'segments', ariaLabel: texts.state }, ...links)
  /** @type {Content} */
  let list
  try {
    await api.get('/v1/webhooks/deliveries?limit=1', signal)
    const { node } = await paged(context, {
      load: async (next) => {
        const query = `limit=30${state ? `&state=${state}` : ''}${next ? `&before=${next}` : ''}`
        /** @type {{ deliveries: Delivery[], next: string | null }} */
        const page = await api.get(`/v1/webhooks/deliveries?${query}`, signal)
        return { page: page.deliveries, next: page.next }
      },
      render: (pages) => {
        const deliveries = pages.flat()
        return [
          deliveries.length ? feed(deliveries.map((delivery) => item(context, delivery))) : note(texts.webhooks.none),
        ]
      },
    })
    list = node
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    list = error.status === 404 ? note(texts.webhooks.not_configured) : problem(context, error)
  }
  return make('div', {}, heading(texts.sections.webhooks, filter), make('section', { className: 'card' }, list))
}

/**
 * @param {Context} context
 * @param {Delivery} delivery
 */
function item(context, { id, type, endpoint, state, attempts, status, error, at, due }) {
  const { api, texts, format, announce } = context
  const facts = [texts.webhooks.attempts(attempts)]
  if (status) facts.push(texts.webhooks.status(status))
  if (error) facts.push(texts.webhooks.errors[/** @type {'timeout'} */ (error)])
  const retry = button(texts.retry, async () => {
    retry.disabled = true
    try {
      /** @type {Delivery} */
      const delivery = await api.request('POST', path`/v1/webhooks/deliveries/${id}/retry`)
      announce(texts.answered(type, texts.webhooks.states[delivery.state]))
      context.reload()
    } catch (error) {
      retry.disabled = false
      retry.after(problem(context, error))
    }
  })
  retry.id = `retry-${id}`
  retry.ariaLabel = `${texts.retry}: ${type}, ${endpoint}, ${format.time(at)}`
  return {
    line: [badge(texts.webhooks.states[state], KINDS[state]), ' ', make('b', {}, type), ' ', code(endpoint)],
    more: [
      time(context, at),
      ...facts.map((fact) => ` · ${fact}`),
      ...(due ? [` · ${texts.webhooks.due} `, time(context, due)] : []),
    ],
    // The service sends a pending one again by itself. The others have arrived, or had nothing to send.
    value: state === 'failed' ? [retry] : [],
  }
}
