// Levels of colour of a member's days.

/** Levels above 0. */
export const LEVELS = 4

/**
 * Returns the level of each day, from its points. A day without points has level 0. The others have 1 to 4 by the quartile
 * of their points among the member's own active days, so one exceptional day does not make all others pale. Equal points
 * have equal levels, and the best day always has level 4.
 * @param {number[]} points
 */
export function levelsOf(points) {
  const active = points.filter((value) => value > 0).sort((a, b) => a - b)
  const best = active.at(-1)
  const levels = new Map()
  for (const [lower, value] of active.entries()) {
    if (!levels.has(value))
      levels.set(value, value === best ? LEVELS : 1 + Math.floor((LEVELS * lower) / active.length))
  }
  return points.map((value) => levels.get(value) ?? 0)
}
