// The Worker under test, and around it what a test needs of its queues and databases: POST /queue puts a
// message on the one, POST /sql runs a statement, and logged are what this isolate has done with of the
// queue, and what ends in the dead-letter queue.
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
    const done = []
    const watched = (message) => ({
      id: message.id,
      attempts: message.attempts,
      body: message.body,
      ack() {
        message.ack()
        done.push(message.body)
      },
      retry: (options) => message.retry(options),
    })
    await rank.queue({ messages: messages.map(watched) }, env, context)
    // Random numbers are for handlers alone.
    isolate ??= crypto.randomUUID()
    console.log(`DONE ${JSON.stringify([isolate, ...done])}`)
  },
}
