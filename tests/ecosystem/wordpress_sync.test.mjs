// `activity-rank sync` with a real WordPress: the demo community, its history, and the changes that webhooks missed.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, it } from 'node:test'

import { blocksOf, replace, run } from '../recipes/commands.mjs'
import { ROOT } from '../recipes/support.mjs'
import { eventually, startApp } from '../web/support.mjs'
import { installWordpress } from './wordpress.mjs'

/** Random changes of the source. */
const CHANGES = 500

let app
let site
let credentials
before(async () => {
  app = await startApp({ vars: { CONTENT_PERIODS: 'all', BOARD_MAX_AGE: '0' }, live: false, databases: true })
  site = await installWordpress(`
    define('ACTIVITY_RANK_URL', '${app.url}');
    define('ACTIVITY_RANK_KEY', '${app.serviceKey}');
    define('WP_ENVIRONMENT_TYPE', 'local');`)
  await site.serve()
  const password = await site.php(
    "return WP_Application_Passwords::create_new_application_password(1, ['name' => 'sync'])[0];",
  )
  credentials = { WORDPRESS_USER: 'admin', WORDPRESS_APPLICATION_PASSWORD: password }
  writeFileSync(join(site.folder, 'community.json'), JSON.stringify(community()))
  await site.php(INSERT)
})
after(async () => {
  await site?.stop()
  await app?.stop()
})

/** Returns users, posts and comments: bookmarks are none of WordPress. */
function community() {
  const lines = readFileSync(join(ROOT, 'demo/community.jsonl'), 'utf8').trim().split('\n')
  const entries = lines.map((line) => JSON.parse(line))
  const posts = entries.filter(({ action }) => action === 'publish')
  const targets = new Set(posts.map(({ target }) => target))
  const comments = entries.filter(({ action, target }) => action === 'comment' && targets.has(target))
  const numbered = (text) => 1000 + Number(text.replace('post-', ''))
  const row = ({ user, target, at }) => [numbered(user), numbered(target), at.slice(0, 19).replace('T', ' ')]
  return { posts: posts.map(row), comments: comments.map(row) }
}

/** Writes the community into the tables at once. */
const INSERT = `
  global $wpdb;
  $community = json_decode(file_get_contents(ABSPATH . 'community.json'), true);
  $rows = fn ($rows, $row) => implode(',', array_map($row, $rows, array_keys($rows)));
  $users = array_unique(array_column(array_merge($community['posts'], $community['comments']), 0));
  $wpdb->query("INSERT INTO $wpdb->users (ID, user_login, user_pass, user_nicename, display_name) VALUES " .
    $rows($users, fn ($id) => "($id, 'user$id', '', 'user$id', 'Member &amp; $id')"));
  $wpdb->query("INSERT INTO $wpdb->posts (ID, post_author, post_date, post_date_gmt, post_title, post_content, post_excerpt,
    to_ping, pinged, post_content_filtered) VALUES " . $rows($community['posts'], fn ($post) =>
      "($post[1], $post[0], '$post[2]', '$post[2]', 'Post $post[1]', 'x', '', '', '', '')"));
  $wpdb->query("INSERT INTO $wpdb->comments (comment_ID, user_id, comment_post_ID, comment_date, comment_date_gmt, comment_content,
    comment_author) VALUES " . $rows($community['comments'], fn ($comment, $index) =>
      "($index + 5000, $comment[0], $comment[1], '$comment[2]', '$comment[2]', 'Indeed', 'x')"));
  return null;`

/** Runs the command line. */
function sync(source, args, env = credentials) {
  const command = `${ROOT}/target/debug/activity-rank sync ${source} ${args}`
  return run(command, { ACTIVITY_RANK_URL: app.url, ACTIVITY_RANK_KEY: app.serviceKey, ...env })
}

/** Asserts the exit code and the last line of the output. */
async function assertEnds(running, status, line) {
  const ended = await running
  assert.deepEqual([ended.status, ended.stdout.trim().split('\n').at(-1)], [status, line], ended.output)
}

/** Returns the points of members, authors and posts, by the tables of WordPress. */
async function reference() {
  const { posts, comments } = await site.php(`global $wpdb; return [
    'posts' => $wpdb->get_results("SELECT ID, post_author AS author FROM wp_posts WHERE post_type = 'post' AND post_status = 'publish'"),
    'comments' => $wpdb->get_results("SELECT user_id AS user, comment_post_ID AS post, post_author AS author
      FROM wp_comments JOIN wp_posts ON ID = comment_post_ID WHERE comment_approved = '1' AND user_id > 0")];`)
  const [members, authors, targets] = [{}, {}, {}]
  const add = (board, id, points) => (board[id] = (board[id] ?? 0) + points)
  for (const { author } of posts) add(members, author, 10)
  for (const { user, post, author } of comments) {
    add(members, user, 3)
    add(targets, `post-${post}`, 3)
    add(authors, author, 3)
  }
  return [members, authors, targets]
}

/** Returns the boards of all time of members, authors and posts. */
const boards = () => Promise.all(['ranking', 'authors', 'content'].map(board))

async function board(name) {
  const points = {}
  for (let offset = 0; ; offset += 100) {
    const { entries } = await app.request('GET', `/v1/${name}/all?limit=100&offset=${offset}`)
    for (const { user, target, score } of entries) points[(user ?? target).id] = score
    if (entries.length < 100) return points
  }
}

const source = () => `wordpress '${site.url}/?rest_route=/'`

it('history of a site is counted', async () => {
  const { status, output } = await sync(source(), '')
  assert.equal(status, 0, output)
  await assertEnds(sync(source(), '--compare'), 0, '0 differ')
  await eventually(boards, await reference())
  const [user] = Object.keys((await boards())[0]).slice(-1)
  assert.equal((await app.request('GET', `/v1/users/${user}`)).name, `Member & ${user}`)
})

it('import of the plugin finds the same activity', async () => {
  const install = replace(blocksOf('recipes/wordpress/README.md', 'sh')[0], { '/var/www/html': site.folder })
  assert.equal((await run(install)).status, 0)
  assert.equal(await site.php("return activate_plugin('activity-rank.php');"), null)
  await site.php(`$import = ActivityRank\\new_import();
    while ($import['kind'] !== '') { $import = ActivityRank\\import_step($import); ActivityRank\\send(); }`)
  assert.equal(await site.php('return ActivityRank\\waiting();'), 0)
  await assertEnds(sync(source(), '--compare'), 0, '0 differ')
  await eventually(boards, await reference())
})

it('query of the document reads the same activity', async () => {
  const file = join(site.folder, 'activity.sql')
  writeFileSync(file, blocksOf('docs/sync.md', 'sql').at(-1))
  const command = blocksOf('docs/sync.md', 'sh').find((block) => block.startsWith('wp db query'))
  const { status, output } = await run(
    replace(command, {
      'wp db query < activity.sql': `mariadb --no-defaults -uroot --socket=${site.socket} --batch wordpress < ${file}`,
      'activity-rank sync': `${ROOT}/target/debug/activity-rank sync`,
    }),
    { ACTIVITY_RANK_URL: app.url, ACTIVITY_RANK_KEY: app.serviceKey },
  )
  assert.deepEqual([status, output.trim().split('\n').at(-1)], [0, '0 differ'], output)
})

it('heal mends what webhooks missed', async () => {
  const seed = Number(process.env.SEED ?? Date.now() % 1e6)
  const lost = await site.php(`mt_srand(${seed}); $changes = ${CHANGES}; ${CHANGE}`)
  assert.ok(lost > 50 && lost < CHANGES, `${lost}`)
  assert.equal(await site.php('ActivityRank\\send(); return ActivityRank\\waiting();'), 0)
  const { status, output } = await sync(source(), '--compare --limit 5')
  assert.equal(status, 4, `seed ${seed}: ${output}`)
  await assertEnds(sync(source(), '--heal'), 0, '0 differ')
  await eventually(boards, await reference())
  await assertEnds(sync(source(), '--heal'), 0, '0 differ')
})

/** Changes posts and comments at random. The plugin loses what it would send of a third of the changes. Returns their number. */
const CHANGE = `
  global $wpdb;
  $pick = fn ($sql) => $wpdb->get_var("$sql ORDER BY RAND(" . mt_rand() . ") LIMIT 1");
  $post = fn ($status = 'publish') => (int) $pick("SELECT ID FROM wp_posts WHERE post_type = 'post' AND post_status = '$status'");
  $comment = fn ($status = '1') => (int) $pick("SELECT comment_ID FROM wp_comments WHERE comment_approved = '$status'");
  $user = fn () => (int) $pick("SELECT ID FROM wp_users WHERE ID > 1");
  $kinds = [
    fn () => wp_delete_comment($comment(), true),
    fn () => wp_trash_comment($comment()),
    fn () => wp_spam_comment($comment()),
    fn () => wp_set_comment_status($comment(), 'hold'),
    fn () => ($id = $comment('0')) && wp_set_comment_status($id, 'approve'),
    fn () => ($id = $comment('trash')) && wp_untrash_comment($id),
    fn () => wp_insert_comment(['comment_post_ID' => $post(), 'user_id' => $user(), 'comment_content' => 'x', 'comment_approved' => 1]),
    fn () => wp_insert_comment(['comment_post_ID' => $post(), 'user_id' => 0, 'comment_content' => 'x', 'comment_approved' => 1]),
    fn () => wp_trash_post($post()),
    fn () => wp_delete_post($post(), true),
    fn () => wp_update_post(['ID' => $post(), 'post_author' => $user()]),
    fn () => wp_update_post(['ID' => $post(), 'post_password' => 'secret']),
    fn () => wp_update_post(['ID' => $post(), 'post_status' => 'private']),
    fn () => ($id = $post('private')) && wp_update_post(['ID' => $id, 'post_status' => 'publish']),
    fn () => wp_insert_post(['post_author' => $user(), 'post_title' => 'New', 'post_content' => 'x', 'post_status' => 'publish']),
    fn () => ($id = $post('trash')) && wp_untrash_post($id) && wp_publish_post($id),
  ];
  $lost = 0;
  for ($index = 0; $index < $changes; $index++) {
    $last = (int) $wpdb->get_var('SELECT MAX(id) FROM wp_activity_rank_outbox');
    $kinds[mt_rand(0, count($kinds) - 1)]();
    if (mt_rand(0, 2) === 0) {
      $lost++;
      $wpdb->query("DELETE FROM wp_activity_rank_outbox WHERE id > $last");
    }
  }
  return $lost;`

it('address with permalinks is read', async () => {
  await site.php(`update_option('permalink_structure', '/%postname%/'); flush_rewrite_rules(); return null;`)
  await assertEnds(sync(`wordpress ${site.url}`, '--compare'), 0, '0 differ')
})

it('password of another user is refused', async () => {
  const password = await site.php(`
    $id = wp_insert_user(['user_login' => 'editor', 'user_pass' => 'x', 'role' => 'editor']);
    return WP_Application_Passwords::create_new_application_password($id, ['name' => 'sync'])[0];`)
  const env = { WORDPRESS_USER: 'editor', WORDPRESS_APPLICATION_PASSWORD: password }
  const { status, output } = await sync(source(), '--compare', env)
  assert.equal(status, 3, output)
  assert.match(output, /status 403: Sorry, you are not allowed to order users by this parameter\./)
})
