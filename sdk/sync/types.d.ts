/** The variables, secrets and bindings of the Worker. */
export interface Env {
  /** A KV namespace: the state of the run, and what it has read of the source. */
  PAGES: {
    get(key: string, type: 'json'): Promise<object | null>
    put(key: string, value: string, options?: { expirationTtl: number }): Promise<void>
  }
  /** A service binding to the deployment. */
  RANK?: { fetch: typeof fetch }
  /** `discourse`, `ghost`, `github` or `wordpress`. */
  SOURCE?: string
  /** The source in reports; that of `SOURCE` and of the site of a network without it. */
  SOURCE_NAME?: string
  /** Repositories of GitHub, as `OWNER/NAME` between commas. */
  REPOSITORIES?: string
  /** The types of posts of WordPress that count, between commas. */
  TYPES?: string
  /** The number of a site in a network of WordPress. */
  SITE?: string
  /** Prefix of users and targets, in the place of that of the source. */
  ID_PREFIX?: string
  /** Whether differences are mended. */
  HEAL?: string | boolean
  /** Requests to the source of a run of the schedule. */
  REQUESTS?: string | number
  SOURCE_URL?: string
  [variable: string]: unknown
}

/** The mapping file of the source's recipe, as far as a run needs it. */
export interface Mapping {
  /** Address of the software. */
  site?: string
  /** The categories that count; all if it is empty. */
  categories?: number[]
  /** The labels of GitHub whose content does not count. */
  labels?: string[]
  /** Whether private content counts too. */
  private?: boolean
  /** Ids of members by ids of the source. */
  users?: Record<string, string>
  /** The action of each type of the source; empty for none. */
  map?: Record<string, string>
  [field: string]: unknown
}

/** The state between two runs of the schedule. */
export interface Run {
  /** When the run began to read the source, in Unix ms; absent if none is open. */
  started?: number
  /** Failed attempts of the run. */
  attempts?: number
  /** When the last run ended. */
  ended?: number
}

/** The result of a run. */
export interface Outcome {
  state: 'done' | 'paused' | 'failed'
  /** Differences at its end. */
  differences?: number
  /** Differences that it has mended. */
  mended?: number
  /** Numbers of activities that rules refuse, by reason. */
  refused?: Record<string, number>
  /** The result as text, how far it is, or its error. */
  detail?: string
}

/** A Worker with a schedule. */
export interface Scheduled {
  scheduled(event: { scheduledTime: number }, env: Env): Promise<void>
  fetch(): Response
}

export function sync(mapping?: Mapping): Scheduled
