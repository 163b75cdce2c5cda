// The settings of a run, from the variables and secrets of the Worker.

/** @import { Env, Mapping } from './types.js' */

/** The name of the source in reports: several Workers may report, and a network of WordPress has several sites. */
export const sourceOf = (/** @type {Env} */ { SOURCE = '', SITE = '1', SOURCE_NAME }) =>
  SOURCE_NAME ?? (SITE === '1' ? SOURCE : `${SOURCE}:${SITE}`)

/**
 * Returns the settings that `crates/sync-worker` reads. Throws an error that names what is missing.
 * @param {Env} env
 * @param {Mapping} mapping
 * @param {number} started
 */
export function settingsOf(env, mapping, started) {
  const { site, categories, labels, private: isPrivate, users, map } = mapping
  return {
    ...SOURCES[choose(env)](env),
    rank: {
      // The host of the URL does not matter to a service binding.
      url: env.RANK ? 'https://activity-rank' : required(env, 'ACTIVITY_RANK_URL').replace(/\/+$/, ''),
      key: required(env, 'ACTIVITY_RANK_KEY'),
    },
    started,
    heal: env.HEAL === true || env.HEAL === 'true',
    id_prefix: env.ID_PREFIX,
    map,
    mapping: { site, categories, labels, private: isPrivate, users },
  }
}

/** @param {Env} env */
function choose(env) {
  const source = required(env, 'SOURCE')
  if (source in SOURCES) return /** @type {keyof typeof SOURCES} */ (source)
  throw new Error(`SOURCE is ${source}, and must be one of ${Object.keys(SOURCES).join(', ')}`)
}

/**
 * @param {Env} env
 * @param {string} name
 */
function required(env, name) {
  const value = env[name]
  if (typeof value === 'string' && value.trim()) return value.trim()
  throw new Error(`the variable or secret ${name} is not set`)
}

/** @param {string} text */
const list = (text) => text.split(',').map((item) => item.trim())

const SOURCES = {
  /** @param {Env} env */
  discourse: (env) => ({
    source: 'discourse',
    url: required(env, 'SOURCE_URL'),
    key: required(env, 'DISCOURSE_API_KEY'),
    username: required(env, 'DISCOURSE_API_USERNAME'),
  }),
  /** @param {Env} env */
  ghost: (env) => ({
    source: 'ghost',
    url: required(env, 'SOURCE_URL'),
    key: required(env, 'GHOST_ADMIN_API_KEY'),
  }),
  /** @param {Env} env */
  github: (env) => ({
    source: 'github',
    url: env.SOURCE_URL ?? 'https://api.github.com',
    token: required(env, 'GITHUB_TOKEN'),
    names: list(required(env, 'REPOSITORIES')),
  }),
  /** @param {Env} env */
  wordpress: (env) => ({
    source: 'wordpress',
    url: required(env, 'SOURCE_URL'),
    credentials: {
      user: required(env, 'WORDPRESS_USER'),
      password: required(env, 'WORDPRESS_APPLICATION_PASSWORD'),
    },
    types: list(env.TYPES ?? 'posts'),
    site: Number(env.SITE ?? 1),
  }),
}
