// Cron in development: `wrangler dev` fires none by itself, so its handler is called on the schedules of the configuration.

const MINUTE = 60_000 // ms

/** The runs of cron after an import: enough for 20,000 boards and spans of histories. */
export const RUNS_AFTER_IMPORT = 10

/**
 * Returns whether a schedule fires in a minute of the hour. Throws unless it restricts minutes alone, by `*`, numbers and
 * steps: the service needs no others.
 * @param {string} cron
 * @param {number} minute
 */
export function fires(cron, minute) {
  const [, field] = /^(\S+) \* \* \* \*$/.exec(cron) ?? []
  const parts = field?.split(',').map((part) => /^(?:\*(?:\/([1-9]\d?))?|([1-5]?\d))$/.exec(part)) ?? [null]
  return parts
    .map((part) => {
      if (!part)
        throw new Error(`Development supports schedules of minutes only, such as "*/5 * * * *", not "${cron}".`)
      const [, step, number] = part
      return number ? Number(number) === minute : minute % Number(step ?? 1) === 0
    })
    .includes(true)
}

/**
 * Calls the handler of a Worker in `wrangler dev` for a schedule, and waits for its end.
 * @param {string} url
 * @param {string} cron
 * @param {number} time Unix ms
 */
async function runCron(url, cron, time) {
  const query = new URLSearchParams({ cron, time: `${time}` })
  const response = await fetch(`${url}/cdn-cgi/handler/scheduled?${query}`).catch((error) => {
    throw new Error(`cron "${cron}" could not be started: ${error}`)
  })
  if (!response.ok) throw new Error(`cron "${cron}" failed: ${response.status} ${await response.text()}`)
}

/**
 * Calls the handler of the schedule of every 5 minutes several times, one call after the other, so that the boards of an
 * import are archived.
 * @param {string} url
 * @param {string[]} crons
 * @param {() => boolean} isEnding whether no further call follows
 */
export async function runCronAfterImport(url, crons, isEnding) {
  const cron = crons.find((cron) => fires(cron, 5) && !fires(cron, 6))
  for (let run = 0; cron && run < RUNS_AFTER_IMPORT && !isEnding(); run += 1) await runCron(url, cron, Date.now())
}

/**
 * Calls the handler of a Worker in `wrangler dev` on its schedules, until the returned function is called.
 * @param {string} url
 * @param {string[]} crons
 * @param {(message: string) => void} report receives failures
 */
export function startCron(url, crons, report) {
  for (const cron of crons) fires(cron, 0)
  /** @type {ReturnType<typeof setTimeout>} */
  let timer
  const wait = () => {
    const next = (Math.floor(Date.now() / MINUTE) + 1) * MINUTE
    timer = setTimeout(() => {
      for (const cron of crons) if (fires(cron, new Date(next).getUTCMinutes())) call(cron, next)
      wait()
    }, next - Date.now())
  }
  /**
   * @param {string} cron
   * @param {number} time
   */
  const call = async (cron, time) => {
    try {
      await runCron(url, cron, time)
    } catch (error) {
      report(`${error instanceof Error ? error.message : error}`)
    }
  }
  wait()
  return () => clearTimeout(timer)
}
