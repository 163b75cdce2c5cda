// A file of the deployment as a text. Only the path matters.
export async function text_of(env, name) {
  const response = await env.ASSETS.fetch(`https://activity-rank.invalid/${name}`);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.text();
}
