// Which page is shown: the one that was loaded, then those that a page of one document goes to by
// the history.

const looking = new Set() // functions
let isWatched = false

/** Tells the path of this page and of each that comes, until the function returned is called. */
export function onVisit(listener) {
  watch()
  let last
  const look = (isAnother = false) => {
    // A page that is loaded ahead is nobody's visit.
    if (document.prerendering || (location.pathname === last && !isAnother)) return
    last = location.pathname
    listener(last)
  }
  looking.add(look)
  look()
  return () => looking.delete(look)
}

// The history tells of going back and forth, and of nothing else.
function watch() {
  if (isWatched) return
  isWatched = true
  const lookAll = (isAnother) => {
    for (const look of looking) look(isAnother)
  }
  addEventListener('popstate', () => lookAll())
  document.addEventListener('prerenderingchange', () => lookAll())
  // One that the browser kept is visited again, as it would be if it had been loaded.
  addEventListener('pageshow', ({ persisted }) => persisted && lookAll(true))
  for (const name of ['pushState', 'replaceState']) {
    const change = history[name]
    history[name] = function (...all) {
      change.apply(this, all)
      lookAll()
    }
  }
}
