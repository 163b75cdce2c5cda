// Wraps the Worker under test to give tests access to its queue and database. POST /queue enqueues a
// message, POST /sql runs a statement. Logs the messages that this isolate acknowledges ("DONE") and
// those that arrive in the dead-letter queue ("DEAD").
import rank from './rank.js'

export { Live } from './rank.js'

let isolate

export default {
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url)
    if (pathname === '/queue') {
      await env.HELD.send(await request.text(), { contentType: 'text' })
      return new Response(null, { status: 204 })
    }
    if (pathname === '/sql') {
      const { results } = await env.JOURNAL.prepare(await request.text()).all()
      return Response.json(results)
    }
    return rank.fetch(request, env, context)
  },

  scheduled: rank.scheduled,

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
