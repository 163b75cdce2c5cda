// Authentication and validation.

export const RULES = new Set(['visit', 'like', 'bookmark', 'follow', 'comment', 'publish'])

const FIELDS = new Set(['user', 'action', 'target', 'undo', 'at', 'groups'])
const ID = /^(?!\.{1,2}$)[A-Za-z0-9_.:@|-]{1,64}$/
const encoder = new TextEncoder()

/** Returns whether a header contains the service key, in constant time. */
export function isService(header, { SERVICE_KEYS }) {
  const [given, expected] = [encoder.encode(header ?? ''), encoder.encode(`Bearer ${SERVICE_KEYS}`)]
  let different = given.length ^ expected.length
  for (let at = 0; at < expected.length; at++) different |= expected[at] ^ given[at]
  return different === 0
}

/** Returns the field errors of an activity. */
export function fieldErrors(activity) {
  if (typeof activity !== 'object' || activity === null || Array.isArray(activity)) {
    return [{ pointer: '', detail: 'must be an object' }]
  }
  const errors = []
  const check = (valid, pointer, detail) => valid || errors.push({ pointer, detail })
  for (const field in activity) check(FIELDS.has(field), `/${field}`, 'is not known')
  const { user, action, target, undo = false } = activity
  check(typeof user === 'string' && ID.test(user), '/user', 'must be an id')
  check(typeof action === 'string', '/action', 'must be the name of an action')
  const isTarget = typeof target === 'string' && target !== '' && target.length <= 512 && !/\p{Cc}/u.test(target)
  check(isTarget, '/target', 'must be a text of 1 to 512 bytes')
  check(undo === false, '/undo', 'is not measured here')
  return errors
}
