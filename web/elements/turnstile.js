// The Turnstile widget of <activity-like>, which imports this file for the first token. Files of other versions do, too:
// the export stays compatible.

const SCRIPT = 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit'
const WIDTH = 300 // pixels of the widget

const page = /** @type {any} */ (globalThis)
let loading

/** Loads the script of Turnstile, once, unless the page has loaded it. */
function load() {
  // `turnstile` may also be an element with this id.
  if (page.turnstile?.render) return
  loading ??= new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement('script'), { src: SCRIPT, onload: resolve })
    script.onerror = () => {
      script.remove()
      loading = undefined
      reject(new Error('Turnstile was not loaded.'))
    }
    document.head.append(script)
  })
  return loading
}

/**
 * Returns a new token of the widget whose site key is the attribute `turnstile`. If the reader has to do something, the widget is
 * shown below the button. It is in the light DOM, because Turnstile supports no shadow DOM. Rejects if it fails.
 */
export default async function turnstileToken(element) {
  await load()
  const { turnstile } = page
  const slot = Object.assign(document.createElement('slot'), { name: 'turnstile' })
  const widget = Object.assign(document.createElement('div'), { slot: slot.name })
  const room = document.documentElement.clientWidth - element.getBoundingClientRect().left
  widget.style.cssText = `position: absolute; top: 100%; left: ${Math.min(0, room - WIDTH)}px; z-index: 1`
  element.shadowRoot.querySelector('div').append(slot)
  element.append(widget)
  let id
  let timer
  try {
    return await new Promise((resolve, reject) => {
      const fail = (cause) => {
        reject(new Error(`Turnstile failed: ${cause}`))
        return true
      }
      // A page that removes the element stops the widget, and all buttons wait for this token.
      timer = setInterval(() => widget.isConnected || fail('removed'), 500)
      id = turnstile.render(widget, {
        sitekey: element.turnstile,
        appearance: 'interaction-only',
        theme: element.theme === 'light' || element.theme === 'dark' ? element.theme : 'auto',
        'response-field': false,
        callback: resolve,
        'error-callback': fail,
        'timeout-callback': () => fail('timeout'),
        'unsupported-callback': () => fail('unsupported browser'),
      })
    })
  } finally {
    clearInterval(timer)
    if (id) turnstile.remove(id)
    widget.remove()
    slot.remove()
  }
}
