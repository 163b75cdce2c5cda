// Whether the platform's counters let one more through.

// Writers are known by their id, readers by their address.
export async function lets_through(env, name, who) {
  const key = name === 'READ_LIMIT' ? place(who) : who;
  const { success } = await env[name].limit({ key });
  return success ? '1' : '';
}

/** Where an address belongs: itself, or its /64 network of IPv6. Whoever has one address of that has
 * all of them, and could call from another each time. */
export function place(address) {
  // Whatever way an address of IPv6 is written, a URL has it in one; with another there is none.
  const host = URL.parse(`http://[${address}]/`)?.hostname;
  if (!host) return address;
  const [head, tail] = host.slice(1, -1).split('::');
  const start = head ? head.split(':') : [];
  const end = tail ? tail.split(':') : [];
  const groups = [...start, ...Array(8 - start.length - end.length).fill('0'), ...end];
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return groups.slice(0, 4).join(':');
  const bytes = groups.slice(6).map((group) => parseInt(group, 16));
  return bytes.flatMap((two) => [two >> 8, two & 255]).join('.');
}
