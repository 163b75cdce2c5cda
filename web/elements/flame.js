// The flame beside a streak.

const SVG = 'http://www.w3.org/2000/svg'
const PATH =
  'M8.6.6c.5 3.1 4.6 5 4.6 9.2A5.3 5.3 0 0 1 8 15.4 5.3 5.3 0 0 1 2.8 9.8c0-1.9.8-3.5 2.2-4.7 0 1.6.5 2.6 1.5 3.2C6.2 5.3 6.8 2.5 8.6.6z'

export function flame() {
  const svg = document.createElementNS(SVG, 'svg')
  for (const [name, value] of Object.entries({ part: 'flame', viewBox: '0 0 16 16', 'aria-hidden': 'true' })) {
    svg.setAttribute(name, value)
  }
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', PATH)
  svg.append(path)
  return svg
}
