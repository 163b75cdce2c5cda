// Folders that generators of sites have built, for tests that open their pages.

import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

/** Serves a folder on the origin of pages. */
export function serveFolder(app, folder) {
  for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue
    const path = join(file.parentPath, file.name)
    const url = encodeURI(path.slice(folder.length))
    const handler = (_, response) => {
      response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' })
      response.end(readFileSync(path))
    }
    app.serve(url, handler)
    if (file.name === 'index.html') app.serve(url.slice(0, -'index.html'.length), handler)
  }
}
