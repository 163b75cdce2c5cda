// The signed-in member, as pages name them to the client and to elements.

/**
 * Returns a user id as text. Throws a `TypeError` for a number from 2^53 on, which stands for several members.
 * @param {string | number} id
 */
export function userId(id) {
  if (typeof id !== 'number' || Number.isSafeInteger(id)) return String(id)
  throw new TypeError('`user` must be a text or an integer below 2^53.')
}

/**
 * Returns a user token, or nothing without one. A function may have returned something else, such as the page of an error: the
 * console says so.
 * @param {unknown} token a text, or a function that returns it or a promise of it
 * @returns {Promise<string | undefined>}
 */
export async function tokenOf(token) {
  const text = typeof token === 'function' ? await token() : token
  if (!text) return undefined
  // A header can contain it.
  if (/^[!-~]+$/.test(text)) return text
  console.warn('activity-rank: token() returned no user token. Does it check `response.ok`?')
  return undefined
}

/**
 * Returns a user token. Throws a `TypeError` without one.
 * @param {unknown} token
 */
export async function someToken(token) {
  const text = await tokenOf(token)
  if (text) return text
  throw new TypeError('token() returned no user token.')
}
