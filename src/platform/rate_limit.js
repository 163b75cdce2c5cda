// The platform's rate limiters.

/** Counts calls of a key and returns whether all of them are within the limit. */
export async function allow(env, binding, key, calls = 1) {
  const limit = () => env[binding].limit({ key })
  if (calls === 1) return (await limit()).success
  const outcomes = await Promise.all(Array.from({ length: calls }, limit))
  return outcomes.every(({ success }) => success)
}

/**
 * Returns whether an anonymous reader is within `READ_LIMIT`. False if the limiter fails: the wasm calls it again, and
 * logs the failure.
 *
 * @returns {boolean | Promise<boolean>} true if nothing limits the reader
 */
export function allowReader({ headers }, env) {
  const address = env.READ_LIMIT && headers.get('cf-connecting-ip')
  return !address || allow(env, 'READ_LIMIT', networkOf(address)).catch(() => false)
}

/**
 * Returns the network of an address: an IPv4 address itself, the /64 network of an IPv6 address. A
 * client with one address of a /64 has all of them, and could use another one for each request.
 */
export function networkOf(address) {
  // A URL has one spelling for every spelling of an IPv6 address, and rejects anything else.
  const host = URL.parse(`http://[${address}]/`)?.hostname
  if (!host) return address
  const [head, tail] = host.slice(1, -1).split('::')
  const start = head ? head.split(':') : []
  const end = tail ? tail.split(':') : []
  const groups = [...start, ...Array(8 - start.length - end.length).fill('0'), ...end]
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return groups.slice(0, 4).join(':')
  const words = groups.slice(6).map((group) => parseInt(group, 16))
  return words.flatMap((word) => [word >> 8, word & 255]).join('.')
}
