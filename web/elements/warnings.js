// Warnings in the console for the owner of a site.

const warned = new Set() // origins

/** Says why a deployment's data cannot be shown, once per page and deployment. */
export function warn({ localName }, url, { status, problem, offline }) {
  const { origin } = new URL(url)
  if (offline || warned.has(origin)) return
  warned.add(origin)
  const isOther = origin !== location.origin
  const cause = isOther ? ` Does its setting ALLOWED_ORIGINS contain ${location.origin}?` : ''
  const text = status
    ? `responded with status ${status}: ${problem?.detail ?? 'no details'}`
    : `did not respond to this page.${cause}`
  console.warn(`<${localName}>: ${origin} ${text}`)
}
