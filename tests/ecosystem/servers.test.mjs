// The functions of docs/servers.md in PHP and Go against the Worker.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'

import { blocksOf, run } from '../recipes/commands.mjs'
import { JWT_SECRET, KEY, startApp } from '../server-sdk/support.mjs'

const DOCUMENT = 'docs/servers.md'

let app
before(async () => {
  // A cached board would lack the activity that was just sent.
  app = await startApp({ vars: { BOARD_MAX_AGE: 0 } })
})
after(() => app?.stop())

const LANGUAGES = [
  {
    language: 'php',
    files: ['activity_rank.php', 'main.php'],
    check: 'php -l activity_rank.php && php -l main.php',
    command: 'php main.php',
  },
  {
    language: 'go',
    files: ['activityrank/activityrank.go', 'main.go'],
    check: 'printf "module example.com/shop\\n\\ngo 1.19\\n" > go.mod && go vet ./... && test -z "$(gofmt -l .)"',
    command: 'go run .',
  },
]

/** Writes the examples of a language into a folder. Returns a function that runs them. */
async function write(t, { language, files, check, command }) {
  const folder = mkdtempSync(join(tmpdir(), `${language}-`))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const blocks = blocksOf(DOCUMENT, language)
  assert.equal(blocks.length, files.length)
  mkdirSync(join(folder, 'activityrank'))
  for (const [index, file] of files.entries()) writeFileSync(join(folder, file), blocks[index])
  const user = `${language}-member`
  // Each language has a user of its own.
  writeFileSync(join(folder, files[1]), blocks[1].replaceAll('42', user).replaceAll('post-7', `post-${language}`))
  const checked = await run(check, {}, folder)
  assert.equal(checked.status, 0, checked.output)
  const env = { ACTIVITY_RANK_URL: app.url, ACTIVITY_RANK_KEY: KEY, JWT_SECRET }
  return { user, run: (values = {}) => run(command, { ...env, ...values }, folder) }
}

it('php function returns an array without a body', async (t) => {
  const command = `php -r 'require "activity_rank.php"; echo json_encode(activity_rank("DELETE", "/v1/users/x"));'`
  const { stdout, output } = await (await write(t, { ...LANGUAGES[0], command })).run()
  assert.equal(stdout, '[]', output)
})

for (const language of LANGUAGES) {
  it(`${language.language} functions call the service`, async (t) => {
    const program = await write(t, language)
    for (const first of ['counted: 2 points', 'duplicate: 0 points', 'duplicate: 0 points']) {
      const { status, stdout, output } = await program.run()
      assert.equal(status, 0, output)
      const lines = stdout.trim().split('\n')
      assert.equal(lines[0], first)
      assert.ok(
        lines.slice(1, -1).some((line) => /^\d\. /.test(line) && line.endsWith(`${program.user}: 2`)),
        output,
      )
      // The token permits requests about its user alone.
      const history = (user) =>
        fetch(`${app.url}/v1/users/${user}/activity`, { headers: { authorization: `Bearer ${lines.at(-1)}` } })
      assert.deepEqual([(await history(program.user)).status, (await history('other')).status], [200, 403])
    }
    assert.equal(await app.score(program.user), 2)
  })

  it(`${language.language} error of a refused request has no key`, async (t) => {
    const program = await write(t, language)
    const { status, output } = await program.run({ ACTIVITY_RANK_KEY: 'wrong-key' })
    assert.notEqual(status, 0)
    assert.match(output, /401/)
    assert.ok(!output.includes('wrong-key'))
  })
}
