// The receivers of recipes/ in Miniflare, with a deployment and its store, and deliveries signed as their sources do.

import { createHmac, randomUUID } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { experimental_readRawConfig } from 'wrangler'
import { eventually } from '../sdk/eventually.mjs'
import { startBundled } from '../sdk/worker.mjs'
import { KEY, startProxy, startApp as startRank } from '../server-sdk/support.mjs'

export { KEY } from '../server-sdk/support.mjs'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The secret of every receiver; in the form that Standard Webhooks demand. */
export const SECRET = `whsec_${Buffer.from('a secret of a webhook, for tests').toString('base64')}`

const hmac = (text, key = /** @type {string | Buffer} */ (SECRET)) => createHmac('sha256', key).update(text)

/** Signs a body as each source does. Returns the headers of the delivery. */
export const SIGN = /** @type {Record<string, (body: string, event?: string, now?: number) => any>} */ ({
  github: (body, event) => ({
    'x-github-event': event.split('.')[0],
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': `sha256=${hmac(body).digest('hex')}`,
  }),
  discourse: (body, event) => ({
    'x-discourse-instance': 'https://forum.example.com',
    'x-discourse-event-id': '1',
    'x-discourse-event-type': event.split('_')[0],
    ...(event !== 'ping' && { 'x-discourse-event': event }),
    'x-discourse-event-signature': `sha256=${hmac(body).digest('hex')}`,
  }),
  ghost: (body, _, now = Date.now()) => ({
    'content-version': 'v6.0',
    'x-ghost-signature': `sha256=${hmac(body + now).digest('hex')}, t=${now}`,
  }),
  generic(body, _, now = Date.now()) {
    const [id, timestamp] = [`msg_${randomUUID()}`, Math.floor(now / 1000)]
    const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
    const signature = hmac(`${id}.${timestamp}.${body}`, key).digest('base64')
    return { 'webhook-id': id, 'webhook-timestamp': `${timestamp}`, 'webhook-signature': `v1,${signature}` }
  },
})

SIGN.giscus = SIGN.github

const SECRETS = {
  github: 'GITHUB_SECRET',
  giscus: 'GITHUB_SECRET',
  discourse: 'DISCOURSE_SECRET',
  ghost: 'GHOST_SECRET',
  generic: 'WEBHOOK_SECRET',
}

/** The outcomes of an event that is delivered three times. */
export const ONCE = ['counted', 'duplicate', 'duplicate']
/** The outcomes of its undo that is delivered three times. */
export const UNDONE_ONCE = ['undone', 'nothing-to-undo', 'nothing-to-undo']

/**
 * Starts a deployment with boards of content, the receiver of a source, and a proxy between them. `options` are passed to
 * `startApp`.
 * @param {string} source
 * @param {{ vars?: object, databases?: boolean, mapping?: object }} [options] `mapping` has fields in the place of those
 *   of the mapping file
 */
export async function startReceiver(source, { vars = {}, mapping, ...options } = {}) {
  const cleanups = []
  const stop = async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  }
  try {
    const rank = await startRank({ vars: { CONTENT_PERIODS: 'all', ...vars }, ...options })
    cleanups.push(() => rank.stop())
    const app = { rank, source, stop, fault: (..._) => undefined }
    app.proxy = await startProxy(rank, (...request) => app.fault(...request))
    cleanups.push(() => app.proxy.stop())
    const receiver = await startBundled(
      receiverConfig(
        source,
        { ACTIVITY_RANK_URL: app.proxy.url, ACTIVITY_RANK_KEY: KEY, [SECRETS[source]]: SECRET },
        mapping && mappedFolder(source, mapping, cleanups),
      ),
    )
    cleanups.push(() => receiver.stop())
    return Object.assign(app, { url: receiver.url })
  } catch (error) {
    await stop()
    throw error
  }
}

/** Returns the configuration of a receiver, without its service binding. */
export function receiverConfig(source, vars, folder = join(ROOT, 'recipes', source)) {
  const { rawConfig } = experimental_readRawConfig({ config: join(folder, 'wrangler.toml') })
  const { services, ...config } = rawConfig
  return { ...config, main: join(folder, config.main), vars: { ...config.vars, ...vars } }
}

/** Returns a copy of a receiver's folder with these fields in its mapping. */
function mappedFolder(source, fields, cleanups) {
  const folder = mkdtempSync(join(tmpdir(), 'receiver-'))
  cleanups.push(() => rmSync(folder, { recursive: true }))
  cpSync(join(ROOT, 'recipes', source), folder, { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const file = join(folder, 'mapping.json')
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...fields }))
  return folder
}

/** Returns a payload of a source, with these values in the place of those at the paths. */
export function payload(source, event, values = {}) {
  const body = JSON.parse(readFileSync(new URL(`payloads/${source}/${event}.json`, import.meta.url), 'utf8'))
  for (const [path, value] of Object.entries(values)) {
    const names = path.split('.')
    const last = names.pop()
    names.reduce((object, name) => object[name], body)[last] = value
  }
  return body
}

/** Delivers a payload with the signature of its source. Returns the status, headers and body of the response. */
export async function deliver(app, event, body, options = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const { headers = SIGN[app.source](text, event), type = 'application/json' } = options
  const response = await fetch(app.url, { method: 'POST', headers: { 'content-type': type, ...headers }, body: text })
  const content = await response.text()
  return { status: response.status, headers: response.headers, body: content && JSON.parse(content) }
}

/** Delivers a payload, and returns the outcomes of its activities, or the status if nothing was counted. */
export async function outcomes(app, event, body) {
  const response = await deliver(app, event, body)
  return response.status === 200 ? response.body.results.map(({ outcome }) => outcome).join() : response.status
}

/** Delivers a payload three times, and returns the outcomes. */
export async function thrice(app, event, body) {
  const found = []
  for (let time = 0; time < 3; time++) found.push(await outcomes(app, event, body))
  return found
}

/** Reads from the deployment with the service key. Returns the body, or the status of an error. */
export async function read(app, path) {
  const response = await fetch(app.rank.url + path, { headers: { authorization: `Bearer ${KEY}` } })
  return response.ok ? response.json() : response.status
}

/** Asserts the score of a target or an author, who receive after the response. */
export async function assertScore(app, path, expected) {
  await eventually(async () => (await read(app, path)).score, expected)
}

/** Returns what gave a user points, without what has been undone. */
export async function points(app, user) {
  const { entries } = await read(app, `/v1/users/${user}/points`)
  return entries
    .filter(({ undone }) => !undone)
    .map(({ at, action, target, points }) => ({ at, action, target: target.id, points }))
}
