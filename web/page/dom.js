// DOM helpers of the pages.

/**
 * Returns an element of the page by id.
 * @template {HTMLElement} [Type=HTMLElement]
 * @param {string} id
 * @returns {Type}
 */
export const $ = (id) => /** @type {Type} */ (document.getElementById(id))

/**
 * Creates an element. Content is text or nodes, never markup.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {object} properties
 * @param {...(string | Node)} content
 */
export function make(tag, properties, ...content) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...content)
  return element
}

/**
 * Creates a link to a URL that a user has set; only its text, unless the URL is `https`.
 * @param {string | undefined} url
 * @param {string} text
 */
export function userLink(url, text) {
  if (!url?.startsWith('https://')) return make('bdi', {}, text)
  const rel = 'nofollow ugc noopener noreferrer'
  return make('a', { href: url, rel, referrerPolicy: 'no-referrer' }, make('bdi', {}, text))
}

/**
 * Returns a text in which nodes replace the names in braces.
 * @param {string} text such as `You liked {target}`
 * @param {Record<string, string | Node>} values
 */
export const fill = (text, values) =>
  text.split(/(\{\w+\})/).map((part) => (part.startsWith('{') ? (values[part.slice(1, -1)] ?? part) : part))

/**
 * Returns a decoded part of an address; the part itself if it is not percent-encoded UTF-8.
 * @param {string} text
 */
export function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Creates a link to the page of a member.
 * @param {{ id: string, name?: string }} user
 */
export const memberLink = ({ id, name = id }) =>
  make('a', { href: memberPath(id), className: 'member' }, make('bdi', {}, name))

/** @param {string} id */
export const memberPath = (id) => `/u/${encodeURIComponent(id)}`

/** @typedef {{ id: string, name?: string, avatar?: string }} Profile */

/**
 * Creates the picture of a member: the first letter of the name, until an avatar has loaded.
 * @param {Profile} profile
 */
export function faceOf({ id, name = id, avatar }) {
  const [first] = new Intl.Segmenter().segment(name)
  const face = make('span', { className: 'face', ariaHidden: 'true' }, first?.segment ?? '')
  if (avatar?.startsWith('https://')) {
    const image = make('img', { alt: '', referrerPolicy: 'no-referrer' })
    image.addEventListener('error', () => image.remove())
    image.src = avatar
    face.append(image)
  }
  return face
}

const THEMED = 'activity-rank, activity-heatmap, activity-card, activity-climb'

/** Returns the elements of the service on this page. */
export const embedded = () => /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(THEMED))

/**
 * Creates an element of the service, in the page's language and theme.
 * @param {string} tag
 * @param {Record<string, string>} attributes
 */
export function embed(tag, attributes) {
  const element = document.createElement(tag)
  const { lang, dataset } = document.documentElement
  const common = { src: '/', lang, ...(dataset.theme && { theme: dataset.theme }) }
  for (const [name, value] of Object.entries({ ...common, ...attributes })) element.setAttribute(name, value)
  return element
}
