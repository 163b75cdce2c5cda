// The plugin in a real WordPress: what members do there is counted, and pages show the board.

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'

import { blocksOf, replace, run } from '../recipes/commands.mjs'
import { ROOT } from '../recipes/support.mjs'
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
  site = await installWordpress(configuration())
  await copyPlugin(site)
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

/** Returns the constants of the document. */
function configuration() {
  const [constants] = blocksOf(README, 'php')
  return replace(constants, {
    'https://activity-rank.example.com': proxy.url,
    'a service key': app.serviceKey,
    'JWT_SECRET of the deployment': JWT_SECRET,
  })
}

/** Runs the command of the document. */
async function copyPlugin({ folder }) {
  const copy = replace(blocksOf(README, 'sh').join(''), { '/var/www/html': folder })
  assert.equal((await run(copy)).status, 0)
}

/** Returns the activities that wait, without their instants. */
const waiting = async () =>
  (await site.php('global $wpdb; return $wpdb->get_col("SELECT activity FROM wp_activity_rank_outbox ORDER BY id");'))
    .map((text) => JSON.parse(text))
    .map(({ at, ...activity }) => activity)

let users = 0
/** Creates a user and returns the id as text. */
async function newUser(role = 'author', fields = {}) {
  const login = `member${++users}`
  const data = {
    user_login: login,
    user_pass: PASSWORD,
    display_name: `Member ${users}`,
    role,
    user_url: 'https://example.com/',
    ...fields,
  }
  return String(await site.php(`return wp_insert_user(json_decode('${JSON.stringify(data)}', true));`))
}

const newPost = (author, fields = '') =>
  site.php(`return wp_insert_post(['post_author' => ${author}, 'post_title' => 'Notes &amp; sketches', 'post_content' => 'x',
    'post_status' => 'publish', ${fields}]);`)

const newComment = (user, post, fields = '') =>
  site.php(`return wp_insert_comment(['comment_post_ID' => ${post}, 'user_id' => ${user}, 'comment_content' => 'Indeed',
    'comment_approved' => 1, ${fields}]);`)

/** Returns a registered post, or nothing. */
async function targetOf(post) {
  const response = await fetch(`${app.url}/v1/targets/post-${post}`)
  return response.status === 404 ? undefined : await response.json()
}

/** Returns the ids and scores of a board of all time. */
async function board(name) {
  const { entries } = await app.request('GET', `/v1/${name}/all?limit=100`)
  return entries.map(({ target, score }) => ({ id: target.id, score }))
}

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
  const standing = () => app.request('GET', `/v1/authors/all/users/${author}`)
  await eventually(async () => (await standing()).score, 3)
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

it('refused member id keeps no other activity back', async () => {
  const [refused, user] = [await newUser(), await newUser()]
  await site.php(`add_filter('activity_rank_user', fn ($id) => $id === '${refused}' ? 'a member/of staff' : $id);
    foreach ([${refused}, ${user}] as $id) wp_insert_post(['post_author' => $id, 'post_title' => 'x', 'post_status' => 'publish']);`)
  assert.equal((await waiting()).length, 2)
  await site.php(`add_filter('activity_rank_user', fn ($id) => $id === '${refused}' ? 'a member/of staff' : $id);
    ActivityRank\\send();`)
  assert.deepEqual([await waiting(), await app.score(user)], [[], 10])
  assert.equal(await site.php("return get_option('activity_rank_error');"), '')
})

it('activity that is unavailable for now stays', async () => {
  const user = await newUser()
  await newPost(user)
  const error = { type: '/problems/store-unavailable', title: 'Unavailable', status: 503, detail: 'Later.' }
  fault = ({ url }) =>
    url === '/v1/activity' ? { status: 200, body: JSON.stringify({ results: [{ error }] }) } : undefined
  await send()
  fault = () => undefined
  assert.equal((await waiting()).length, 1)
  assert.equal(await site.php("return get_option('activity_rank_error');"), 'POST /v1/activity: 503 Later.')
  await send()
  assert.deepEqual([await waiting(), await app.score(user)], [[], 10])
})

for (const id of ['0', 'constructor', '..']) {
  it(`member id ${id} is one like any other`, async () => {
    const user = await newUser()
    await site.php(`add_filter('activity_rank_user', fn () => '${id}');
      $GLOBALS['wpdb']->update($GLOBALS['wpdb']->users, ['display_name' => '0'], ['ID' => ${user}]);
      clean_user_cache(${user});
      wp_insert_post(['post_author' => ${user}, 'post_title' => '0', 'post_content' => 'x', 'post_status' => 'publish']);
      ActivityRank\\send();`)
    assert.deepEqual(await waiting(), [])
    if (id === '..') return
    assert.equal(await app.score(id), 10)
    assert.equal((await app.request('GET', `/v1/users/${id}`)).name, '0')
    const { entries } = await app.request('GET', `/v1/users/${id}/targets`)
    assert.equal(entries[0].target.title, '0')
  })
}

for (const status of ['trashed', 'deleted']) {
  it(`comment of a ${status} post loses its points`, async () => {
    const [author, user, spammer] = [await newUser(), await newUser('subscriber'), await newUser('subscriber')]
    const post = await newPost(author)
    await newComment(user, post)
    await newComment(spammer, post, "'comment_approved' => 'spam'")
    await site.php(`return (bool) wp_trash_post(${post});`)
    if (status === 'deleted') await site.php(`return (bool) wp_delete_post(${post});`)
    await send()
    assert.deepEqual([await app.score(user), await app.score(author), await app.score(spammer)], [0, 0, 0])
  })
}

it('comment of a restored post counts again', async () => {
  const user = await newUser('subscriber')
  const post = await newPost(await newUser())
  await newComment(user, post)
  await site.php(`wp_trash_post(${post}); return (bool) wp_untrash_post(${post});`)
  await send()
  assert.deepEqual([await waiting(), await app.score(user)], [[], 3])
})

it('post keeps its points when it gets another author', async () => {
  const [user, heir] = [await newUser(), await newUser()]
  const post = await newPost(user)
  await send()
  await site.php(`wp_update_post(['ID' => ${post}, 'post_author' => ${heir}]);`)
  await send()
  assert.deepEqual([await waiting(), await app.score(user), await app.score(heir)], [[], 0, 10])
})

it('deleted user is erased, posts count for the heir', async () => {
  const [user, heir] = [await newUser(), await newUser()]
  await newPost(user)
  await newComment(user, 1)
  await send()
  assert.equal(await app.score(user), 13)
  await site.php(`wp_delete_user(${user}, ${heir});`)
  await send()
  assert.deepEqual([await waiting(), await app.score(user), await app.score(heir)], [[], 0, 10])
  const response = await fetch(`${app.url}/v1/users/${user}`)
  assert.equal(response.status, 404)
})

it('key without a scope leaves a deleted user', async () => {
  const user = await newUser()
  await newPost(await newUser())
  fault = ({ method }) => (method === 'DELETE' ? problem(403) : undefined)
  await site.php(`wp_delete_user(${user});`)
  await send()
  fault = () => undefined
  assert.deepEqual([await waiting(), await site.php("return get_option('activity_rank_error');")], [[], ''])
})

/** Posts and comments that were written before the plugin was active. */
const writeEarlier = (author, reader) =>
  site.php(`global $wpdb;
    foreach (['2024-02-01 10:00:00', '0000-00-00 00:00:00'] as $date) {
      $wpdb->insert($wpdb->posts, ['post_author' => ${author}, 'post_title' => 'Earlier', 'post_content' => '', 'post_excerpt' => '',
        'to_ping' => '', 'pinged' => '', 'post_content_filtered' => '', 'post_status' => 'publish', 'post_date' => $date,
        'post_date_gmt' => $date]);
      $post = $wpdb->insert_id;
    }
    $wpdb->insert($wpdb->comments, ['comment_post_ID' => $post, 'user_id' => ${reader}, 'comment_author' => '', 'comment_content' => 'x',
      'comment_approved' => '1', 'comment_date_gmt' => '2024-02-02 10:00:00']);`)

it('command imports what exists once, at its time', async () => {
  const [author, reader] = [await newUser(), await newUser('subscriber')]
  await writeEarlier(author, reader)
  const command = `eval('namespace WP_CLI\\Utils { function make_progress_bar() { return new class { function tick($n) { $GLOBALS["n"] += $n; } function finish() {} }; } }
      namespace { class WP_CLI { static function success($text) { $GLOBALS["text"] = $text; } } }');
    $GLOBALS['n'] = 0; ActivityRank\\import_command(); return [$GLOBALS['n'] . ' posts and comments imported.', $GLOBALS['text']];`
  for (let time = 0; time < 2; time++) {
    const [counted, text] = await site.php(command)
    assert.match(text, /^\d+ posts and comments imported\.$/)
    assert.equal(text, counted)
    assert.deepEqual([await waiting(), await app.score(author), await app.score(reader)], [[], 20, 3])
  }
  const { entries } = await app.request('GET', `/v1/users/${reader}/points`)
  assert.deepEqual(
    entries.map(({ at, action }) => [at, action]),
    [['2024-02-02T10:00:00Z', 'comment']],
  )
})

it('button imports in the background', async () => {
  const [author, reader] = [await newUser(), await newUser('subscriber')]
  await writeEarlier(author, reader)
  const page = () => site.php('ob_start(); ActivityRank\\settings_page(); return ob_get_clean();')
  await site.php(`wp_set_current_user(1); $_REQUEST['_wpnonce'] = wp_create_nonce('activity_rank_import');
    add_filter('wp_redirect', fn () => throw new Exception('redirected'));
    try { do_action('admin_post_activity_rank_import'); } catch (Exception $redirected) {}`)
  assert.match(await page(), /<p>0 of \d+ posts and comments imported\.<\/p>/)
  assert.match(await page(), /value="Import"\s+disabled/)
  await eventually(async () => {
    await site.cron()
    return site.php('return ActivityRank\\is_importing();')
  }, false)
  await send()
  assert.deepEqual([await waiting(), await app.score(author), await app.score(reader)], [[], 20, 3])
  const [, done, total] = (await page()).match(/<p>(\d+) of (\d+) posts/) ?? []
  assert.equal(done, total)
})

it('import needs the right of an administrator', async () => {
  const user = await newUser()
  const message =
    await site.php(`wp_set_current_user(${user}); $_REQUEST['_wpnonce'] = wp_create_nonce('activity_rank_import');
    add_filter('wp_die_handler', fn () => fn ($text) => throw new Exception($text));
    try { do_action('admin_post_activity_rank_import'); } catch (Exception $died) { return $died->getMessage(); }`)
  assert.equal(message, 'You may not import.')
})

for (const [name, code] of [
  ['reassigned post', "wp_update_post(['ID' => $post, 'post_author' => $heir]);"],
  ['post of a deleted user', 'wp_delete_user($user, $heir);'],
]) {
  it(`${name} loses the points of its first author`, async () => {
    const [user, heir] = [await newUser(), await newUser()]
    const post = await newPost(user)
    await newPost(heir)
    await site.php(`$post = ${post}; $user = ${user}; $heir = ${heir}; ${code}`)
    await site.php(`return (bool) wp_trash_post(${post});`)
    await send()
    assert.deepEqual([await app.score(user), await app.score(heir)], [0, 10])
  })
}

it('undo names the id that was counted', async () => {
  const user = await newUser()
  const filter = `add_filter('activity_rank_user', fn ($id) => ($data = get_userdata($id)) ? 'wp.' . $data->user_login : '');`
  const login = `wp.member${users}`
  const post = await site.php(
    `${filter} return wp_insert_post(['post_author' => ${user}, 'post_title' => 'x', 'post_status' => 'publish']);`,
  )
  await site.php(`${filter} return wp_delete_user(${user}, 1);`)
  await site.php(`${filter} wp_delete_post(${post}, true); ActivityRank\\send();`)
  assert.deepEqual([await waiting(), await app.score(login)], [[], 0])
})

it('copied post counts by itself', async () => {
  const user = await newUser()
  const post = await newPost(user)
  await send()
  // As plugins that duplicate posts do.
  await site.php(`$copy = wp_insert_post(['post_author' => ${user}, 'post_title' => 'Copy', 'post_status' => 'draft']);
    foreach (get_post_meta(${post}) as $key => $values) update_post_meta($copy, $key, $values[0]);
    wp_publish_post($copy); return (bool) wp_trash_post(${post});`)
  await send()
  assert.equal(await app.score(user), 10)
})

it('entities of names and titles are decoded', async () => {
  const user = await newUser('author', { display_name: 'Tom & Jerry' })
  const post = await newPost(user, `'post_title' => 'Q&amp;A: a &lt; b'`)
  await send()
  assert.equal((await app.request('GET', `/v1/users/${user}`)).name, 'Tom & Jerry')
  assert.equal((await app.request('GET', `/v1/targets/post-${post}`)).title, 'Q&A: a < b')
})

it('long names and titles are cut after decoding', async () => {
  const user = await newUser('author', { display_name: `${'n'.repeat(78)} & Sons` })
  const post = await newPost(user, `'post_title' => str_repeat('t', 198) . '&amp; more'`)
  await send()
  assert.equal((await app.request('GET', `/v1/users/${user}`)).name, `${'n'.repeat(78)} &`)
  assert.equal((await app.request('GET', `/v1/targets/post-${post}`)).title, `${'t'.repeat(198)}& `.trim())
})

it('refused parts of a profile are left out', async () => {
  // The API refuses links with user information.
  const user = await newUser('author', { user_url: 'https://ada:secret@example.com/' })
  await newPost(user)
  await site.php(`global $wpdb; $wpdb->update($wpdb->users, ['display_name' => "A\u202eda\u0007"], ['ID' => ${user}]);`)
  await send()
  assert.equal((await app.request('GET', `/v1/users/${user}`)).name, 'A da')
})

for (const [name, fields] of [
  ['private post', "'post_status' => 'private'"],
  ['post with a password', "'post_password' => 'secret'"],
]) {
  it(`title of a ${name} is not sent`, async () => {
    const post = await newPost(await newUser(), fields)
    const reader = await newUser('subscriber')
    await newComment(reader, post)
    await send()
    const target = await targetOf(post)
    assert.deepEqual([target?.title, target?.url], [undefined, undefined])
  })

  it(`title of a ${name} is removed`, async () => {
    const user = await newUser()
    const post = await newPost(user)
    await send()
    assert.equal((await targetOf(post)).title, 'Notes & sketches')
    await site.php(`return wp_update_post(['ID' => ${post}, ${fields}]);`)
    await send()
    assert.deepEqual(await targetOf(post), { id: `post-${post}`, author: user })
    await site.php(`return wp_update_post(['ID' => ${post}, 'post_status' => 'publish', 'post_password' => '']);`)
    await send()
    assert.equal((await targetOf(post)).title, 'Notes & sketches')
  })
}

it('title of a deleted post is removed', async () => {
  const user = await newUser()
  const post = await newPost(user)
  await send()
  await site.php(`return (bool) wp_delete_post(${post}, true);`)
  await send()
  assert.deepEqual(await targetOf(post), { id: `post-${post}`, author: user })
})

it('filter publishes titles of posts with a password', async () => {
  const user = await newUser()
  const post = await newPost(user, "'post_password' => 'secret'")
  await site.php(`add_filter('activity_rank_public', '__return_true'); ActivityRank\\send();`)
  assert.equal((await targetOf(post)).title, 'Notes & sketches')
})

it('sites of a network have targets of their own', async (t) => {
  const network = await installWordpress(configuration(), { isNetwork: true })
  t.after(() => network.stop())
  await copyPlugin(network)
  assert.equal(await network.php("return activate_plugin('activity-rank.php', '', true);"), null)
  const author = await network.php("return wp_create_user('network-author', 'x', 'network@example.com');")
  const publish = (path) =>
    network.php(
      `return wp_insert_post(['import_id' => 4322, 'post_author' => ${author}, 'post_title' => 'On ${path}', 'post_status' => 'publish']);`,
      path,
    )
  const before = await app.score(`${author}`)
  for (const path of ['/', '/second/']) {
    assert.equal(await publish(path), 4322)
    await network.php('ActivityRank\\send();', path)
  }
  assert.equal((await app.score(`${author}`)) - before, 20)
  for (const [target, title] of [
    ['post-4322', 'On /'],
    ['site-2:post-4322', 'On /second/'],
  ]) {
    assert.equal((await app.request('GET', `/v1/targets/${target}`)).title, title)
  }
  // The posts of a user who is removed from a site go to another one, on this site alone.
  const heir = await network.php("return wp_create_user('network-heir', 'x', 'heir@example.com');")
  const inherited = await app.score(`${heir}`)
  await network.php(`return remove_user_from_blog(${author}, 2, ${heir});`)
  for (const path of ['/', '/second/']) await network.php('ActivityRank\\send();', path)
  assert.deepEqual([(await app.score(`${author}`)) - before, (await app.score(`${heir}`)) - inherited], [10, 10])
  // Each site has settings of its own, if wp-config.php has none.
  await network.php("update_option('activity_rank_url', 'https://second.example.com'); return null;", '/second/')
  const settings = (path) => network.php("return get_option('activity_rank_url', '');", path)
  assert.deepEqual([await settings('/'), await settings('/second/')], ['', 'https://second.example.com'])
  // Another plugin on the second site.
  await network.php(`do_action('activity_rank_track', 1, 'like', 'post-4322'); ActivityRank\\send();`, '/second/')
  await eventually(async () => (await board('content')).find(({ id }) => id === 'site-2:post-4322')?.score, 2)
  await network.php("deactivate_plugins('activity-rank.php', false, true); return null;")
  assert.equal(await network.php("return wp_next_scheduled('activity_rank_retry');", '/second/'), false)
  await network.php(`require WP_PLUGIN_DIR . '/activity-rank.php'; ActivityRank\\uninstall(); return null;`)
  assert.equal(await network.php(`global $wpdb; return $wpdb->get_var("SHOW TABLES LIKE '%activity_rank%'");`), null)
})

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

it('block shows the board', async () => {
  const [block] = blocksOf(README, 'html')
  const html = await site.php(
    `wp_set_current_user(1); return do_blocks(${JSON.stringify(block.trim()).replaceAll('$', '\\$')});`,
  )
  assert.equal(html, '<activity-rank period="month" limit="10" user="1"></activity-rank>')
})

it('zip file is a plugin that WordPress accepts', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plugin-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const { status, stdout, output } = await run(`scripts/release-wordpress ${folder}`)
  assert.equal(status, 0, output)
  const plugins = await site.php(`define('FS_METHOD', 'direct'); WP_Filesystem();
    $result = unzip_file('${stdout.trim()}', '${folder}/plugins');
    return $result === true ? get_plugin_data('${folder}/plugins/activity-rank/activity-rank.php') : $result->get_error_message();`)
  assert.deepEqual([plugins.Name, plugins.Version], ['Activity Rank', '0.1.0'])
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
  const shortcode = blocksOf(README, 'text').find((block) => block.startsWith('['))
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
  if (process.env.PICTURES === 'take') await takePicture(page)
  const visitor = await app.visit(t, path)
  await eventually(async () => (await names(visitor)).length > 0, true)
  assert.equal(await visitor.locator('activity-rank').getAttribute('user'), null)
  assert.equal((await fetch(`${site.url}/?rest_route=/activity-rank/v1/token`)).status, 401)
  await newUser('author')
  const editor = await app.visit(
    t,
    `${site.url}/wp-login.php?redirect_to=${encodeURIComponent(`${site.url}/wp-admin/post-new.php`)}`,
  )
  await editor.fill('#user_login', `member${users}`)
  await editor.fill('#user_pass', PASSWORD)
  await editor.click('#wp-submit')
  await eventually(
    () => editor.evaluate("globalThis.wp?.blocks?.getBlockType('activity-rank/board')?.title"),
    'Activity Rank',
  )
})

/** Takes the picture of the page in the README of the recipe, with invented members. */
async function takePicture(page) {
  const members = { ada: 'Ada Lovelace', ming: '王小明', grace: 'Grace Hopper', emmy: 'Emmy Noether' }
  for (const [index, [id, name]] of Object.entries(members).entries()) {
    const headers = { authorization: `Bearer ${app.serviceKey}`, 'content-type': 'application/json' }
    const url = `${app.url}/v1/users/${id}`
    const { status } = await fetch(url, { method: 'PUT', headers, body: JSON.stringify({ name }) })
    assert.equal(status, 200)
    for (let post = 0; post < 9 - index; post++) {
      await app.count([{ user: id, action: 'publish', target: `${id}-${post}` }])
    }
  }
  await site.php("update_option('show_avatars', 0); return null;")
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.setViewportSize({ width: 760, height: 600 })
  await page.reload()
  await eventually(async () => (await names(page)).includes('Ada Lovelace'), true)
  await page.screenshot({ path: join(ROOT, 'docs/img/wordpress-light.png') })
}

it('removed plugin leaves nothing', async () => {
  await site.php("deactivate_plugins('activity-rank.php'); return null;")
  assert.equal(await site.php("return wp_next_scheduled('activity_rank_retry');"), false)
  await site.php(`require WP_PLUGIN_DIR . '/activity-rank.php'; ActivityRank\\uninstall(); return null;`)
  assert.equal(await site.php(`global $wpdb; return $wpdb->get_var("SHOW TABLES LIKE '%activity_rank%'");`), null)
})
