// Reads source files for `dialect`.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const SKIPPED = new Set(['node_modules', 'target', 'build'])

/**
 * Returns the paths of all files below a folder, sorted; generated and hidden folders are skipped.
 *
 * @param {string} folder
 * @returns {string[]}
 */
export function walk(folder) {
  /** @type {string[]} */
  const found = []
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (SKIPPED.has(entry.name) || (entry.name.startsWith('.') && entry.name !== '.github')) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) found.push(...walk(path))
    else if (entry.isFile()) found.push(path)
  }
  return found.sort()
}

/** @type {Record<string, string | undefined>} */
const LINE_COMMENT = { rs: '//', js: '//', mjs: '//', ts: '//', lua: '--', py: '#', sh: '#', toml: '#', yml: '#' }
/** @type {Record<string, [string, string] | undefined>} */
const BLOCK_COMMENT = { rs: ['/*', '*/'], js: ['/*', '*/'], mjs: ['/*', '*/'], ts: ['/*', '*/'], css: ['/*', '*/'] }

/**
 * Divides a source text into code, comments and string literals. Each of the three results has the
 * length and the line breaks of the text, with everything else blanked, so positions stay valid.
 *
 * @param {string} text
 * @param {string} language the extension of a file in that language
 */
export function divide(text, language) {
  const code = blank(text)
  const comments = blank(text)
  const strings = blank(text)
  const line = LINE_COMMENT[language]
  const block = BLOCK_COMMENT[language]
  /** @type {(target: string[], from: number, to: number) => void} */
  const keep = (target, from, to) => {
    for (let i = from; i < to; i++) target[i] = text[i]
  }
  let i = 0
  while (i < text.length) {
    let end
    if (line && text.startsWith(line, i) && startsComment(text, i, language)) {
      end = text.indexOf('\n', i)
      if (language === 'lua' && text.startsWith('--[[', i)) end = text.indexOf(']]', i)
      end = end < 0 ? text.length : end
      keep(comments, i, end)
    } else if (block && text.startsWith(block[0], i)) {
      end = endOfBlock(text, i, block, language === 'rs')
      keep(comments, i, end)
    } else if ((end = endOfString(text, i, language)) > i) {
      keep(strings, i, end)
    } else if (language === 'rs' && /\w/.test(text[i])) {
      // A whole word, so that the r of `for` does not begin a raw string.
      end = i + (/^\w+/.exec(text.slice(i, i + 200))?.[0].length ?? 1)
      keep(code, i, end)
    } else {
      end = i + 1
      keep(code, i, end)
    }
    i = end
  }
  return { code: code.join(''), comments: comments.join(''), strings: strings.join('') }
}

/** @param {string} text */
function blank(text) {
  return Array.from({ length: text.length }, (_, i) => (text[i] === '\n' ? '\n' : ' '))
}

/** @type {(text: string, i: number, language: string) => boolean} */
function startsComment(text, i, language) {
  // `$#` and `${x#y}` of a shell, `https://` in a regular expression of JavaScript.
  if (LINE_COMMENT[language] === '#') return i === 0 || /\s/.test(text[i - 1])
  return !['js', 'mjs', 'ts'].includes(language) || text[i - 1] !== '\\'
}

/** @type {(text: string, i: number, block: [string, string], nested: boolean) => number} */
function endOfBlock(text, i, [open, close], nested) {
  let depth = 1
  let at = i + open.length
  while (depth && at < text.length) {
    if (text.startsWith(close, at)) {
      depth -= 1
      at += close.length
    } else if (nested && text.startsWith(open, at)) {
      depth += 1
      at += open.length
    } else at += 1
  }
  return at
}

/**
 * Returns where the string literal at a position ends, or the position itself.
 *
 * @type {(text: string, i: number, language: string) => number}
 */
function endOfString(text, i, language) {
  const c = text[i]
  if (language === 'rs') {
    if (c === 'r' || c === 'b' || c === 'c') {
      const raw = /^[bc]?r(#*)"/.exec(text.slice(i, i + 20))
      if (raw) {
        const end = text.indexOf(`"${raw[1]}`, i + raw[0].length)
        return end < 0 ? text.length : end + 1 + raw[1].length
      }
      return /^[bc]"/.test(text.slice(i, i + 2)) ? quoted(text, i + 1, '"') : i
    }
    if (c === '"') return quoted(text, i, '"')
    // A character, not a lifetime.
    const char = c === "'" && /^'(?:\\(?:u\{[0-9a-fA-F_]+\}|x..|.)|[^\\'\n])'/su.exec(text.slice(i, i + 16))
    return char ? i + char[0].length : i
  }
  if (c === '"' || c === "'" || (c === '`' && ['js', 'mjs', 'ts'].includes(language))) {
    const end = quoted(text, i, c)
    // An apostrophe of a sentence or a regular expression, not a literal.
    return c !== '`' && text.slice(i, end).includes('\n') && language !== 'py' && language !== 'sh' ? i : end
  }
  return i
}

/** @type {(text: string, i: number, quote: string) => number} */
function quoted(text, i, quote) {
  let at = i + 1
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1
  return Math.min(at + 1, text.length)
}

/**
 * Returns the line number of a position.
 *
 * @type {(text: string, at: number) => number}
 */
export function lineOf(text, at) {
  let line = 1
  for (let i = text.indexOf('\n'); i >= 0 && i < at; i = text.indexOf('\n', i + 1)) line += 1
  return line
}
