// Converts a fuzz corpus between a folder of files, for libFuzzer, and one text file, for the repository. Each line of
// the text file is a JSON string whose characters are the bytes of an input.
//
//   node scripts/corpus.mjs unpack crates/fuzz/corpus/path.jsonl <folder>
//   node scripts/corpus.mjs pack <folder> crates/fuzz/corpus/path.jsonl

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [, , command, from, to] = process.argv

if (command === 'unpack') {
  mkdirSync(to, { recursive: true })
  for (const line of readFileSync(from, 'utf8').trimEnd().split('\n')) {
    const bytes = Buffer.from(JSON.parse(line), 'latin1')
    // libFuzzer uses the same names, so no input is stored twice.
    writeFileSync(join(to, createHash('sha1').update(bytes).digest('hex')), bytes)
  }
} else if (command === 'pack') {
  const lines = readdirSync(from).map((name) => {
    const text = JSON.stringify(readFileSync(join(from, name), 'latin1'))
    return text.replace(/[\x7f-\xff]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`)
  })
  // Shortest first, in a stable order.
  lines.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
  writeFileSync(to, lines.map((line) => `${line}\n`).join(''))
  console.log(`${to}: ${lines.length} inputs`)
} else {
  throw new Error(`Unknown command: ${command}. Use pack or unpack.`)
}
