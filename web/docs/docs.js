// The API reference: Scalar renders the OpenAPI document of this deployment. Nothing is loaded from elsewhere.

import { $ } from '/page/dom.js'
import { startTheme } from '/page/theme.js'
import { startLanguage } from '/page/words.js'
import { createApiReference } from '/vendor/scalar/standalone.esm.js'
import { keepAccessible } from './accessible.js'
import { texts } from './texts.js'

// Leaves curl, fetch, Python, Go and PHP.
const HIDDEN_SAMPLES =
  'c clojure csharp dart fsharp http java julia kotlin node objc ocaml powershell r ruby rust swift ' +
  'shell/httpie shell/wget js/axios js/jquery js/ofetch js/xhr php/laravel ' +
  'python/aiohttp python/httpx_sync python/httpx_async'

const DAY = 864e5 // ms

/** Keys and tokens stay in memory: the page forgets them when it is closed. */
const SETTINGS = {
  persistAuth: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  withDefaultFonts: false,
  theme: 'none',
  hideDarkModeToggle: true,
  documentDownloadType: 'none',
  hiddenClients: HIDDEN_SAMPLES.split(' '),
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  authentication: { preferredSecurityScheme: 'serviceKey' },
  /** @param {{ operationId?: string, method: string, path: string }} operation */
  generateOperationSlug: ({ operationId, method, path }) => operationId ?? method + path,
}

/** @type {object} the OpenAPI document */
let api
/** @type {import('./scalar.d.ts').Reference} */
let reference

async function loadDocument() {
  const response = await fetch('/openapi.json')
  if (!response.ok) throw new Error(`status ${response.status}`)
  const document = await response.json()
  // An event cannot begin in the past without a recount: the example begins tomorrow.
  const { example } = document.paths['/v1/events/{event}'].put.requestBody.content['application/json']
  for (const [name, days] of Object.entries({ from: 1, to: 3 })) {
    example[name] = `${new Date(Date.now() + days * DAY).toISOString().slice(0, 10)}T00:00:00Z`
  }
  return document
}

/** Returns the settings in the page's language and theme. */
function settings() {
  const { locale, more, schemas, title } = texts()
  document.title = title
  return {
    ...SETTINGS,
    content: api,
    forceDarkModeState: theme(),
    localization: {
      locale,
      direction: document.documentElement.dir,
      // Begins with the text of the button, as speech input requires.
      translations: { actions: { showMore: more }, navigation: { showAllEndpoints: `${more}: {name}` } },
    },
    modelsSectionLabel: schemas,
    /** @param {{ title?: string }} section */
    setPageTitle: ({ title: section }) => (section ? `${section} · ${title}` : title),
  }
}

const theme = () => ($('theme').ariaPressed === 'true' ? 'dark' : 'light')

/** Scalar takes the theme from a class of the body, and does not follow a change of its setting. */
function applyTheme() {
  for (const name of ['dark', 'light']) document.body.classList.toggle(`${name}-mode`, name === theme())
}

async function start() {
  const loading = loadDocument()
  // A failure is reported below, once the texts are there.
  loading.catch(() => {})
  startTheme($('theme'))
  new MutationObserver(applyTheme).observe($('theme'), { attributes: true, attributeFilter: ['aria-pressed'] })
  applyTheme()
  const language = /** @type {HTMLSelectElement} */ ($('language'))
  await startLanguage(language, () => reference?.updateConfiguration(settings()), 'docs')
  document.documentElement.dataset.ready = ''
  try {
    api = await loading
    reference = createApiReference('#reference', settings())
    keepAccessible()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    $('failure').textContent = texts().failed(reason)
    $('failure').hidden = false
  }
}

await start()
