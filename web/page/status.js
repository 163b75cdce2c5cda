// The state of the service, for its readers. Operators read /admin and /healthz.

import { $ } from './dom.js'
import { read } from './session.js'
import { startPage, titleOf } from './site.js'
import { time, words } from './words.js'

const INTERVAL = 30e3 // ms

/** @type {import('./session.js').Answer | null} */
let answer = null
let at = ''

function render() {
  const { status, states_of_service, updated } = words()
  document.title = titleOf(status)
  if (!answer) return
  const state = /** @type {keyof typeof states_of_service} */ (answer.body?.status ?? 'unreachable')
  const text = states_of_service[state] ?? states_of_service.unreachable
  if ($('state').textContent !== text) $('state').textContent = text
  $('state').className = `state ${state === 'ok' ? 'good' : 'bad'}`
  $('detail').textContent = updated(time(at))
}

async function load() {
  answer = await read('/healthz')
  at = new Date().toISOString()
  render()
}

await startPage({ render, showMember: () => {} })
await load()
setInterval(() => document.hidden || load(), INTERVAL)
