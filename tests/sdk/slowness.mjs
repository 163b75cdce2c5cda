// The factor by which the machine of a test run is slower than the one on which the deadlines were chosen. Every deadline of
// the tests is at least ten times what it takes there, and is multiplied by it.

/** At least 1. The run measures it once, and passes it on as TEST_SLOWNESS. */
const SLOWNESS = Math.max(1, Number(process.env.TEST_SLOWNESS) || 1)

/** Returns a deadline of this machine, in the unit of the given one. */
export const scaled = (deadline) => deadline * SLOWNESS

/** STORE_TIMEOUT_MS of a Worker that waits for its store on a busy machine. It accepts no more than 30 seconds. */
export const STORE_TIMEOUT = Math.min(30_000, scaled(5000))
