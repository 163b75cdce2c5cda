// How deep the tests go. `make test` tests each piece of code once; `make soak` runs all variants, with SOAK=1.

export const isSoak = Boolean(process.env.SOAK)

/** Returns all cases in `make soak`, and the first of them in `make test`. */
export const depth = (cases, count = 1) => (isSoak ? cases : cases.slice(0, count))
