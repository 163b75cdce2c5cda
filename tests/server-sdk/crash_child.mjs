// A server that sends activity: crash_child.mjs <path of the outbox> <deployment> <key>. Tracks each activity that its parent
// sends, and returns its target once the call has resolved. `close` closes the client and ends the process.

import { FileOutbox } from '../../sdk/js/src/file-outbox.js'
import { Client } from '../../sdk/js/src/index.js'

const [path, url, key] = process.argv.slice(2)
const outbox = await FileOutbox.open(path, { compactAbove: 20_000 })
const retry = { baseDelay: 1, maxDelay: 5 }
const client = new Client({ url, key, outbox, batchSize: 50, batchDelay: 5, retry, onError: () => {} })

process.on('message', async (message) => {
  if (message === 'close') {
    const isSent = await client.close()
    process.send?.({ isSent }, () => process.disconnect())
    return
  }
  await client.track(/** @type {any} */ (message))
  process.send?.({ accepted: /** @type {any} */ (message).target })
})
process.send?.('ready')
