// Applies the migrations of all databases: MIGRATIONS has a list of files of SQL for each binding.

export default {
  async fetch(_, { MIGRATIONS, ...databases }) {
    for (const [binding, files] of Object.entries(MIGRATIONS)) {
      for (const sql of files) await databases[binding].prepare(sql).run()
    }
    return new Response('migrated')
  },
}
