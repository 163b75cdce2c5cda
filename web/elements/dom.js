// Elements. Content is text, never markup: a name is whatever its member wrote.

/** An element with properties and content. */
export function make(tag, properties = {}, ...content) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...content)
  return element
}

/** Sets a text where it is another: screen readers say what is set. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text
}

const isLink = (url) => /^https:\/\//.test(url)

/** The picture of a member, or initials. */
export function face({ id, name = id, avatar }) {
  const initials = name.split(' ', 2).map(([first]) => first).join('')
  const element = make('span', { part: 'avatar', ariaHidden: 'true' }, initials)
  const hue = [...id].reduce((hue, char) => (hue * 31 + char.charCodeAt()) % 360, 0)
  element.style.setProperty('--hue', hue)
  if (isLink(avatar)) {
    const image = make('img', { alt: '', loading: 'lazy', decoding: 'async', referrerPolicy: 'no-referrer' })
    image.onerror = () => image.remove()
    image.src = avatar
    element.append(image)
  }
  return element
}

/** The name of a member, maybe a link. */
export function nameOf({ id, name = id, url }) {
  const link = { href: url, rel: 'nofollow ugc noopener noreferrer', referrerPolicy: 'no-referrer' }
  return make(isLink(url) ? 'a' : 'span', { part: 'name', dir: 'auto', title: name, ...(isLink(url) && link) }, name)
}

/** Gives a class properties for its attributes: texts, or null. */
export function reflect(type, names) {
  for (const name of names) {
    Object.defineProperty(type.prototype, name, {
      get() {
        return this.getAttribute(name)
      },
      set(value) {
        if (value == null) this.removeAttribute(name)
        else this.setAttribute(name, value)
      },
    })
  }
}

/** The deployment: by default where the module comes from. */
export function baseOf({ src }) {
  return src ? new URL(src.replace(/\/*$/, '/'), document.baseURI) : new URL('..', import.meta.url)
}

/** Seconds between looks; 0 for one look only. */
export function secondsOf({ refresh }, normal) {
  const seconds = refresh === null ? normal : parseFloat(refresh)
  return seconds > 0 ? Math.max(1, seconds) : 0
}
