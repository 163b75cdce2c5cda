// The Worker under test, and around it what a test needs of its queues: POST /queue puts a message on
// the one, and what ends in the dead-letter queue is logged.
import Rank from './rank.js'

export default class extends Rank {
  async fetch(request) {
    if (new URL(request.url).pathname !== '/queue') return super.fetch(request)
    await this.env.HELD.send(await request.text(), { contentType: 'text' })
    return new Response(null, { status: 204 })
  }

  async queue(batch) {
    if (batch.queue !== 'activity-rank-dead') return super.queue(batch)
    for (const { body } of batch.messages) console.log(`DEAD ${JSON.stringify(body)}`)
  }
}
