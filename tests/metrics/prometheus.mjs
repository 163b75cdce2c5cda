// A real Prometheus reads /metrics of a running Worker, and evaluates every panel of the dashboard and the alerts. Run by
// scripts/test-metrics.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { startGateway } from '../sdk/support.mjs'
import { startWorker } from '../sdk/worker.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const DASHBOARD = JSON.parse(readFileSync(join(ROOT, 'docs/grafana/activity-rank.json'), 'utf8'))
const SERVICE_KEY = 'test-service-key'
const SCRAPER_KEY = 'test-scraper-key'

const folder = mkdtempSync(join(tmpdir(), 'activity-rank-prometheus-'))
let gateway, store, worker, prometheus

/** Waits until a function returns something. */
async function until(what, found) {
  const deadline = Date.now() + 60_000
  for (;;) {
    const result = await found()
    if (result) return result
    assert.ok(Date.now() < deadline, `timed out: ${what}`)
    await wait(50)
  }
}

/** Starts a server before the gateway. It responds 503 while `isDown`. */
async function startStore(url) {
  const state = { isDown: false }
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    if (state.isDown) return response.writeHead(503).end()
    const { authorization, 'content-type': type } = request.headers
    const answer = await fetch(url + request.url, {
      method: request.method,
      headers: { authorization, 'content-type': type },
      body: Buffer.concat(chunks),
    })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const stop = () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  }
  return Object.assign(state, { url: `http://127.0.0.1:${port}`, stop })
}

async function startPrometheus(url) {
  const key = join(folder, 'key')
  const config = join(folder, 'prometheus.yml')
  writeFileSync(key, SCRAPER_KEY)
  // JSON is YAML.
  const scrape = {
    job_name: 'activity-rank',
    scrape_interval: '1s',
    authorization: { credentials_file: key },
    static_configs: [{ targets: [new URL(url).host] }],
  }
  const rules = [join(ROOT, 'docs/grafana/alerts.yml')]
  const global = { evaluation_interval: '1s' }
  writeFileSync(config, JSON.stringify({ global, rule_files: rules, scrape_configs: [scrape] }))
  execFileSync('promtool', ['check', 'config', config], { stdio: 'pipe' })
  const flags = [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, 'data')}`]
  const child = spawn('prometheus', [...flags, '--web.listen-address=127.0.0.1:0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = new Promise((resolve) => child.on('exit', resolve))
  const stop = () => {
    child.kill()
    return exited
  }
  for await (const line of createInterface({ input: child.stderr })) {
    const [, address] = /Listening on" address=(\S+)/.exec(line) ?? []
    if (!address) continue
    child.stderr.resume()
    return { url: `http://${address}`, stop }
  }
  throw new Error('Prometheus ended')
}

/** Calls the API of Prometheus. */
async function api(path, parameters = {}) {
  const response = await fetch(`${prometheus.url}/api/v1/${path}?${new URLSearchParams(parameters)}`)
  const { status, data, error } = await response.json()
  assert.equal(status, 'success', error)
  return data
}

const call = (path, options = {}) =>
  fetch(worker.url + path, { ...options, headers: { authorization: `Bearer ${SERVICE_KEY}`, ...options.headers } })

async function write(method, path, body, status) {
  const headers = { 'content-type': 'application/json' }
  const response = await call(path, { method, headers, body: JSON.stringify(body) })
  assert.equal(response.status, status, await response.text())
}

const send = (activity, status) => write('POST', '/v1/activity', activity, status)

before(async () => {
  gateway = await startGateway()
  store = await startStore(gateway.url)
  const vars = {
    UPSTASH_REDIS_REST_URL: store.url,
    UPSTASH_REDIS_REST_TOKEN: gateway.token,
    SERVICE_KEYS: `${SERVICE_KEY},metrics:${SCRAPER_KEY}`,
    STORE_TIMEOUT_MS: 5000,
  }
  worker = await startWorker(vars, { databases: true, queues: true })
  for (const user of ['a', 'b']) await send({ user, action: 'like', target: 'p' }, 200)
  store.isDown = true
  await send({ user: 'c', action: 'like', target: 'p' }, 202)
  store.isDown = false
  await until('the queued activity', async () => {
    const metrics = await (await call('/metrics')).text()
    return metrics.includes('activity_rank_board_members{period="day"} 3\n')
  })
  assert.equal((await call('/cdn-cgi/local/scheduled?cron=*/5+*+*+*+*')).status, 200)
  await send({ user: 'd', action: 'like', target: 'p' }, 200)
  await write('PUT', '/v1/syncs/ghost', { state: 'done', differences: 0 }, 200)
  prometheus = await startPrometheus(worker.url)
})

after(async () => {
  for (const server of [prometheus, worker, store, gateway]) await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

it("Prometheus's own parser reads the metrics", async () => {
  const text = await (await call('/metrics')).text()
  const output = execFileSync(process.env.PARSER ?? 'python3', [join(ROOT, 'tests/metrics/parse.py')], { input: text })
  const families = JSON.parse(output.toString())
  assert.ok(Object.keys(families).length > 25)
  for (const [name, { type, unit, help, samples }] of Object.entries(families)) {
    assert.match(name, /^activity_rank_[a-z_]+$/)
    assert.match(type, /^(gauge|counter|info)$/)
    assert.equal(unit, /_(seconds|bytes)$/.exec(name)?.[1] ?? '', name)
    assert.match(help, /\.$/)
    assert.ok(samples.length > 0, name)
  }
  const { samples } = families.activity_rank_board_members
  assert.deepEqual(samples[0], ['activity_rank_board_members', { period: 'day' }, 4])
  assert.deepEqual(families.activity_rank_changes.samples, [['activity_rank_changes_total', {}, 4]])
})

it('Prometheus scrapes with its key', async () => {
  const target = await until('a scrape', async () => {
    const [target] = (await api('targets')).activeTargets
    return target && target.health !== 'unknown' && target
  })
  assert.deepEqual([target.health, target.lastError], ['up', ''])
  const metadata = await api('metadata', { metric: 'activity_rank_store_memory_bytes' })
  assert.equal(metadata.activity_rank_store_memory_bytes[0].type, 'gauge')
})

it('every panel of the dashboard has data', async () => {
  // `rate` needs two samples.
  const scrapes = 'count_over_time(activity_rank_changes_total[1m]) >= 2'
  await until('two scrapes', async () => (await api('query', { query: scrapes })).result.length)
  const panels = DASHBOARD.panels.filter(({ type }) => type !== 'row')
  assert.ok(panels.length > 15)
  const used = new Set()
  for (const { title, targets } of panels) {
    for (const { expr } of targets) {
      const query = expr
        .replaceAll('$job', 'activity-rank')
        .replaceAll('$instance', '.*')
        .replaceAll('$__rate_interval', '1m')
      assert.doesNotMatch(query, /\$/)
      const { result } = await api('query', { query })
      assert.ok(result.length > 0, `${title}: ${query}`)
      for (const { value } of result) assert.ok(Number.isFinite(Number(value[1])), `${title}: ${value}`)
      for (const [name] of query.matchAll(/activity_rank_\w+/g)) used.add(name)
    }
  }
  // It shows whatever the service reports.
  const names = await api('label/__name__/values')
  const known = names.filter((name) => name.startsWith('activity_rank_'))
  const hidden = ['activity_rank_schema_info', 'activity_rank_queue_delivery_timestamp_seconds']
  const shown = known.filter((name) => !hidden.includes(name))
  assert.deepEqual(
    shown.filter((name) => !used.has(name)),
    [],
  )
})

it('values of the dashboard are those of the activity', async () => {
  const value = async (query) => (await api('query', { query })).result.map(({ value }) => value[1])
  assert.deepEqual(await value('activity_rank_board_members{period="all"}'), ['4'])
  assert.deepEqual(await value('activity_rank_outbox_entries'), ['1'])
  assert.deepEqual(await value('activity_rank_day_points{action="like"}'), ['6'])
  assert.deepEqual(await value('activity_rank_cron_run_success'), ['1'])
})

it('alerts are evaluated, and an outage of the store is one', async () => {
  const rules = async () => {
    const { groups } = await api('rules')
    return groups.flatMap(({ rules }) => rules)
  }
  const evaluated = await until('the rules', async () => {
    const all = await rules()
    return all.length === 13 && all.every(({ health }) => health !== 'unknown') && all
  })
  for (const { name, health, state } of evaluated) assert.deepEqual([name, health, state], [name, 'ok', 'inactive'])
  store.isDown = true
  await until('the alert', async () => {
    const { state } = (await rules()).find(({ name }) => name === 'ActivityRankStoreDown')
    return state === 'pending'
  })
  const { result } = await api('query', { query: 'up{job="activity-rank"}' })
  assert.equal(result[0].value[1], '1')
})
