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
