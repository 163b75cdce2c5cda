// The package manager that has started this program: what it installs with, and what the steps name.

/** Its programs of packages, by its name. */
const EXEC = { npm: 'npx', pnpm: 'pnpm exec', yarn: 'yarn exec', bun: 'bunx' }

/**
 * Returns the package manager in a user agent such as `pnpm/10.2.0 npm/? node/v22.23.3`, npm by default, and its command for
 * a program of a package.
 * @param {string} [agent]
 */
export function managerOf(agent = '') {
  const [, found = 'npm'] = /^(pnpm|yarn|bun)\//.exec(agent) ?? []
  const name = /** @type {keyof typeof EXEC} */ (found)
  return { name, exec: EXEC[name] }
}
