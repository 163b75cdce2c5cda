// The graph of a case: members on a circle, an arrow from each giver to each receiver.

/** @typedef {{ x: number, y: number }} Point */

import { make } from '../page/dom.js'

const CENTER = 120
const CIRCLE = 96 // radius on which the members are
const NODE = 15 // radius of a member
const MARGIN = NODE + 3 // around the centers of the members
const BEND = 0.16 // of the length of an arrow, so that arrows of both directions are apart

/**
 * Creates the graph. Members have their number as a label.
 * @param {string} label the text alternative
 * @param {string[]} members in the order of their numbers
 * @param {{ giver: string, receiver: string, gifts: number, title: string }[]} pairs
 */
export function graph(label, members, pairs) {
  const first = members.length === 2 ? Math.PI : -Math.PI / 2
  const points = members.map((_, index) => {
    const angle = first + (2 * Math.PI * index) / members.length
    return { x: CENTER + CIRCLE * Math.cos(angle), y: CENTER + CIRCLE * Math.sin(angle) }
  })
  const radius = Math.min(NODE, (0.8 * Math.PI * CIRCLE) / members.length)
  // Arrows of many members are thinner.
  const widest = Math.max(2, 6.5 - members.length / 5)
  const head = widest + 3
  const most = Math.max(...pairs.map(({ gifts }) => gifts), 1)
  const arrows = pairs
    .filter(({ giver, receiver }) => members.includes(giver) && members.includes(receiver))
    .map(({ giver, receiver, gifts, title }) => {
      const [from, to] = [giver, receiver].map((member) => points[members.indexOf(member)])
      const width = 1 + ((widest - 1) * gifts) / most
      const d = arrowPath(from, to, radius, head)
      const path = draw('path', { d, 'stroke-width': width.toFixed(1), 'marker-end': 'url(#arrowhead)' })
      path.append(draw('title', {}, title))
      return path
    })
  const nodes = points.flatMap(({ x, y }, index) => [
    draw('circle', { cx: round(x), cy: round(y), r: round(radius) }),
    draw('text', { x: round(x), y: round(y), 'font-size': round(radius * 0.95) }, String(index + 1)),
  ])
  const marker = draw('marker', {
    id: 'arrowhead',
    viewBox: '0 0 9 9',
    ...{ refX: 0, refY: 4.5, markerWidth: head, markerHeight: head, markerUnits: 'userSpaceOnUse', orient: 'auto' },
  })
  marker.append(draw('path', { d: 'M0 0 9 4.5 0 9z' }))
  const heights = points.map(({ y }) => y)
  const top = Math.min(...heights) - MARGIN
  const viewBox = `0 ${round(top)} ${2 * CENTER} ${round(Math.max(...heights) + MARGIN - top)}`
  const svg = draw('svg', { viewBox, role: 'img', 'aria-label': label })
  svg.append(marker, ...arrows, ...nodes)
  return make('div', { className: 'graph' }, svg)
}

/**
 * Returns the path of an arrow between the edges of two members.
 * @param {Point} from
 * @param {Point} to
 * @param {number} radius
 * @param {number} head length of the arrowhead
 */
function arrowPath(from, to, radius, head) {
  const control = {
    x: (from.x + to.x) / 2 - BEND * (to.y - from.y),
    y: (from.y + to.y) / 2 + BEND * (to.x - from.x),
  }
  const start = towards(from, control, radius + 1)
  const end = towards(to, control, radius + 1 + head)
  return `M${textOf(start)} Q${textOf(control)} ${textOf(end)}`
}

/**
 * Returns the point at a distance from another one, in the direction of a third.
 * @param {Point} from
 * @param {Point} to
 * @param {number} distance
 */
function towards(from, to, distance) {
  const part = distance / Math.hypot(to.x - from.x, to.y - from.y)
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
}

const round = (/** @type {number} */ value) => Math.round(value * 10) / 10
const textOf = (/** @type {Point} */ { x, y }) => `${round(x)} ${round(y)}`

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {string} [text]
 */
function draw(tag, attributes, text = '') {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
  element.textContent = text
  return element
}
