// Wraps the Worker under test to give tests access to its queue and database. POST /queue enqueues a
// message, POST /sql runs a statement, and `X-Abort-After` aborts a request. Logs the messages that this
// isolate acknowledges ("DONE"), those that arrive in the dead-letter queue ("DEAD"), and what each run
// of cron sends ("CRON").
import { forward } from './aborting_caller.js'
import rank from './rank.js'

export { Live } from './rank.js'

let isolate

// Counts what the platform counts: the methods that the Worker calls are replaced where it finds them.
const sent = { subrequests: 0, queries: 0 }
let isCounting = false

function count(object, name, queries) {
  const method = object[name]
  object[name] = function (...args) {
    sent.subrequests += 1
    sent.queries += queries(args)
    return method.apply(this, args)
  }
}

function countAll({ ARCHIVE, JOURNAL, SNAPSHOTS }) {
  if (isCounting) return
  isCounting = true
  count(globalThis, 'fetch', () => 0)
  const database = ARCHIVE ?? JOURNAL
  if (database) count(Object.getPrototypeOf(database), 'batch', ([statements]) => statements.length)
  if (SNAPSHOTS) for (const name of ['get', 'put']) count(Object.getPrototypeOf(SNAPSHOTS), name, () => 0)
}

export default {
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url)
    if (pathname === '/queue') {
      await env.HELD.send(await request.text(), { contentType: 'text' })
      return new Response(null, { status: 204 })
    }
    if (pathname === '/sql') {
      const database = env.JOURNAL ?? env.ARCHIVE
      const { results } = await database.prepare(await request.text()).all()
      return Response.json(results)
    }
    // The Worker's binding to itself: the aborted request has a context of its own.
    if (request.headers.has('x-abort-after')) return forward(request, env.SELF)
    return rank.fetch(request, env, context)
  },

  async scheduled(event, env, context) {
    countAll(env)
    const before = { ...sent }
    await rank.scheduled(event, env, context)
    const cost = { subrequests: sent.subrequests - before.subrequests, queries: sent.queries - before.queries }
    console.log(`CRON ${JSON.stringify(cost)}`)
  },

  async queue({ queue, messages }, env, context) {
    if (queue === 'activity-rank-dead') {
      for (const { body } of messages) console.log(`DEAD ${JSON.stringify(body)}`)
      return
    }
    const acknowledged = []
    const observed = (message) => ({
      id: message.id,
      attempts: message.attempts,
      body: message.body,
      ack() {
        message.ack()
        acknowledged.push(message.body)
      },
      retry: (options) => message.retry(options),
    })
    await rank.queue({ messages: messages.map(observed) }, env, context)
    // Workers may generate random values only inside a handler.
    isolate ??= crypto.randomUUID()
    console.log(`DONE ${JSON.stringify([isolate, ...acknowledged])}`)
  },
}
