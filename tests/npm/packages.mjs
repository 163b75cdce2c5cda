// The npm packages of this checkout, packed once for all files that scripts/test-node runs.

import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { eventually } from '../sdk/eventually.mjs'
import { scaled } from '../sdk/slowness.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

/** Returns the paths of the packed packages, as of a release by someone/somewhere. */
export async function packages() {
  const folder = process.env.TEST_PACKAGES ?? mkdtempSync(join(tmpdir(), 'packages-'))
  if (!process.env.TEST_PACKAGES) process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const list = join(folder, 'packed')
  try {
    mkdirSync(join(folder, 'packing'))
    const { stdout } = await run(join(ROOT, 'scripts/pack-npm'), [folder, programs(folder)], {
      env: { ...process.env, GITHUB_REPOSITORY: 'someone/somewhere' },
    })
    writeFileSync(`${list}.new`, stdout)
    renameSync(`${list}.new`, list)
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    await eventually(() => existsSync(list), true, scaled(300_000))
  }
  return readFileSync(list, 'utf8').trim().split('\n')
}

/** Returns a folder with the compiled programs, without their symbols, which take seconds to compress. */
function programs(folder) {
  const stripped = join(folder, 'programs')
  mkdirSync(stripped)
  for (const name of ['redis-rest', 'activity-rank'])
    execFileSync('strip', ['-o', join(stripped, name), join(ROOT, 'target/debug', name)])
  return stripped
}
