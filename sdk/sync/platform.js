// The functions that the wasm calls. Each names its run by a number.

/** @typedef {{ method: string, url: string, headers: [string, string][], body: string | null }} Request */
/** @typedef {{ send(request: Request): Promise<object | undefined>, sleep(milliseconds: number): Promise<void>, show(message: string): void }} Host */

/** @type {Map<number, Host>} */
const hosts = new Map()
let last = 0

/**
 * Calls `run` with the number of a host, for as long as it takes.
 * @template T
 * @param {Host} host
 * @param {(run: number) => Promise<T>} run
 */
export async function withHost(host, run) {
  last += 1
  const number = last
  hosts.set(number, host)
  try {
    return await run(number)
  } finally {
    hosts.delete(number)
  }
}

/** @param {number} run */
function hostOf(run) {
  const host = hosts.get(run)
  if (!host) throw new Error('the run has ended')
  return host
}

/**
 * Sends a request. Resolves with the response as JSON, or with undefined if the budget is used up; rejects with the cause if
 * there is no response.
 * @param {number} run
 * @param {string} request
 */
export async function send(run, request) {
  let answer
  try {
    answer = await hostOf(run).send(JSON.parse(request))
  } catch (error) {
    throw error instanceof Error ? error.message : String(error)
  }
  return answer && JSON.stringify(answer)
}

/**
 * @param {number} run
 * @param {number} milliseconds
 */
export const sleep = (run, milliseconds) => hostOf(run).sleep(milliseconds)

/**
 * Shows how far a run is.
 * @param {number} run
 * @param {string} message
 */
export const show = (run, message) => hostOf(run).show(message)
