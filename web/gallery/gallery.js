// The gallery: every layout and state of the elements, without a store. The fragment has theme and language: #dark/zh-Hans.

import { ActivityCard } from '/elements/activity-card.js'
import { ActivityClimb } from '/elements/activity-climb.js'
import { ActivityHeatmap } from '/elements/activity-heatmap.js'
import { ActivityLike } from '/elements/activity-like.js'
import { ActivityRank } from '/elements/activity-rank.js'
import { LANGUAGES } from '/languages/index.js'
import { respond } from './fixtures.js'
import { STATES } from './states.js'

/** Responds as the deployment of a state. */
const fetch = async (/** @type {string} */ url) => {
  const { pathname, searchParams } = new URL(url)
  const [, state, , ...path] = pathname.split('/').map(decodeURIComponent)
  const body = respond(state, path, searchParams.has('date'))
  if (body) return Response.json(body)
  const problem = { type: '/problems/store-unavailable', title: 'The store is unavailable', status: 503 }
  return Response.json(problem, { status: 503, headers: { 'retry-after': '3600' } })
}
for (const element of [ActivityRank, ActivityHeatmap, ActivityCard, ActivityClimb, ActivityLike]) element.fetch = fetch

/** @param {import('./states.js').State} state */
function figureOf({ name, width, element: tag = 'activity-rank', attributes = {}, fallback = '' }) {
  const element = document.createElement(tag)
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value)
  element.setAttribute('src', `https://gallery.invalid/${name}`)
  element.setAttribute('refresh', '0')
  element.append(fallback)
  const caption = document.createElement('figcaption')
  const given = Object.entries(attributes).map(([attribute, value]) => `${attribute}="${value}"`)
  caption.textContent = `${name}: <${[tag, ...given].join(' ')}>, ${width} px`
  const figure = document.createElement('figure')
  figure.id = name
  figure.dataset.width = String(width)
  figure.append(caption, element)
  return figure
}

const [theme, language] = ['theme', 'language'].map(
  (id) => /** @type {HTMLSelectElement} */ (document.getElementById(id)),
)
for (const tag of LANGUAGES) {
  const name = new Intl.DisplayNames(tag, { type: 'language' }).of(tag)
  language.append(new Option(name, tag))
}

function apply() {
  const [scheme, tag] = location.hash.slice(1).split('/')
  theme.value = ['light', 'dark'].includes(scheme) ? scheme : ''
  language.value = LANGUAGES.includes(tag) ? tag : 'en'
  document.documentElement.dataset.theme = theme.value
  for (const element of document.querySelectorAll('main [src]')) {
    element.setAttribute('lang', language.value)
    if (theme.value) element.setAttribute('theme', theme.value)
    else element.removeAttribute('theme')
  }
}

document.querySelector('main')?.replaceChildren(...STATES.map(figureOf))
apply()
addEventListener('hashchange', apply)
for (const select of [theme, language]) {
  select.addEventListener('change', () => {
    location.hash = `${theme.value}/${language.value}`
  })
}
