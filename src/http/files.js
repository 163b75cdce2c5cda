// A file of the deployment as a text; null where there is none. Only the path matters.
export async function text_of(assets, name) {
  const response = await assets.fetch(`https://activity-rank.invalid/${name}`)
  return response.ok ? response.text() : null
}
