// Statements to a D1 database, in one transaction and one crossing: their rows, each a list of
// its values.
export async function run(database, statements) {
  const all = JSON.parse(statements).map(([sql, values]) => database.prepare(sql).bind(...values));
  const results = await database.batch(all);
  return JSON.stringify(results.map(({ results }) => results.map(Object.values)));
}
