// The plugin in a real WordPress: what members do there is counted, and pages show the board.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, it } from 'node:test'

import { blocksOf, replace, run } from '../recipes/commands.mjs'
import { LOSE_RESPONSE, problem, startProxy } from '../server-sdk/support.mjs'
import { eventually, names, startApp } from '../web/support.mjs'
import { installWordpress, PASSWORD } from './wordpress.mjs'

const JWT_SECRET = 'a test secret that is longer than 32 bytes'
const README = 'recipes/wordpress/README.md'

let app
let proxy
let site
let fault = (..._) => /** @type {any} */ (undefined)
before(async () => {
  app = await startApp({ vars: { CONTENT_PERIODS: 'all', ALLOWED_ORIGINS: 'http://127.0.0.1:*' } })
  proxy = await startProxy(app, (request) => fault(request))
  const [configuration] = blocksOf(README, 'php')
  site = await installWordpress(
    replace(configuration, {
      'https://activity-rank.example.com': proxy.url,
      'a service key': app.serviceKey,
      'JWT_SECRET of the deployment': JWT_SECRET,
    }),
  )
  const copy = replace(blocksOf(README, 'sh').join(''), { '/var/www/html': site.folder })
  assert.equal((await run(copy)).status, 0)
  assert.ok(readdirSync(join(site.folder, 'wp-content/plugins')).includes('activity-rank.php'))
  assert.equal(await site.php("return activate_plugin('activity-rank.php');"), null)
  // The installation wrote a post before the plugin was active.
  assert.deepEqual(await waiting(), [])
})
after(async () => {
  await site?.stop()
  await proxy?.stop()
  await app?.stop()
})

/** Returns the activities that wait, without their instants. */
const waiting = async () =>
  (await site.php('global $wpdb; return $wpdb->get_col("SELECT activity FROM wp_activity_rank_outbox ORDER BY id");'))
    .map((text) => JSON.parse(text))
    .map(({ at, ...activity }) => activity)

let users = 0
/** Creates a user and returns the id as text. */
async function newUser(role = 'author') {
  const login = `member${++users}`
  const data = {
    user_login: login,
    user_pass: PASSWORD,
    display_name: `Member ${users}`,
    role,
    user_url: 'https://example.com/',
  }
  return String(await site.php(`return wp_insert_user(json_decode('${JSON.stringify(data)}', true));`))
}

const newPost = (author, fields = '') =>
  site.php(`return wp_insert_post(['post_author' => ${author}, 'post_title' => 'Notes &amp; sketches', 'post_content' => 'x',
    'post_status' => 'publish', ${fields}]);`)

const newComment = (user, post, fields = '') =>
  site.php(`return wp_insert_comment(['comment_post_ID' => ${post}, 'user_id' => ${user}, 'comment_content' => 'Indeed',
    'comment_approved' => 1, ${fields}]);`)

/** Sends the outbox. */
async function send() {
  await site.php("return wp_schedule_single_event(time() - 1, 'activity_rank_send');")
  await site.cron()
}

it('post counts, with profile and target', async () => {
  const user = await newUser()
  const post = await newPost(user)
  await send()
  assert.deepEqual([await waiting(), await app.score(user)], [[], 10])
  const { id, name, avatar, url } = await app.request('GET', `/v1/users/${user}`)
  assert.deepEqual([id, name, url], [user, `Member ${users}`, 'https://example.com/'])
  assert.match(avatar ?? 'https://', /^https:/)
  assert.deepEqual(await app.request('GET', `/v1/targets/post-${post}`), {
    id: `post-${post}`,
    title: 'Notes & sketches',
    author: user,
  })
})

it('activity sent three times counts once', async () => {
  const [author, user] = [await newUser(), await newUser('subscriber')]
  const post = await newPost(author)
  await send()
  const comment = await newComment(user, post)
  // The first two requests are counted, and their responses are lost.
  let sent = 0
  fault = ({ url }) => (url === '/v1/activity' && ++sent <= 2 ? LOSE_RESPONSE : undefined)
  const expected = [{ user, action: 'comment', target: `comment-${comment}`, on: `post-${post}` }]
  for (const left of [expected, expected, []]) {
    await send()
    assert.deepEqual(await waiting(), left)
  }
  fault = () => undefined
  assert.equal(sent, 3)
  assert.equal(await app.score(user), 3)
  assert.equal((await app.request('GET', `/v1/authors/all/users/${author}`)).score, 3)
})

for (const [name, code] of [
  ['unapproved', "return wp_set_comment_status($id, 'hold');"],
  ['spam', 'return wp_spam_comment($id);'],
  ['trashed', 'return wp_trash_comment($id);'],
  ['deleted', 'return wp_delete_comment($id, true);'],
]) {
  it(`${name} comment loses its points`, async () => {
    const user = await newUser('subscriber')
    const comment = await newComment(user, 1)
    await site.php(`$id = ${comment}; ${code}`)
    await send()
    assert.deepEqual([await waiting(), await app.score(user)], [[], 0])
  })
}

it('approved comment counts again', async () => {
  const user = await newUser('subscriber')
  const comment = await newComment(user, 1, "'comment_approved' => 0")
  assert.deepEqual(await waiting(), [])
  for (const [status, score] of [
    ['approve', 3],
    ['hold', 0],
    ['approve', 3],
  ]) {
    await site.php(`return wp_set_comment_status(${comment}, '${status}');`)
    await send()
    assert.equal(await app.score(user), score)
  }
})

for (const [name, code] of [
  ['draft', "return wp_update_post(['ID' => $id, 'post_status' => 'draft']);"],
  ['trashed post', 'return (bool) wp_trash_post($id);'],
  ['deleted post', 'return (bool) wp_delete_post($id, true);'],
]) {
  it(`${name} loses its points`, async () => {
    const user = await newUser()
    const post = await newPost(user)
    await site.php(`$id = ${post}; ${code}`)
    await send()
    assert.deepEqual([await waiting(), await app.score(user)], [[], 0])
  })
}

it('edited post stays as it is', async () => {
  const post = await newPost(await newUser())
  await send()
  await site.php(`return wp_update_post(['ID' => ${post}, 'post_title' => 'Another title']);`)
  assert.deepEqual(await waiting(), [])
})

it('like of WP ULike counts, and its undo', async () => {
  const user = await newUser('subscriber')
  const like = (status, id = user) =>
    site.php(`wp_set_current_user(${user}); do_action('wp_ulike_after_process', 1, '_liked', ${id}, '${status}');`)
  await like('like')
  await send()
  assert.equal(await app.score(user), 2)
  await like('unlike')
  await send()
  assert.equal(await app.score(user), 0)
  // The number of a visitor who is not signed in.
  await like('like', '2130706433')
  assert.deepEqual(await waiting(), [])
})

it('other plugins count by the action of the document', async () => {
  const user = await newUser('subscriber')
  const [, example] = blocksOf(README, 'php')
  await site.php(`$user_id = ${user}; ${example}`)
  await send()
  assert.equal(await app.score(user), 2)
})

for (const [name, fields] of [
  ['guest', "'user_id' => 0"],
  ['pingback', "'comment_type' => 'pingback'"],
]) {
  it(`comment of a ${name} is not counted`, async () => {
    await newComment(await newUser('subscriber'), 1, fields)
    assert.deepEqual(await waiting(), [])
  })
}

it('page is not counted', async () => {
  await newPost(await newUser(), "'post_type' => 'page'")
  assert.deepEqual(await waiting(), [])
})

it('outage loses nothing, and is reported', async () => {
  const user = await newUser()
  await newPost(user)
  fault = () => problem(503)
  await send()
  fault = () => undefined
  assert.equal((await waiting()).length, 1)
  const page = await site.php('ob_start(); ActivityRank\\settings_page(); return ob_get_clean();')
  assert.match(page, /503 An injected fault\./)
  assert.match(page, /1 activities are waiting/)
  assert.ok(!page.includes(app.serviceKey))
  // The hourly event sends it.
  await site.php(
    "wp_clear_scheduled_hook('activity_rank_retry'); return wp_schedule_event(time() - 1, 'hourly', 'activity_rank_retry');",
  )
  await site.cron()
  assert.deepEqual([await waiting(), await app.score(user)], [[], 10])
  assert.equal(await site.php("return get_option('activity_rank_error');"), '')
})

it('choices of a member stay in the profile', async () => {
  const user = await newUser()
  await app.request('PUT', `/v1/users/${user}`, { public_activity: true })
  await newPost(user)
  await send()
  const { name, public_activity } = await app.request('GET', `/v1/users/${user}`)
  assert.deepEqual([name, public_activity], [`Member ${users}`, true])
})

for (const [value, stored] of [
  ['https://rank.example.com/', 'https://rank.example.com'],
  ['http://rank.example.com', ''],
  ['javascript:alert(1)', ''],
]) {
  it(`address ${value} is ${stored ? 'stored' : 'refused'}`, async () => {
    assert.equal(await site.php(`return ActivityRank\\checked_url('${value}');`), stored)
  })
}

it('key that no header can contain is refused', async () => {
  const checked = (key) => site.php(`return ActivityRank\\checked_key(${JSON.stringify(key)});`)
  assert.deepEqual([await checked(' key-1 '), await checked('a\nb'), await checked('')], ['key-1', '', ''])
})

it('attributes of the shortcode are escaped', async () => {
  const html = await site.php(
    `return do_shortcode("[activity_rank period='week' onclick='x' group='a\\"b']<b>Members</b><script>x</script>[/activity_rank]");`,
  )
  assert.equal(html, '<activity-rank period="week" group="a&quot;b"><b>Members</b>x</activity-rank>')
})

it('widget shows the board', async () => {
  const html = await site.php(
    `$instance = (new ActivityRank\\Widget())->update(['title' => ' <b>Members</b>', 'period' => 'never', 'limit' => 500], []);
    ob_start();
    the_widget('ActivityRank\\Widget', $instance, ['before_widget' => '', 'after_widget' => '']);
    return ob_get_clean();`,
  )
  assert.equal(html, '<h2 class="widgettitle">Members</h2><activity-rank period="week" limit="100"></activity-rank>')
})

it('page shows the board and counts a visit', async (t) => {
  // The proxy has no CORS headers.
  const file = join(site.folder, 'wp-config.php')
  writeFileSync(file, replace(readFileSync(file, 'utf8'), { [proxy.url]: app.url }))
  await site.serve()
  const user = await newUser('subscriber')
  const login = `member${users}`
  const [shortcode] = blocksOf(README, 'text')
  const post = await newPost(1, `'post_type' => 'page', 'post_content' => '${shortcode.trim()}'`)
  await app.count([{ user, action: 'publish', target: 'elsewhere' }])
  const path = `${site.url}/?page_id=${post}`
  const page = await app.visit(t, `${site.url}/wp-login.php?redirect_to=${encodeURIComponent(path)}`)
  await page.fill('#user_login', login)
  await page.fill('#user_pass', PASSWORD)
  await page.click('#wp-submit')
  await page.waitForURL(path)
  await eventually(async () => (await names(page)).length > 0, true)
  assert.equal(await page.locator('activity-rank').getAttribute('user'), user)
  await eventually(() => app.score(user), 11)
  const visitor = await app.visit(t, path)
  await eventually(async () => (await names(visitor)).length > 0, true)
  assert.equal(await visitor.locator('activity-rank').getAttribute('user'), null)
  assert.equal((await fetch(`${site.url}/?rest_route=/activity-rank/v1/token`)).status, 401)
})

it('removed plugin leaves nothing', async () => {
  await site.php("deactivate_plugins('activity-rank.php'); return null;")
  assert.equal(await site.php("return wp_next_scheduled('activity_rank_retry');"), false)
  await site.php(`require WP_PLUGIN_DIR . '/activity-rank.php'; ActivityRank\\uninstall(); return null;`)
  assert.equal(await site.php(`global $wpdb; return $wpdb->get_var("SHOW TABLES LIKE '%activity_rank%'");`), null)
})
