// A picture of bars in pairs: a value before and after, for each label.

/** @typedef {{ label: string, values: number[], text: string }} Bar */

import { make } from '../page/dom.js'

const WIDTH = 100 // units of a bar of the largest value
const HEIGHT = 8 // units of a bar

/**
 * Creates the picture. The texts are beside the bars.
 * @param {string} label the text alternative
 * @param {string[]} series
 * @param {Bar[]} rows
 */
export function bars(label, series, rows) {
  const most = Math.max(...rows.flatMap(({ values }) => values), 1)
  const items = rows.map(({ label, values, text }) => {
    const svg = draw('svg', {
      ...{ viewBox: `0 0 ${WIDTH} ${HEIGHT * values.length}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    })
    svg.append(
      ...values.map((value, index) =>
        draw('rect', {
          ...{ y: index * HEIGHT, height: HEIGHT - 1, width: (WIDTH * Math.max(value, 0)) / most },
          class: `bar-${index + 1}`,
        }),
      ),
    )
    return make('li', {}, make('span', {}, label), svg, make('span', { className: 'number' }, text))
  })
  const legend = series.map((name, index) => make('li', { className: `series-${index + 1}` }, name))
  const list = make('ul', { className: 'bars', ariaLabel: label }, ...items)
  return make('div', {}, list, make('ul', { className: 'legend' }, ...legend))
}

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 */
function draw(tag, attributes) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
  return element
}
