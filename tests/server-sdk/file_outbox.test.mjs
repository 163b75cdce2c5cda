// The outbox in a file: what survives, what is dropped, and who may use it.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'

import { FileOutbox } from '../../sdk/js/src/file-outbox.js'
import { Client, ClosedError, OutboxFullError } from '../../sdk/js/src/index.js'

const AT = '2026-11-20T08:00:00.000Z'
const HEADER = '{"format":"activity-rank-outbox","version":1}\n'
const activity = (number) => ({ user: '42', action: 'like', target: `post-${number}`, at: AT })
const activities = (count) => Array.from({ length: count }, (_, number) => activity(number))

/** Returns the path of a new file. */
function newPath(t) {
  const folder = mkdtempSync(join(tmpdir(), 'outbox-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'outbox')
}

/** Opens an outbox that is closed when the test ends. */
async function open(t, path, options = {}) {
  const outbox = await FileOutbox.open(path, options)
  t.after(() => outbox.close())
  return outbox
}

const contents = async (outbox) => (await outbox.peek(1e6)).map(({ activity }) => activity)
const append = (outbox, all) => Promise.all(all.map((activity) => outbox.append(activity)))

it('entries survive reopening in order', async (t) => {
  const path = newPath(t)
  const outbox = await open(t, path)
  await append(outbox, activities(5))
  const [first, , third] = await outbox.peek(3)
  await outbox.remove([first.id, third.id])
  assert.deepEqual(await contents(outbox), [activity(1), activity(3), activity(4)])
  await outbox.close()
  const reopened = await open(t, path)
  assert.deepEqual(await contents(reopened), [activity(1), activity(3), activity(4)])
  await reopened.append(activity(5))
  assert.deepEqual(await contents(reopened), [activity(1), activity(3), activity(4), activity(5)])
})

it('file is private, of an earlier release too', async (t) => {
  const [path, earlier] = [newPath(t), newPath(t)]
  writeFileSync(earlier, HEADER)
  chmodSync(earlier, 0o644)
  for (const file of [path, earlier]) {
    await open(t, file)
    assert.equal(statSync(file).mode & 0o777, 0o600, file)
  }
})

it('symbolic link and folder are refused', async (t) => {
  const path = newPath(t)
  const victim = `${path}.victim`
  writeFileSync(victim, '')
  symlinkSync(victim, path)
  await assert.rejects(FileOutbox.open(path), { message: `${path} is a symbolic link: use the path of the file.` })
  assert.equal(readFileSync(victim, 'utf8'), '')
  assert.deepEqual(readdirSync(join(path, '..')).toSorted(), ['outbox', 'outbox.victim'])
  await assert.rejects(FileOutbox.open('/dev/null'), { message: '/dev/null is not a file: use another path.' })
})

/** Whoever may write to the folder could have the activities written to any file. */
it('compaction follows no symbolic link', async (t) => {
  const path = newPath(t)
  const outbox = await open(t, path, { compactAbove: 0 })
  const victim = `${path}.victim`
  writeFileSync(victim, 'a file', { mode: 0o644 })
  symlinkSync(victim, `${path}.new`)
  await append(outbox, activities(5))
  await outbox.remove((await outbox.peek(4)).map(({ id }) => id))
  assert.equal(readFileSync(victim, 'utf8'), 'a file')
  assert.deepEqual(
    readdirSync(join(path, '..'))
      .filter((name) => !name.includes('lock'))
      .toSorted(),
    ['outbox', 'outbox.victim'],
  )
  assert.equal(statSync(path).mode & 0o777, 0o600)
  await outbox.close()
  assert.deepEqual(await contents(await open(t, path)), [activity(4)])
})

it('activity that JSON cannot represent is refused', async (t) => {
  const outbox = await open(t, newPath(t))
  await assert.rejects(outbox.append(/** @type {any} */ ({ ...activity(1), user: 7n })), TypeError)
  await outbox.append(activity(2))
  assert.deepEqual(await contents(outbox), [activity(2)])
})

it('each outbox of a folder has its own file', async (t) => {
  const path = newPath(t)
  const outboxes = await Promise.all(Array.from({ length: 6 }, () => FileOutbox.openFolder(path)))
  await Promise.all(outboxes.map((outbox, number) => outbox.append(activity(number))))
  for (const outbox of outboxes) assert.equal((await outbox.peek(9)).length, 1)
  assert.equal(statSync(path).mode & 0o777, 0o700)
  await Promise.all(outboxes.map((outbox) => outbox.close()))
})

it('outbox of a folder has what others left', async (t) => {
  const path = newPath(t)
  const [first, second, third] = [
    await FileOutbox.openFolder(path),
    await FileOutbox.openFolder(path),
    await FileOutbox.openFolder(path),
  ]
  await Promise.all([first, second, third].map((outbox, number) => outbox.append(activity(number))))
  await first.close()
  await third.close()
  const next = await FileOutbox.openFolder(path)
  assert.deepEqual(await contents(next), [activity(0), activity(2)])
  assert.deepEqual(await contents(second), [activity(1)])
  await next.close()
  await second.close()
  const last = await FileOutbox.openFolder(path)
  assert.deepEqual(await contents(last), [activity(0), activity(2), activity(1)])
  assert.deepEqual(
    readdirSync(path)
      .filter((name) => !name.includes('lock'))
      .toSorted(),
    ['1.outbox', '2.outbox', '3.outbox'],
  )
  await last.close()
})

it('every cut of the file keeps the whole records', async (t) => {
  const path = newPath(t)
  const outbox = await open(t, path)
  for (const entry of activities(3)) await outbox.append({ ...entry, target: 'Grüße' })
  await outbox.close()
  const whole = readFileSync(path)
  const ends = [...whole.entries()].filter(([, byte]) => byte === 10).map(([index]) => index + 1)
  for (let length = 0; length <= whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length))
    const outbox = await FileOutbox.open(path)
    const records = ends.filter((end) => end <= length).length
    assert.equal((await contents(outbox)).length, Math.max(0, records - 1), `${length} bytes`)
    await outbox.append(activity(9))
    await outbox.close()
    const reopened = await FileOutbox.open(path)
    assert.equal((await contents(reopened)).length, Math.max(0, records - 1) + 1, `${length} bytes`)
    await reopened.close()
  }
})

/** After a power failure, the end that was not synced may be anything. */
it('garbage at the end is dropped', async (t) => {
  const path = newPath(t)
  const outbox = await open(t, path)
  await append(outbox, activities(2))
  await outbox.close()
  const size = statSync(path).size
  appendFileSync(path, Buffer.concat([Buffer.alloc(100), Buffer.from('\n{"id":3,"acti\n\0\0')]))
  const reopened = await open(t, path)
  assert.deepEqual(await contents(reopened), activities(2))
  await reopened.append(activity(2))
  assert.deepEqual(readFileSync(path, 'utf8').slice(size), `${JSON.stringify({ id: 3, activity: activity(2) })}\n`)
})

it('damage before accepted entries is an error', async (t) => {
  const path = newPath(t)
  writeFileSync(path, `${HEADER}{"id":1,\n${JSON.stringify({ id: 2, activity: activity(2) })}\n`)
  await assert.rejects(FileOutbox.open(path), { message: `${path} is damaged in line 2: correct or remove that line.` })
  writeFileSync(path, HEADER)
  await open(t, path)
})

it('other files are left alone', async (t) => {
  const path = newPath(t)
  for (const text of ['a line', 'a line\nanother\n', '{"a":1}\n', '[]\n', 'null\n']) {
    writeFileSync(path, text)
    await assert.rejects(FileOutbox.open(path), { message: `${path} is not an outbox: use another path.` })
    assert.equal(readFileSync(path, 'utf8'), text)
  }
  writeFileSync(path, HEADER.replace('1', '2'))
  await assert.rejects(FileOutbox.open(path), /is an outbox of version 2/)
})

it('obsolete records are removed from the file', async (t) => {
  const path = newPath(t)
  const outbox = await open(t, path, { compactAbove: 10_000 })
  let largest = 0
  for (let round = 0; round < 100; round++) {
    await append(outbox, activities(20))
    const entries = await outbox.peek(20)
    await outbox.remove(entries.map(({ id }) => id))
    largest = Math.max(largest, statSync(path).size)
  }
  assert.ok(largest < 20_000, `${largest} bytes`)
  await append(outbox, activities(3))
  await outbox.close()
  assert.deepEqual(await contents(await open(t, path)), activities(3))
})

it('appends during compaction are kept', async (t) => {
  const path = newPath(t)
  const outbox = await open(t, path, { compactAbove: 0 })
  let appended = 0
  const removed = new Set()
  const producer = async () => {
    while (appended < 500) await outbox.append(activity(appended++))
  }
  const consumer = async () => {
    while (removed.size < 400) {
      const entries = await outbox.peek(7)
      for (const { activity } of entries) {
        assert.ok(!removed.has(activity.target), activity.target)
        removed.add(activity.target)
      }
      await outbox.remove(entries.map(({ id }) => id))
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await Promise.all([producer(), producer(), producer(), consumer()])
  const left = await contents(outbox)
  await outbox.close()
  assert.equal(left.length + removed.size, appended)
  assert.deepEqual(await contents(await open(t, path)), left)
})

/** Replaces a method of all open files until the test ends. */
async function replaceMethod(t, name, replacement) {
  const handle = await openFile(import.meta.filename)
  const methods = Object.getPrototypeOf(handle)
  await handle.close()
  t.mock.method(methods, name, replacement(methods[name]))
}

it('appends at the same time share a sync', async (t) => {
  const outbox = await open(t, newPath(t))
  let syncs = 0
  await replaceMethod(
    t,
    'sync',
    (sync) =>
      function () {
        syncs++
        return sync.call(this)
      },
  )
  await append(outbox, activities(1000))
  assert.equal(syncs, 1)
  assert.deepEqual(await contents(outbox), activities(1000))
})

/** As on a full disk: a part of the record is written. */
it('failed write leaves no trace', async (t) => {
  const path = newPath(t)
  const outbox = await open(t, path)
  await outbox.append(activity(0))
  await replaceMethod(
    t,
    'write',
    (write) =>
      async function (bytes) {
        await write.call(this, bytes.subarray(0, 20))
        throw new Error('no space')
      },
  )
  await assert.rejects(outbox.append(activity(1)), { message: 'no space' })
  t.mock.restoreAll()
  await outbox.append(activity(2))
  await outbox.close()
  assert.deepEqual(await contents(await open(t, path)), [activity(0), activity(2)])
})

/** The disk may have lost what it was to sync. */
it('failed sync rejects and leaves no trace', async (t) => {
  const path = newPath(t)
  const outbox = await open(t, path)
  await replaceMethod(t, 'sync', () => async () => {
    throw new Error('input/output error')
  })
  await assert.rejects(outbox.append(activity(1)), { message: 'input/output error' })
  t.mock.restoreAll()
  assert.deepEqual(await contents(outbox), [])
  await outbox.append(activity(2))
  await outbox.close()
  assert.deepEqual(await contents(await open(t, path)), [activity(2)])
})

it('full outbox and closed outbox reject', async (t) => {
  const outbox = await open(t, newPath(t), { limit: 3 })
  const results = await Promise.allSettled(activities(4).map((activity) => outbox.append(activity)))
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled', 'rejected'],
  )
  assert.ok(/** @type {PromiseRejectedResult} */ (results[3]).reason instanceof OutboxFullError)
  await outbox.close()
  await assert.rejects(outbox.append(activity(1)), ClosedError)
})

it('second user of a file is refused', async (t) => {
  const path = newPath(t)
  const outbox = await open(t, path)
  await outbox.append(activity(1))
  await assert.rejects(FileOutbox.open(path), /is in use: each process needs a file of its own/)
  await outbox.append(activity(2))
  await outbox.close()
  const reopened = await open(t, path)
  assert.deepEqual(await contents(reopened), [activity(1), activity(2)])
})

it('lock ends with its process', async (t) => {
  const path = newPath(t)
  const child = fork(new URL('crash_child.mjs', import.meta.url), [path, 'http://127.0.0.1:1', 'a-key'])
  t.after(() => child.kill('SIGKILL'))
  await once(child, 'message')
  await assert.rejects(FileOutbox.open(path), /is in use/)
  child.kill('SIGKILL')
  await once(child, 'exit')
  // Of several attempts at once, one succeeds.
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => FileOutbox.open(path)))
  const opened = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  assert.equal(opened.length, 1)
  await opened[0].close()
  assert.deepEqual(readdirSync(join(path, '..')), ['outbox'])
})

it('path that cannot be locked or opened is an error', async (t) => {
  await assert.rejects(FileOutbox.open(`${newPath(t)}${'x'.repeat(120)}`), RangeError)
  await assert.rejects(FileOutbox.open(join(newPath(t), 'missing', 'outbox')), { code: 'ENOENT' })
})

it('close leaves the rest while the service fails', async (t) => {
  const path = newPath(t)
  const client = new Client({
    url: 'http://127.0.0.1:1',
    outbox: await FileOutbox.open(path),
    // Longer than any test.
    retry: { baseDelay: 3_600_000, maxDelay: 3_600_000 },
    onError: () => {},
  })
  await client.track(activity(1))
  assert.equal(await client.close(), false)
  assert.deepEqual(await contents(await open(t, path)), [activity(1)])
})
