// Wraps the Worker under test to give tests access to its queue and databases. POST /queue enqueues a
// message, POST /sql and /sql/archive run a statement, GET /sent returns what the isolate has sent, and `X-Abort-After` aborts a request. Logs the messages that this
// isolate acknowledges ("DONE"), those that arrive in the dead-letter queue ("DEAD"), and what each run
// of cron sends ("CRON"). With the variable CHAT_SERVER, that server stands in for Discord and Slack.
import { forward } from './aborting_caller.js'
import rank from './rank.js'

export { Live } from './rank.js'

let isolate

// Counts what the platform counts: the methods that the Worker calls are replaced where it finds them.
const sent = {
  subrequests: 0,
  store_requests: 0,
  queries: 0,
  rows_read: 0,
  rows_written: 0,
  kv_reads: 0,
  kv_writes: 0,
}
let isCounting = false

/** Counts the calls of a method as subrequests, and adds what `add` finds in arguments and result. */
function count(object, name, add) {
  const method = object[name]
  object[name] = function (...args) {
    sent.subrequests += 1
    const result = method.apply(this, args)
    add(args, result)
    return result
  }
}

function addBatch([statements], batch) {
  sent.queries += statements.length
  const addRows = (results) => {
    for (const { meta } of results) {
      sent.rows_read += meta.rows_read
      sent.rows_written += meta.rows_written
    }
  }
  batch.then(addRows, () => {})
}

function countAll({ ARCHIVE, JOURNAL, SNAPSHOTS, CHAT_SERVER }) {
  if (isCounting) return
  isCounting = true
  if (CHAT_SERVER) {
    const { fetch } = globalThis
    globalThis.fetch = (url, init) => fetch(url.replace(/^https:..(discord|hooks.slack).com/, CHAT_SERVER), init)
  }
  count(globalThis, 'fetch', () => {
    sent.store_requests += 1
  })
  const database = ARCHIVE ?? JOURNAL
  if (database) count(Object.getPrototypeOf(database), 'batch', addBatch)
  if (!SNAPSHOTS) return
  const namespace = Object.getPrototypeOf(SNAPSHOTS)
  count(namespace, 'get', () => {
    sent.kv_reads += 1
  })
  count(namespace, 'put', () => {
    sent.kv_writes += 1
  })
}

export default {
  async fetch(request, env, context) {
    // Before the Worker takes the methods of a namespace.
    countAll(env)
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/queue') {
      await env.HELD.send(await request.text(), { contentType: 'text' })
      return new Response(null, { status: 204 })
    }
    if (pathname === '/sql' || pathname === '/sql/archive') {
      const database = pathname === '/sql' ? (env.JOURNAL ?? env.ARCHIVE) : env.ARCHIVE
      const { results } = await database.prepare(await request.text()).all()
      return Response.json(results)
    }
    if (pathname === '/sent') return Response.json(sent)
    // Miniflare has its own requests for both.
    if (pathname === '/cdn-cgi/local/scheduled') {
      await this.scheduled({ cron: searchParams.get('cron'), scheduledTime: searchParams.get('time') }, env, context)
      return new Response('ok')
    }
    if (pathname === '/cdn-cgi/handler/queue') {
      const message = (body, index) => ({ id: `${index}`, body, timestamp: new Date(), attempts: 1, ack() {}, retry() {} })
      await rank.queue({ messages: (await request.json()).map(message) }, env, context)
      return new Response('ok')
    }
    // The Worker's binding to itself: the aborted request has a context of its own.
    if (request.headers.has('x-abort-after')) return forward(request, env.SELF)
    return rank.fetch(request, env, context)
  },

  async scheduled(event, env, context) {
    countAll(env)
    const before = { ...sent }
    await rank.scheduled(event, env, context)
    const cost = Object.entries(sent).map(([name, number]) => [name, number - before[name]])
    console.log(`CRON ${event.scheduledTime} ${JSON.stringify(Object.fromEntries(cost))}`)
  },

  async queue({ queue, messages }, env, context) {
    if (queue === 'activity-rank-dead') {
      for (const { body } of messages) console.log(`DEAD ${JSON.stringify(body)}`)
      return
    }
    const acknowledged = []
    const observed = (message) => ({
      id: message.id,
      timestamp: message.timestamp,
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
