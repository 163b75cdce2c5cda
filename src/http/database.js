// Statements to a D1 database, in one transaction: their rows, each a list of its values.
export async function run(env, name, statements) {
  const all = JSON.parse(statements).map(([sql, values]) => env[name].prepare(sql).bind(...values));
  const results = await env[name].batch(all);
  return JSON.stringify(results.map(({ results }) => results.map(Object.values)));
}
