// Snapshots of boards in the KV namespace SNAPSHOTS: one value for all of a site's.

const DAY = 86400; // seconds

const boards = (site) => `boards ${site}`;
const hiding = (site) => `hiding ${site}`;

export async function save(env, site, text) {
  await env.SNAPSHOTS.put(boards(site), text, { expirationTtl: DAY });
  return '';
}

// The instant it was made and what the script replied, a line each; nothing where there is none.
export async function saved(env, site, name) {
  const all = await env.SNAPSHOTS.get(boards(site), 'json');
  const board = all?.boards[name];
  return board ? `${all.made}\n${JSON.stringify(board)}` : '';
}

export async function mark_hiding(env, site, until) {
  await env.SNAPSHOTS.put(hiding(site), until, { expirationTtl: DAY });
  return '';
}

export async function last_hiding(env, site) {
  return (await env.SNAPSHOTS.get(hiding(site))) ?? '';
}
