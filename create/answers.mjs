// What a project needs to know. Each answer has a flag, a question, a default and a check.

/**
 * @typedef {object} Question
 * @property {string} flag
 * @property {string} message of the prompt
 * @property {string} [placeholder]
 * @property {boolean} [isSecret] whether the prompt hides the answer
 * @property {() => string} initial the answer without one
 * @property {(text: string) => string | undefined} check returns what is wrong
 */

/** @type {Record<'storeUrl' | 'storeToken' | 'origins' | 'timeZone', Question>} */
export const QUESTIONS = {
  storeUrl: {
    flag: 'store-url',
    message: 'REST URL of your Redis: Upstash, or a redis-rest gateway (empty: later)',
    placeholder: 'https://….upstash.io',
    initial: () => '',
    check: (text) => (text && !isHttps(text) ? 'Must be an https:// address, without a path.' : undefined),
  },
  storeToken: {
    flag: 'store-token',
    message: 'Its token (empty: later)',
    isSecret: true,
    initial: () => '',
    check: (text) => (/\s/.test(text) ? 'Must not contain white space.' : undefined),
  },
  origins: {
    flag: 'origins',
    message: 'Sites that show the board, separated by commas (empty: later)',
    placeholder: 'https://www.example.com',
    initial: () => '',
    check: (text) => {
      const wrong = listOf(text).find((origin) => !isHttps(origin))
      return wrong && `${wrong} is not an origin such as https://www.example.com: https, without a path.`
    },
  },
  timeZone: {
    flag: 'time-zone',
    message: 'Time zone: days begin at its midnight',
    initial: () => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC',
    check: (text) => (isTimeZone(text) ? undefined : 'Must be an IANA name such as Europe/Berlin.'),
  },
}

/**
 * Returns the elements of a comma-separated list.
 * @param {string} text
 */
export const listOf = (text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)

/**
 * Returns whether a text is an origin with https, or with http on this machine.
 * @param {string} text
 */
function isHttps(text) {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || (text !== url.origin && text !== `${url.origin}/`)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && ['localhost', '127.0.0.1'].includes(url.hostname))
}

/** @param {string} text */
function isTimeZone(text) {
  try {
    // `Intl` also knows offsets, which have no summer time.
    return /[A-Za-z]/.test(text) && Boolean(new Intl.DateTimeFormat('en', { timeZone: text }))
  } catch {
    return false
  }
}
