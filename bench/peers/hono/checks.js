// Who may count, and what.

export const RULES = new Set(['visit', 'like', 'bookmark', 'follow', 'comment', 'publish'])

const FIELDS = new Set(['user', 'action', 'target', 'undo', 'at', 'groups'])
const ID = /^(?!\.{1,2}$)[A-Za-z0-9_.:@|-]{1,64}$/
const encoder = new TextEncoder()

/** Whether a header bears the service key, in the same time however much of it is right. */
export function isService(header, { SERVICE_KEYS }) {
  const [given, known] = [encoder.encode(header ?? ''), encoder.encode(`Bearer ${SERVICE_KEYS}`)]
  let different = given.length ^ known.length
  for (let at = 0; at < known.length; at++) different |= known[at] ^ given[at]
  return different === 0
}

/** What is wrong with an activity. */
export function faultsOf(sent) {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    return [{ pointer: '', detail: 'must be an object' }]
  }
  const faults = []
  const must = (right, pointer, detail) => right || faults.push({ pointer, detail })
  for (const field in sent) must(FIELDS.has(field), `/${field}`, 'is not known')
  const { user, action, target, undo = false } = sent
  must(typeof user === 'string' && ID.test(user), '/user', 'must be an id')
  must(typeof action === 'string', '/action', 'must be the name of an action')
  const fits = typeof target === 'string' && target !== '' && target.length <= 512 && !/\p{Cc}/u.test(target)
  must(fits, '/target', 'must be a text of 1 to 512 bytes')
  must(undo === false, '/undo', 'is not measured here')
  return faults
}
