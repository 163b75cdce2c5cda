// Page views: the loaded page, then each path that a single-page application navigates to.

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
    if (document.prerendering || (location.pathname === last && !isReload)) return
    last = location.pathname
    listener(last)
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
