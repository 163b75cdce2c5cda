// The files for browsers follow the files of the checkout.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'

import { developmentFiles } from '../../npm/dev/web.mjs'
import { eventually } from '../sdk/eventually.mjs'

/** Starts to watch a folder `web` with a page and `page/a.js`. Returns functions that write to it and read what is served. */
async function start(t) {
  const root = mkdtempSync(join(tmpdir(), 'web-'))
  t.after(() => rmSync(root, { recursive: true }))
  const [from, to] = ['web', 'served'].map((name) => join(root, name))
  const write = (path, text) => writeFileSync(join(from, path), text)
  mkdirSync(join(from, 'page'), { recursive: true })
  mkdirSync(to)
  write('try.html', '')
  write('page/a.js', '1')
  await developmentFiles(to, 'secret', async (folder) => cpSync(from, folder, { recursive: true }), from)
  const served = (path) => {
    try {
      return readFileSync(join(to, path), 'utf8')
    } catch {
      return null
    }
  }
  return { from, write, served }
}

/** As git and many editors do it: the new file has another inode. */
it('replaced file is served, also the second time', async (t) => {
  const { from, write, served } = await start(t)
  for (const text of ['2', '3', '4']) {
    write('page/new', text)
    renameSync(join(from, 'page/new'), join(from, 'page/a.js'))
    await eventually(() => served('page/a.js'), text)
  }
  write('page/a.js', '5')
  await eventually(() => served('page/a.js'), '5')
})

/** As git does it when it checks out another branch and this one again. */
it('file of a replaced folder is served', async (t) => {
  const { from, write, served } = await start(t)
  for (const text of ['2', '3']) {
    rmSync(join(from, 'page'), { recursive: true })
    mkdirSync(join(from, 'page'))
    write('page/a.js', text)
    await eventually(() => served('page/a.js'), text)
    write('page/a.js', `${text} again`)
    await eventually(() => served('page/a.js'), `${text} again`)
  }
})

it('file of a new folder is served', async (t) => {
  const { from, write, served } = await start(t)
  mkdirSync(join(from, 'new/deep'), { recursive: true })
  write('new/deep/b.js', '1')
  await eventually(() => served('new/deep/b.js'), '1')
  write('new/deep/b.js', '2')
  await eventually(() => served('new/deep/b.js'), '2')
})
