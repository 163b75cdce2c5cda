// Page views: the loaded page, then each path that a single-page application navigates to, in its normal form.

/** @type {Set<(isReload: boolean) => void>} */
const observers = new Set()
let isObserving = false

/**
 * Calls a listener with the path of this page and of each later one, until the returned function is called.
 * @param {(path: string) => void} listener
 */
export function onVisit(listener) {
  observeHistory()
  /** @type {string | undefined} */
  let last
  const check = (isReload = false) => {
    // A prerendered page is not a visit until it is shown.
    // @ts-expect-error: not in TypeScript's DOM types yet.
    if (document.prerendering) return
    const path = normalPath(location.pathname)
    if (path === last && !isReload) return
    last = path
    listener(path)
  }
  observers.add(check)
  check()
  return () => observers.delete(check)
}

// `popstate` fires for back and forward only, so pushState and replaceState are wrapped.
function observeHistory() {
  if (isObserving) return
  isObserving = true
  const checkAll = (isReload = false) => {
    for (const check of observers) check(isReload)
  }
  addEventListener('popstate', () => checkAll())
  document.addEventListener('prerenderingchange', () => checkAll())
  // A page restored from the back/forward cache counts like a loaded one.
  addEventListener('pageshow', ({ persisted }) => persisted && checkAll(true))
  for (const name of /** @type {const} */ (['pushState', 'replaceState'])) {
    const original = history[name]
    history[name] = function (...args) {
      original.apply(this, args)
      checkAll()
    }
  }
}

/**
 * Returns the normal form of a path, which the service counts, so that all links to a page have one target. A text that
 * is not a path is returned as it is.
 * @param {string} path
 */
export function normalPath(path) {
  const text = path.trim()
  if (!/^[/\\]/.test(text)) return path
  // The prefix keeps `//a` from becoming a host.
  const { pathname } = new URL(`http://x${text}`)
  return (
    pathname
      .replace(/%(?![\da-f]{2})/gi, '%25')
      .replace(/%[\da-f]{2}(%[89ab][\da-f]){0,3}/gi, decode)
      // A combining mark must not join the last digit of an escape.
      .split(/(%..)/)
      .map((part) => (part[0] === '%' ? part : encode(part.normalize())))
      .join('')
      .replace(/\/+/g, '/')
      .replace(/(.)\/$/, '$1')
  )
}

/**
 * Decodes the character at the start of some escapes, unless it would change the path's meaning.
 * @param {string} escapes
 */
function decode(escapes) {
  const kept = escapes.toUpperCase()
  for (let end = 3; end <= kept.length; end += 3) {
    try {
      const character = decodeURIComponent(kept.slice(0, end))
      return /[/?#%\\\p{Cc}]/u.test(character) ? kept : character + kept.slice(end)
    } catch {
      // Not valid UTF-8, or not all of it yet.
    }
  }
  return kept
}

/** @param {string} text */
const encode = (text) => text.replace(/[^!-~]|["<>^`{}]/gu, encodeURIComponent)
