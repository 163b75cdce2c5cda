// Snapshots of boards in a KV namespace: one value for all of a site's, one crossing each.

const DAY = 86400; // seconds

const boards = (site) => `boards ${site}`;
const hiding = (site) => `hiding ${site}`;

export function save(namespace, site, text) {
  return namespace.put(boards(site), text, { expirationTtl: DAY });
}

// The instant it was made and what the script replied, a line each; null where there is none.
export async function saved(namespace, site, name) {
  const all = await namespace.get(boards(site), 'json');
  const board = all?.boards[name];
  return board ? `${all.made}\n${JSON.stringify(board)}` : null;
}

export function mark_hiding(namespace, site, until) {
  return namespace.put(hiding(site), String(until), { expirationTtl: DAY });
}

export async function last_hiding(namespace, site) {
  return Number(await namespace.get(hiding(site)));
}
