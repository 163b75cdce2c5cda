// Motion of elements. Readers who prefer reduced motion see none.

const MOVE = 400 // ms

export const isReduced = () => matchMedia('(prefers-reduced-motion: reduce)').matches

/** Animates an element, unless the reader prefers reduced motion. */
export function animate(element, keyframes, duration, easing = 'linear') {
  if (!isReduced()) element.animate(keyframes, { duration, easing })
}

/**
 * Replaces the children of an element while `update` runs. The focus stays. Children that are animated move from where they were;
 * new children fade in, and children whose width changes, as rows that enter or leave a podium.
 * @param {HTMLElement} parent
 * @param {boolean} isAnimated
 * @param {() => HTMLElement[]} update returns the children
 */
export function arrange(parent, isAnimated, update) {
  // Boxes cost a layout.
  const boxes = new Map(isAnimated ? [...parent.children].map((child) => [child, child.getBoundingClientRect()]) : [])
  const children = update()
  const { children: old } = parent
  if (children.length === old.length && children.every((child, index) => child === old[index])) return
  const focused = /** @type {ShadowRoot} */ (parent.getRootNode()).activeElement
  parent.replaceChildren(...children)
  if (focused?.isConnected) /** @type {HTMLElement} */ (focused).focus({ preventScroll: true })
  if (!isAnimated) return
  for (const child of children) {
    const [from, to] = [boxes.get(child), child.getBoundingClientRect()]
    const [x, y] = from ? [from.x - to.x, from.y - to.y] : [0, 0]
    const isMoved = from && Math.abs(from.width - to.width) < 1
    const start = isMoved ? { transform: `translate(${x}px, ${y}px)` } : { opacity: 0 }
    if (!from || x || y) animate(child, [start, {}], MOVE, 'ease-in-out')
  }
}
