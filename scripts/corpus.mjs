// The inputs that fuzzing keeps: a folder of files for libFuzzer, one text file for the repository.
// There each line is a JSON string whose characters are the bytes of an input.
//
//   node scripts/corpus.mjs unpack fuzz/corpus/path.jsonl <folder>
//   node scripts/corpus.mjs pack <folder> fuzz/corpus/path.jsonl

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [, , verb, from, to] = process.argv

if (verb === 'unpack') {
  mkdirSync(to, { recursive: true })
  for (const line of readFileSync(from, 'utf8').trimEnd().split('\n')) {
    const bytes = Buffer.from(JSON.parse(line), 'latin1')
    // The names that libFuzzer gives, so that no input lies there twice.
    writeFileSync(join(to, createHash('sha1').update(bytes).digest('hex')), bytes)
  }
} else if (verb === 'pack') {
  const escaped = (c) => `\\u00${c.charCodeAt(0).toString(16)}`
  const line = (name) => JSON.stringify(readFileSync(join(from, name), 'latin1')).replace(/[\x7f-\xff]/g, escaped)
  const lines = readdirSync(from).map(line)
  // The shortest first, and always in the same order.
  lines.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
  writeFileSync(to, lines.map((line) => `${line}\n`).join(''))
  console.log(`${to}: ${lines.length} inputs`)
} else {
  throw new Error('pack or unpack?')
}
