// The commands in the documents of recipes, for tests that run them.

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { ROOT } from './support.mjs'

/** Returns the fenced blocks of a document in these languages, without the indentation of lists. */
export function blocksOf(document, language) {
  const text = readFileSync(join(ROOT, document), 'utf8')
  return [...text.matchAll(/^( *)```(\w+)\n([\s\S]*?)^\1```$/gm)]
    .filter(([, , found]) => found === language)
    .map(([, indent, , block]) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))
}

/** Replaces placeholders. Fails if one does not occur, so that a changed document changes its test. */
export function replace(text, placeholders) {
  for (const [placeholder, value] of Object.entries(placeholders)) {
    if (!text.includes(placeholder)) throw new Error(`the document does not contain ${placeholder}`)
    text = text.replaceAll(placeholder, value)
  }
  return text
}

/** Runs a script in bash from the folder of the repository, and returns status and output. */
export function run(script, env = {}, cwd = ROOT) {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd, env: { ...process.env, ...env } })
  child.stdin.end()
  let output = ''
  let stdout = ''
  child.stdout.on('data', (data) => {
    output += data
    stdout += data
  })
  child.stderr.on('data', (data) => (output += data))
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, stdout, output })))
}
