// Warnings in the console for the owner of a site.

const warned = new Set() // texts

/** Says why a deployment's data cannot be shown, once per page and reason. */
export function warn({ localName }, url, { status, problem, offline }, hint = '') {
  const { origin } = new URL(url)
  if (offline) return
  const isOther = origin !== location.origin
  const cause = isOther ? ` Does its setting ALLOWED_ORIGINS contain ${location.origin}?` : ''
  const text = status
    ? `responded with status ${status}: ${problem?.detail ?? 'no details'}${hint}`
    : `did not respond to this page.${cause}`
  if (warned.has(origin + text)) return
  warned.add(origin + text)
  console.warn(`<${localName}>: ${origin} ${text}`)
}
