// The icons of achievements, by the names that ACHIEVEMENTS may have.

/** @type {Record<string, string>} paths in 24 × 24 units */
export const ICONS = {
  star: 'M12 2l3 6.5 7 .9-5.2 4.8 1.4 7L12 17.8 5.8 21.2l1.4-7L2 9.4l7-.9z',
  comment: 'M4 3h16a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2h-8l-5 5v-5H4a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2z',
  heart: 'M12 21C5.5 16 2 12.5 2 8.5a5.3 5.3 0 0 1 10-2.5 5.3 5.3 0 0 1 10 2.5c0 4-3.5 7.5-10 12.5z',
  flame: 'M13 1c1 4.5 7 7.5 7 13.5a8 8 0 0 1-16 0c0-3.5 1.5-5.5 3.5-7.5 0 2.3.7 3.5 2.2 4C9.5 7 10.5 4 13 1z',
  trophy:
    'M7 2h10v2h4v3a5 5 0 0 1-4.5 5 5.5 5.5 0 0 1-3 2.3V18h3.5v3H7v-3h3.5v-3.7a5.5 5.5 0 0 1-3-2.3A5 5 0 0 1 3 7V4h4zm0 4H5v1a3 3 0 0 0 2 2.8zm10 0v3.8A3 3 0 0 0 19 7V6z',
  calendar: 'M7 2v2H5a2 2 0 0 0-2 2v13a2 2 0 0 0 2 2h14a2 2 0 0 0 2-2V6a2 2 0 0 0-2-2h-2V2h-2v2H9V2zm-2 7h14v10H5z',
  shield: 'M12 2l8 3v6c0 5-3.4 9-8 11-4.6-2-8-6-8-11V5z',
  rocket:
    'M12 1c3 2.5 4.5 6 4.5 9.5L20 14.5V19l-4.5-2h-7L4 19v-4.5l3.5-4C7.5 7 9 3.5 12 1zm0 6.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM10 18.5h4L12 23z',
}

/**
 * Creates the picture of an achievement.
 * @param {string} icon the name of an icon, or an `https` URL
 */
export function iconOf(icon) {
  if (icon.startsWith('https://')) {
    return Object.assign(document.createElement('img'), { src: icon, alt: '', referrerPolicy: 'no-referrer' })
  }
  const [svg, path] = ['svg', 'path'].map((name) => document.createElementNS('http://www.w3.org/2000/svg', name))
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  path.setAttribute('d', (Object.hasOwn(ICONS, icon) && ICONS[icon]) || ICONS.star)
  path.setAttribute('fill-rule', 'evenodd')
  svg.append(path)
  return svg
}
