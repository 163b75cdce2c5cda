// The subset of Markdown used by the OpenAPI document: paragraphs, tables, bold, code and links.

import { make } from './dom.js'

/**
 * Creates a heading that links can focus, so keyboard users continue from there.
 * @param {'h2' | 'h3'} tag
 * @param {string} id
 * @param {...(string | Node)} content
 */
export const heading = (tag, id, ...content) => make(tag, { id, tabIndex: -1 }, ...content)

/**
 * Renders paragraphs and tables.
 * @param {string} text
 */
export function markdown(text) {
  const blocks = text.split(/\n{2,}/).filter(Boolean)
  return blocks.map((block) => (block.startsWith('|') ? tableOf(block) : make('p', {}, ...inline(block))))
}

/**
 * Renders bold, code and links.
 * @param {string} text
 */
export function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/).map((part) => {
    if (/^`.+`$/s.test(part)) return make('code', {}, part.slice(1, -1))
    if (/^\*\*.+\*\*$/s.test(part)) return make('b', {}, part.slice(2, -2))
    const [, title, href] = /^\[(.+)\]\(((?:https:|\/|#).+)\)$/s.exec(part) ?? []
    return href ? make('a', { href }, title) : part
  })
}

/**
 * Creates a table.
 * @param {string[]} titles
 * @param {(string | Node)[][][]} rows content by row and column
 */
export function table(titles, rows) {
  const head = titles.map((title) => make('th', { scope: 'col' }, ...inline(title)))
  const body = rows.map((cells) => make('tr', {}, ...cells.map((cell) => make('td', {}, ...cell))))
  return make('table', {}, make('thead', {}, make('tr', {}, ...head)), make('tbody', {}, ...body))
}

/** @param {string} block */
function tableOf(block) {
  const lines = block.split('\n').map((line) => line.split('|').slice(1, -1))
  const [titles, , ...rows] = lines.map((cells) => cells.map((cell) => cell.trim()))
  return table(
    titles,
    rows.map((cells) => cells.map(inline)),
  )
}
