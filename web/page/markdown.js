// The little Markdown that the OpenAPI document is written in: paragraphs, tables, bold, code, links.

/** An element with properties and content; content is text or nodes, never markup. */
export function make(tag, properties, ...content) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...content)
  return element
}

/** A heading that links lead to, and the focus with them: from there one goes on by keys. */
export const heading = (tag, id, ...content) => make(tag, { id, tabIndex: -1 }, ...content)

/** Paragraphs and tables. */
export function markdown(text) {
  return text.split(/\n{2,}/).filter(Boolean).map((block) => (block.startsWith('|') ? tableOf(block) : make('p', {}, ...inline(block))))
}

/** What is within a line. */
export function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/).map((part) => {
    if (/^`.+`$/s.test(part)) return make('code', {}, part.slice(1, -1))
    if (/^\*\*.+\*\*$/s.test(part)) return make('b', {}, part.slice(2, -2))
    const [, title, href] = /^\[(.+)\]\(((?:https:|\/|#).+)\)$/s.exec(part) ?? []
    return href ? make('a', { href }, title) : part
  })
}

function tableOf(block) {
  const rows = block.split('\n').map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()))
  const [titles, , ...body] = rows
  const row = (cells, tag, properties) => make('tr', {}, ...cells.map((cell) => make(tag, properties, ...inline(cell))))
  return make('table', {}, make('thead', {}, row(titles, 'th', { scope: 'col' })), make('tbody', {}, ...body.map((cells) => row(cells, 'td', {}))))
}
