// DOM helpers.

import { COLORS } from './style.js'

/** Creates an element. Content is text or nodes, never markup. */
export function make(tag, properties = {}, ...content) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...content)
  return element
}

/** Sets an element's text if it differs, because screen readers announce every assignment. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text
}

/** Creates a text in two forms. The short one is for narrow layouts. */
export const twoForms = (long, short) => [
  make('span', { className: 'long' }, long),
  make('span', { className: 'short' }, short),
]

/** Returns the additional part of a place on the podium, else an empty text. */
export const medalOf = (rank) => ['', ' first', ' second', ' third'][rank] ?? ''

/**
 * Shows the number of ranks by which a member has moved.
 * @param {HTMLElement} element
 * @param {number | null | undefined} previous rank; null for a member who had none, undefined to show nothing
 * @param {number} rank
 * @param {any} language
 */
export function showMovement(element, previous, rank, { texts, number }) {
  const moved = previous ? previous - rank : 0
  const kind = previous === null ? 'new' : moved > 0 ? 'up' : moved < 0 ? 'down' : 'same'
  const distance = number(Math.abs(moved))
  element.part = `movement ${kind}`
  write(element, { new: texts.new, up: `▲${distance}`, down: `▼${distance}`, same: '' }[kind])
  element.role = moved ? 'img' : null
  element.ariaLabel = moved ? texts[kind](distance) : null
}

const graphemes = new Intl.Segmenter()

const isLink = (url) => /^https:\/\//.test(url)

/** Creates the avatar of a user or the picture of a target. Initials show until the image has loaded. */
export function avatarOf({ id, name = id, avatar }) {
  const initials = name
    .trim()
    .split(/\s+/, 2)
    .map((word) => [...graphemes.segment(word)][0]?.segment)
    .join('')
  const element = make('span', { part: 'avatar', ariaHidden: 'true' }, initials)
  const hue = [...id].reduce((hue, char) => (hue * 31 + char.charCodeAt(0) * 137) % 360, 0)
  element.style.setProperty('--hue', String(hue))
  if (isLink(avatar)) {
    const image = make('img', { alt: '', loading: 'lazy', decoding: 'async', referrerPolicy: 'no-referrer' })
    image.onerror = () => image.remove()
    image.src = avatar
    element.append(image)
  }
  return element
}

/** Creates the name of a user or a target: a link if the profile has one, or to a page of the site. */
export function nameOf({ id, name = id, url }, part = 'name', page = undefined) {
  const text = { part, dir: 'auto', title: name }
  if (page) return make('a', { ...text, href: page }, name)
  if (!isLink(url)) return make('span', text, name)
  return make('a', { ...text, href: url, rel: 'nofollow ugc noopener noreferrer', referrerPolicy: 'no-referrer' }, name)
}

/**
 * Returns the URL of the site's page about a member, from the template `member-url`; nothing from one that gives no web
 * address.
 */
export function pageOf(template, id) {
  const url = template?.replaceAll('{user}', encodeURIComponent(id))
  if (!url || !URL.canParse(url, document.baseURI)) return
  const { protocol, href } = new URL(url, document.baseURI)
  return /^https?:$/.test(protocol) ? href : undefined
}

/**
 * Returns a base class with a property for each attribute, a string, or null without the attribute; and with a shadow
 * root that has these styles.
 * @template {string} Name
 * @param {readonly Name[]} names
 * @param {string} styles
 * @returns {new () => HTMLElement & Record<import('./types.d.ts').Camel<Name>, string>}
 */
export function reflecting(names, styles) {
  const properties = names.map((name) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase()))
  const sheets = new WeakMap() // by window
  class Reflecting extends HTMLElement {
    constructor() {
      super()
      this.attachShadow({ mode: 'open' })
      this.adoptedCallback()
      // A property set before the element was defined shadows the setter.
      for (const property of properties) {
        if (!Object.hasOwn(this, property)) continue
        const value = this[property]
        delete this[property]
        this[property] = value
      }
    }

    // A document applies only sheets that its window has constructed. Constructed sheets need no `unsafe-inline`.
    adoptedCallback() {
      const window = this.ownerDocument.defaultView
      if (!window) return
      const sheet = sheets.get(window) ?? new window.CSSStyleSheet()
      if (!sheets.has(window)) {
        sheet.replaceSync(styles)
        registerColors(window)
      }
      sheets.set(window, sheet)
      this.shadowRoot.adoptedStyleSheets = [sheet]
    }
  }
  for (const [index, name] of names.entries()) {
    const property = properties[index]
    Object.defineProperty(Reflecting.prototype, property, {
      get() {
        return this.getAttribute(name)
      },
      set(value) {
        // Such a number stands for several ids: the element would show another member.
        const isInexact = Number.isInteger(value) && !Number.isSafeInteger(value)
        if (isInexact) console.warn(this, `\`${property}\` must be a text: ${value} has lost digits.`)
        if (value == null || isInexact) this.removeAttribute(name)
        else this.setAttribute(name, value)
      },
    })
  }
  return /** @type {any} */ (Reflecting)
}

/** Registers the colors of the styles. `@property` has no effect in a shadow root. */
function registerColors({ CSS }) {
  for (const color of COLORS) {
    const name = `--activity-rank-computed-${color}`
    try {
      CSS.registerProperty({ name, syntax: '<color>', inherits: true, initialValue: 'transparent' })
    } catch {
      // It is registered, or the browser cannot.
    }
  }
}

/** Returns the deployment's URL: `src`, by default where this module was loaded from. */
export function baseOf({ src }) {
  return src ? new URL(src.replace(/\/*$/, '/'), document.baseURI) : new URL('..', import.meta.url)
}

/** Returns the refresh interval in seconds; 0 disables refreshing. */
export function secondsOf({ refresh }, fallback) {
  const seconds = refresh === null ? fallback : parseFloat(refresh)
  return seconds > 0 ? Math.max(1, seconds) : 0
}
