// The names that the first release publishes, and where a document uses them. Until that release nothing answers to them, so
// a document names them only in a section, paragraph, row or line that is marked; scripts/check-links checks it. After the
// first release, remove the marks, this file and its check.

/** Marks what is not there yet. In a heading, or in the first paragraph below it, it marks the whole section. */
export const MARK = /from the first release\s+on/i

/**
 * What a release publishes: where, the file that has the name, and how documents use it.
 * @type {{ where: string, name: string, source: string, uses: RegExp }[]}
 */
export const NAMES = [
  {
    where: 'npm',
    name: 'activity-rank',
    source: 'npm/package.json',
    uses: /\b(?:npx|npm exec|bunx|pnpm dlx)(?: --?[a-z]+)* activity-rank\b|\bnpm (?:i|install|add)(?: -\S+)* activity-rank\b/g,
  },
  {
    where: 'npm',
    name: 'create-activity-rank',
    source: 'create/package.json',
    uses: /\bnpm (?:create|init)(?: --?[a-z]+)* activity-rank\b|(?<![\w/-])create-activity-rank\b(?!-\d)/g,
  },
  // Not imports: they follow an installation.
  {
    where: 'npm',
    name: '@activity-rank/server',
    source: 'sdk/js/package.json',
    uses: /(?<!from ['"])@activity-rank\/server\b/g,
  },
  {
    where: 'npm',
    name: '@activity-rank/receiver',
    source: 'recipes/receiver/package.json',
    uses: /\b(?:npx|npm exec|bunx|pnpm dlx|npm (?:i|install|add))(?: --?[a-z]+)* @activity-rank\/receiver\b/g,
  },
  {
    where: 'npm',
    name: '@activity-rank/sync',
    source: 'sdk/sync/package.json',
    uses: /\b(?:npx|npm exec|bunx|pnpm dlx|npm (?:i|install|add))(?: --?[a-z]+)* @activity-rank\/sync\b/g,
  },
  { where: 'npm', name: '@activity-rank/cli-', source: 'scripts/pack-npm', uses: /@activity-rank\/cli\b/g },
  { where: 'npm', name: 'activity-rank', source: 'npm/package.json', uses: /\bnpmjs\.com\/[^\s)]*activity-rank\b/g },
  {
    where: 'PyPI',
    name: 'activity-rank',
    source: 'sdk/python/pyproject.toml',
    uses: /\b(?:pip|pipx|uv add|uv pip)(?: install)?(?: -\S+)* ["']?activity-rank\b|\bpypi\.org\/[^\s)]*activity-rank\b/g,
  },
  {
    where: 'the releases on GitHub, for cargo binstall',
    name: 'activity-rank-cli',
    source: 'crates/cli/Cargo.toml',
    uses: /\bcargo (?:binstall|install)(?: (?!--path)\S+)* (?:activity-rank-cli|redis-rest)\b|\b(?:crates\.io|docs\.rs)\/[^\s)]*activity-rank\b/g,
  },
  {
    where: 'GitHub',
    name: 'https://github.com/activity-rank/activity-rank',
    source: 'Cargo.toml',
    uses: /\bgithub\.com\/activity-rank\b|\buses: activity-rank\//g,
  },
  {
    where: 'the registry of images of GitHub',
    name: 'redis-rest',
    source: '.github/workflows/release.yml',
    uses: /\bghcr\.io\//g,
  },
  {
    where: 'the releases on GitHub, for Debian',
    name: 'activity-rank_',
    source: 'scripts/release-deb',
    uses: /\bactivity-rank_\d\S*\.deb\b|\bapt(?:-get)? install activity-rank\b/g,
  },
]

const FENCE = /^ *(?:`{3,}|~{3,})/

/**
 * Splits a document into blocks: headings, paragraphs, items of lists, rows of tables, lines of code. A line of code has the
 * paragraph before it.
 * @param {string} text
 */
function blocksOf(text) {
  /** @type {{ line: number, text: string, level: number, before?: string }[]} */
  const blocks = []
  let isCode = false
  let isOpen = false
  let before = ''
  for (const [index, line] of text.split('\n').entries()) {
    const block = { line: index + 1, text: line, level: 0 }
    const level = /^(#{1,6}) /.exec(line)?.[1].length ?? 0
    if (FENCE.test(line)) {
      isCode = !isCode
      isOpen = false
    } else if (isCode) blocks.push({ ...block, before })
    else if (!line.trim()) isOpen = false
    else {
      const last = blocks.at(-1)
      if (isOpen && last && !level && !/^ *(?:[-*]|\d+\.|\|) /.test(line)) last.text += `\n${line}`
      else blocks.push({ ...block, level })
      before = blocks.at(-1)?.text ?? ''
      isOpen = !level
    }
  }
  return blocks
}

/**
 * Returns the uses of names outside of what is marked, with their lines.
 * @param {string} text of a document
 * @returns {{ line: number, use: string, where: string }[]}
 */
export function unmarkedNames(text) {
  const found = []
  /** @type {{ level: number, isMarked: boolean }[]} the section of a block and those around it */
  const sections = []
  const blocks = blocksOf(text)
  for (const [index, { line, text: block, level, before = '' }] of blocks.entries()) {
    let isMarked = MARK.test(block) || MARK.test(before)
    if (level) {
      const next = blocks[index + 1]
      isMarked ||= next?.level === 0 && next.before === undefined && MARK.test(next.text)
      while ((sections.at(-1)?.level ?? 0) >= level) sections.pop()
      sections.push({ level, isMarked })
    }
    if (isMarked || sections.some((section) => section.isMarked)) continue
    for (const { where, uses } of NAMES) {
      for (const match of block.matchAll(uses)) {
        const lines = block.slice(0, match.index).split('\n').length - 1
        found.push({ line: line + lines, use: match[0].replace(/\s+/g, ' '), where })
      }
    }
  }
  return found
}
