// Random numbers that a seed repeats: `SEED=7 node --test …`.

/** Returns a seeded source of random integers and choices. */
export function randomSource(seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 32))) {
  let state = seed >>> 0
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (end) => Math.floor(next() * end)
  const pick = (values) => values[integer(values.length)]
  return { seed, integer, pick }
}
