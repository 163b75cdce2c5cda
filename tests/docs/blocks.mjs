// The fenced code blocks of Markdown files, and what each of them is for. The text before a block says it:
//
// - "Save this as `name`:" makes it a file;
// - "…, and leave it running:" makes it a command that runs until the end of the document;
// - a block of `text` or `json` directly after commands is their output, in which `…` stands for any text;
// - a block of `text` that begins with `$` is a transcript: its commands are run, and their output depends on the data.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/**
 * @typedef {object} Block
 * @property {string} document the path of the Markdown file
 * @property {number} line of the opening fence
 * @property {string} section the heading above it
 * @property {string} language
 * @property {string} code without the indentation of the fence
 * @property {'commands' | 'transcript' | 'server' | 'output' | 'file' | 'example'} role
 * @property {string} name of the file, for this role
 */

/** Returns the paths of all Markdown files of the repository. */
export const documents = () =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .trimEnd()
    .split('\n')
    .filter((path) => !path.startsWith('node_modules'))

/** Returns the text of a file of the repository. */
export const textOf = (path) => readFileSync(join(ROOT, path), 'utf8')

/**
 * Returns the blocks of a document in order.
 * @returns {Block[]}
 */
export function blocksOf(document, text = textOf(document)) {
  /** @type {Block[]} */
  const blocks = []
  let end = 0
  for (const match of text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)) {
    const [whole, indentation, language, body] = match
    const above = text.slice(0, match.index)
    const between = text.slice(end, match.index)
    const previous = blocks.at(-1)
    const code = body.replace(new RegExp(`^${indentation}`, 'gm'), '')
    const isTranscript = code.startsWith('$ ')
    const isOutput =
      ['text', 'json'].includes(language) && !isTranscript && !between.trim() && previous?.language === 'sh'
    const paragraph = between.trimEnd().split('\n\n').at(-1)?.replaceAll('\n', ' ') ?? ''
    const [, name = ''] = /`([^`\s]+)`:$/.exec(paragraph) ?? []
    /** @type {Block["role"]} */
    let role = 'example'
    if (isTranscript) role = 'transcript'
    else if (language === 'sh') role = /leave it running:$/.test(paragraph) ? 'server' : 'commands'
    else if (isOutput) role = 'output'
    else if (name && /^Save this as /m.test(paragraph.split('. ').at(-1) ?? '')) role = 'file'
    const section =
      above
        .match(/^#+ .*$/gm)
        ?.at(-1)
        ?.replace(/^#+ /, '') ?? ''
    blocks.push({ document, line: above.split('\n').length, section, language, code, role, name })
    end = match.index + whole.length
  }
  return blocks
}

/**
 * Returns a pattern of an output as a document has it: `…` is any text, a date or time is any other, and a line may be
 * broken where the output has white space or nothing.
 */
export function patternOf(text) {
  const source = text
    .trim()
    .split(/\n\s*/)
    .map((line) => line.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/ {2,}/g, '\\s+'))
    .join('\\s*')
    .replace(/\d{4}-\d\d-\d\dT[\d:]+(\\\.\d+)?Z/g, '\\d{4}-\\d\\d-\\d\\dT[\\d:]+(\\.\\d+)?Z')
    .replace(/\d{4}-\d\d-\d\d(?!\\d)/g, '\\d{4}-\\d\\d-\\d\\d')
    .replace(/\d{4}-W\d\d/g, '\\d{4}-W\\d\\d')
    .replaceAll('…', '[\\s\\S]*?')
  return new RegExp(`^${source}$`)
}
