<?php
/**
 * Plugin Name: Activity Rank
 * Description: Counts comments, posts and likes on a deployment of activity-rank, and shows its leaderboards.
 * Version: 0.1.0
 * Requires at least: 6.1
 * Requires PHP: 7.4
 * License: MIT OR Apache-2.0
 *
 * Activity is written to a table in the same database, and WP-Cron sends it in the background: no page waits for the
 * deployment, and nothing is lost while it does not respond. A repeated activity counts once.
 */

namespace ActivityRank;

defined('ABSPATH') || exit;

const BATCH = 200; // activities in one request
const IMPORT_STEP = 500; // posts or comments
const TIMEOUT = 15; // seconds
const TOKEN_LIFETIME = 900; // seconds
const TABLES = '1'; // version of the tables
const REGISTERED = '_activity_rank_target'; // field of a post whose title was sent: the id of its target
const ATTRIBUTES = ['of', 'period', 'group', 'event', 'user', 'limit', 'layout', 'winners', 'theme', 'lang'];

// ---- Settings

/** Returns the address of the deployment without a final slash, or an empty string. */
function deployment(): string
{
    return untrailingslashit(defined('ACTIVITY_RANK_URL') ? ACTIVITY_RANK_URL : get_option('activity_rank_url', ''));
}

/** Returns the service key. A constant in wp-config.php is safer than the database: it is in no export and no backup. */
function service_key(): string
{
    return defined('ACTIVITY_RANK_KEY') ? ACTIVITY_RANK_KEY : get_option('activity_rank_key', '');
}

/** Returns the URL if browsers and servers may use it, else the previous one with a message. */
function checked_url($url): string
{
    $url = untrailingslashit(trim((string) $url));
    if ($url === '' || preg_match('#^(https://|http://(localhost|127\.0\.0\.1)(:|/|$))#', $url)) {
        return esc_url_raw($url);
    }
    add_settings_error('activity_rank_url', 'url', 'The address of the deployment must begin with https://.');
    return get_option('activity_rank_url', '');
}

/** Returns the key if a header can contain it, else the previous one. An empty field keeps the previous one. */
function checked_key($key): string
{
    $key = trim((string) $key);
    if (preg_match('/^[\x21-\x7e]+$/', $key)) {
        return $key;
    }
    if ($key !== '') {
        add_settings_error('activity_rank_key', 'key', 'The service key must consist of visible ASCII characters.');
    }
    return get_option('activity_rank_key', '');
}

add_action('admin_init', function () {
    register_setting('activity_rank', 'activity_rank_url', ['sanitize_callback' => __NAMESPACE__ . '\checked_url']);
    register_setting('activity_rank', 'activity_rank_key', ['sanitize_callback' => __NAMESPACE__ . '\checked_key']);
});

add_action('admin_menu', function () {
    add_options_page('Activity Rank', 'Activity Rank', 'manage_options', 'activity-rank', __NAMESPACE__ . '\settings_page');
});

/** Prints the settings page. It never contains the key. */
function settings_page(): void
{
    $has_url = defined('ACTIVITY_RANK_URL');
    $has_key = defined('ACTIVITY_RANK_KEY');
    $error = get_option('activity_rank_error', '');
    ?>
<div class="wrap">
  <h1>Activity Rank</h1>
  <?php if ($error !== '') { ?>
    <div class="notice notice-error"><p>Last request: <?php echo esc_html($error); ?></p></div>
  <?php } ?>
  <p><?php echo (int) waiting(); ?> activities are waiting to be sent.</p>
  <form method="post" action="options.php">
    <?php settings_fields('activity_rank'); ?>
    <table class="form-table">
      <tr>
        <th><label for="activity_rank_url">Address of the deployment</label></th>
        <td><input type="url" class="regular-text" id="activity_rank_url" name="activity_rank_url"
          value="<?php echo esc_attr(deployment()); ?>" <?php disabled($has_url); ?>></td>
      </tr>
      <tr>
        <th><label for="activity_rank_key">Service key</label></th>
        <td><input type="password" class="regular-text" id="activity_rank_key" name="activity_rank_key"
          autocomplete="off" placeholder="<?php echo service_key() === '' ? '' : 'Stored'; ?>" <?php disabled($has_key); ?>>
          <p class="description">Better: <code>define('ACTIVITY_RANK_KEY', '…');</code> in wp-config.php.</p></td>
      </tr>
    </table>
    <?php submit_button(); ?>
  </form>
  <h2>Import</h2>
  <p>Counts the posts and comments that exist, at their own times, and each of them once.</p>
  <p><?php echo esc_html(import_progress()); ?></p>
  <form method="post" action="<?php echo esc_url(admin_url('admin-post.php')); ?>">
    <input type="hidden" name="action" value="activity_rank_import">
    <?php wp_nonce_field('activity_rank_import'); ?>
    <?php submit_button('Import', 'secondary', 'import', false, is_importing() ? ['disabled' => ''] : []); ?>
  </form>
</div>
    <?php
}

// ---- What members do

/**
 * Counts an activity of a member, or takes it back. Other plugins call it by the action of its name:
 * `do_action('activity_rank_track', $user_id, 'like', 'post-7')`, with `true` as the fourth argument to take it back.
 */
function track($user_id, $action, $target, $undo = false, $on = null, $at = null): void
{
    $user = user_name((int) $user_id);
    // What an importer writes happened long ago.
    if ($user === '' || defined('WP_IMPORTING')) {
        return;
    }
    $activity = ['user' => $user, 'action' => (string) $action, 'target' => site_target((string) $target), 'at' => $at ?? instant()];
    if ($undo) {
        $activity['undo'] = true;
    } elseif ($on !== null) {
        $activity['on'] = site_target((string) $on);
    }
    enqueue($activity, (int) $user_id);
}
add_action('activity_rank_track', __NAMESPACE__ . '\track', 10, 6);

/**
 * Writes an activity to the outbox; the user's profile goes with it. Without an action, only the target is updated, or the user
 * erased.
 */
function enqueue(array $activity, int $user_id = 0): void
{
    global $wpdb;
    install();
    $wpdb->insert(outbox(), ['user_id' => $user_id, 'activity' => wp_json_encode($activity)]);
    if (!wp_next_scheduled('activity_rank_send')) {
        wp_schedule_single_event(time(), 'activity_rank_send');
    }
}

/** Returns a member's id on the boards, or an empty string for one who is not counted. The filter changes it. */
function user_name(int $user_id): string
{
    return $user_id > 0 ? (string) apply_filters('activity_rank_user', (string) $user_id) : '';
}

/**
 * Returns the id of a post or comment among those of all sites of a network: numbers repeat on each site. Users are the same
 * on all sites.
 */
function site_target(string $target): string
{
    $is_local = get_current_blog_id() > 1 && preg_match('/^(post|comment)-\d+$/', $target);
    return $is_local ? 'site-' . get_current_blog_id() . ':' . $target : $target;
}

/** Returns now in UTC with milliseconds. */
function instant(): string
{
    return (new \DateTimeImmutable('now', new \DateTimeZone('UTC')))->format('Y-m-d\TH:i:s.v\Z');
}

/** Counts the one activity of a post or comment and records the member, unless it is counted already. */
function count_once(int $user_id, string $action, string $target, ?string $on = null, ?string $at = null): void
{
    global $wpdb;
    $user = user_name($user_id);
    if ($user === '' || defined('WP_IMPORTING')) {
        return;
    }
    install();
    $row = $wpdb->prepare('INSERT IGNORE INTO ' . counted() . ' (target, user) VALUES (%s, %s)', $target, $user);
    if ($wpdb->query($row)) {
        track($user_id, $action, $target, false, $on, $at);
    }
}

/**
 * Takes an activity of `count_once` back from the member who received its points, also if the author is another one today.
 * Returns whether there was one.
 */
function take_back(string $action, string $target, bool $is_gone = true): bool
{
    global $wpdb;
    install();
    $user = $wpdb->get_var($wpdb->prepare('SELECT user FROM ' . counted() . ' WHERE target = %s', $target));
    if ($user === null || !$wpdb->delete(counted(), ['target' => $target])) {
        return false;
    }
    $activity = ['user' => $user, 'action' => $action, 'target' => site_target($target), 'at' => instant(), 'undo' => true];
    enqueue($is_gone ? $activity + ['source_gone' => true] : $activity);
    return true;
}

/** Gives the points of a post to another author. A post that is not counted stays so. */
function reassign(int $post, int $author): void
{
    if (take_back('publish', "post-$post", false)) {
        count_once($author, 'publish', "post-$post");
    }
}

/** Gives the points of an author's posts to another one, without those that have them. */
function reassign_all(int $author, int $heir): void
{
    global $wpdb;
    install();
    $posts = $wpdb->prepare(
        "SELECT ID FROM $wpdb->posts JOIN " . counted() . " ON target = CONCAT('post-', ID) WHERE post_author = %d AND user <> %s",
        $author,
        user_name($heir)
    );
    foreach ($wpdb->get_col($posts) as $post) {
        reassign((int) $post, $heir);
    }
}

/** Counts a comment. Pingbacks are no comments of members. */
function count_comment(\WP_Comment $comment): void
{
    if (in_array($comment->comment_type, ['', 'comment'], true)) {
        count_once((int) $comment->user_id, 'comment', 'comment-' . $comment->comment_ID, 'post-' . $comment->comment_post_ID);
    }
}

add_action('wp_insert_comment', function ($id, $comment) {
    if ((string) $comment->comment_approved === '1') {
        count_comment($comment);
    }
}, 10, 2);

// Also when a comment is trashed or marked as spam.
add_action('transition_comment_status', function ($new, $old, $comment) {
    if ($new === 'approved') {
        count_comment($comment);
    } else {
        take_back('comment', 'comment-' . $comment->comment_ID);
    }
}, 10, 3);

// A comment that is deleted may have any status before.
add_action('delete_comment', function ($id) {
    take_back('comment', "comment-$id");
});

// Trash hides the comments of a post without a change of status.
add_action('trashed_post_comments', function ($id, $statuses) {
    foreach (array_keys($statuses) as $comment) {
        take_back('comment', "comment-$comment");
    }
}, 10, 2);

add_action('untrashed_post_comments', function ($id) {
    array_map(__NAMESPACE__ . '\count_comment', get_comments(['post_id' => $id, 'status' => 'approve']));
});

/** Returns the types of posts that count. */
function post_types(): array
{
    return apply_filters('activity_rank_post_types', ['post']);
}

add_action('transition_post_status', function ($new, $old, $post) {
    if ($new !== 'publish') {
        take_back('publish', "post-$post->ID");
    } elseif ($old !== 'publish' && in_array($post->post_type, post_types(), true)) {
        count_once((int) $post->post_author, 'publish', "post-$post->ID");
    }
}, 10, 3);

// A post that is deleted without the trash changes no status.
add_action('before_delete_post', function ($id) {
    take_back('publish', "post-$id");
    update_target((int) $id);
});

// Also when a post gets a password, or loses it.
add_action('post_updated', function ($id, $after, $before) {
    if ($after->post_author !== $before->post_author) {
        reassign((int) $id, (int) $after->post_author);
    }
    if (is_public($after) !== is_public($before)) {
        update_target((int) $id);
    }
}, 10, 3);

// WordPress gives the posts of a deleted user to another one without an update of each.
add_action('deleted_user', function ($id, $heir) {
    if ($heir) {
        reassign_all((int) $heir, (int) $heir);
    }
}, 10, 2);

// So does a site of a network that removes a user, after this action.
add_action('remove_user_from_blog', function ($id, $site, $heir) {
    if ($heir) {
        reassign_all((int) $id, (int) $heir);
    }
}, 10, 3);

/** Erases a user from the deployment, after what waits in the outbox. */
function erase($user_id): void
{
    $user = user_name((int) $user_id);
    if ($user !== '') {
        enqueue(['erase' => $user]);
    }
}
// A site of a network removes a user, and the network deletes.
add_action(is_multisite() ? 'wpmu_delete_user' : 'delete_user', __NAMESPACE__ . '\erase');

/** Returns whether everybody may see a post's title and link. The filter decides otherwise. */
function is_public(\WP_Post $post): bool
{
    return (bool) apply_filters('activity_rank_public', $post->post_status === 'publish' && $post->post_password === '', $post);
}

/** Sends a registered post's title and link again, or removes them if it is not public any more. */
function update_target(int $post): void
{
    // Copies of posts have the fields of the original.
    if (get_post_meta($post, REGISTERED, true) === site_target("post-$post")) {
        enqueue(['target' => site_target("post-$post")]);
    }
}

// Likes of the plugin WP ULike. It gives visitors who are not signed in numbers of their own.
add_action('wp_ulike_after_process', function ($id, $key, $user_id, $status) {
    $types = ['_liked' => 'post', '_commentliked' => 'comment'];
    if (isset($types[$key]) && (int) $user_id === get_current_user_id() && in_array($status, ['like', 'unlike'], true)) {
        track($user_id, 'like', $types[$key] . '-' . $id, $status === 'unlike');
    }
}, 10, 4);

// ---- The outbox

function outbox(): string
{
    global $wpdb;
    return $wpdb->prefix . 'activity_rank_outbox';
}

/** Returns the table of posts and comments that are counted, with the member who received the points. */
function counted(): string
{
    global $wpdb;
    return $wpdb->prefix . 'activity_rank_counted';
}

/** Returns the number of activities that wait. */
function waiting(): int
{
    global $wpdb;
    return (int) $wpdb->get_var('SELECT COUNT(*) FROM ' . outbox());
}

/** Creates what the plugin needs on this site, once: a network has sites that were never activated. */
function install(): void
{
    global $wpdb;
    if (get_option('activity_rank_tables') === TABLES) {
        return;
    }
    require_once ABSPATH . 'wp-admin/includes/upgrade.php';
    dbDelta('CREATE TABLE ' . outbox() . " (
        id bigint unsigned NOT NULL AUTO_INCREMENT,
        user_id bigint unsigned NOT NULL,
        activity text NOT NULL,
        PRIMARY KEY  (id)
    ) {$wpdb->get_charset_collate()}");
    dbDelta('CREATE TABLE ' . counted() . " (
        target varchar(40) NOT NULL,
        user varchar(255) NOT NULL,
        PRIMARY KEY  (target)
    ) {$wpdb->get_charset_collate()}");
    // Sends what an outage has left.
    if (!wp_next_scheduled('activity_rank_retry')) {
        wp_schedule_event(time(), 'hourly', 'activity_rank_retry');
    }
    update_option('activity_rank_tables', TABLES);
}
add_action('init', __NAMESPACE__ . '\install');
register_activation_hook(__FILE__, __NAMESPACE__ . '\install');

/** Calls a function for each site of a network, or for the only site. */
function each_site(callable $function): void
{
    if (!is_multisite()) {
        $function();
        return;
    }
    foreach (get_sites(['fields' => 'ids', 'number' => 0]) as $site) {
        switch_to_blog($site);
        $function();
        restore_current_blog();
    }
}

/** Ends what runs in the background. Activity that waits is sent after the next activation. */
function deactivate(): void
{
    wp_clear_scheduled_hook('activity_rank_retry');
    wp_clear_scheduled_hook('activity_rank_send');
    wp_clear_scheduled_hook('activity_rank_import');
    delete_option('activity_rank_tables');
    delete_option('activity_rank_import');
}

register_deactivation_hook(__FILE__, function ($network_wide) {
    $network_wide ? each_site(__NAMESPACE__ . '\deactivate') : deactivate();
});

register_uninstall_hook(__FILE__, __NAMESPACE__ . '\uninstall');
function uninstall(): void
{
    each_site(function () {
        global $wpdb;
        $wpdb->query('DROP TABLE IF EXISTS ' . outbox() . ', ' . counted());
        foreach (['url', 'key', 'error', 'tables', 'import'] as $name) {
            delete_option("activity_rank_$name");
        }
        delete_metadata('post', 0, REGISTERED, '', true);
    });
    delete_metadata('user', 0, 'activity_rank_profile', '', true);
}

// A site that is deleted from a network.
add_filter('wpmu_drop_tables', function ($tables, $site) {
    global $wpdb;
    $prefix = $wpdb->get_blog_prefix($site);
    return array_merge($tables, [$prefix . 'activity_rank_outbox', $prefix . 'activity_rank_counted']);
}, 10, 2);

/** Sends the outbox, oldest first, until it is empty or a request fails. */
function send(): void
{
    global $wpdb;
    if (deployment() === '' || service_key() === '') {
        return;
    }
    try {
        while ($rows = $wpdb->get_results('SELECT * FROM ' . outbox() . ' ORDER BY id LIMIT ' . BATCH)) {
            send_batch($rows);
            $wpdb->query('DELETE FROM ' . outbox() . ' WHERE id IN (' . implode(',', array_map('intval', array_column($rows, 'id'))) . ')');
        }
        update_option('activity_rank_error', '', false);
    } catch (\RuntimeException $error) {
        // Activities stay in the outbox.
        update_option('activity_rank_error', $error->getMessage(), false);
    }
}
add_action('activity_rank_send', __NAMESPACE__ . '\send');
add_action('activity_rank_retry', __NAMESPACE__ . '\send');

/** Sends rows of the outbox. Throws unless the deployment has decided on each activity. */
function send_batch(array $rows): void
{
    $activities = array_map(function ($row) {
        return (array) json_decode($row->activity, true);
    }, $rows);
    // Targets come first: they receive points only once they are registered.
    put_targets($activities);
    foreach (array_unique(array_column($rows, 'user_id')) as $user_id) {
        put_profile((int) $user_id);
    }
    $erased = array_column($activities, 'erase');
    $counted = array_values(array_filter($activities, function ($activity) {
        return isset($activity['action']);
    }));
    foreach ($counted ? request('POST', '/v1/activity', $counted)['results'] : [] as $index => $result) {
        if (!isset($result['error'])) {
            continue;
        }
        $status = $result['error']['status'] ?? 400;
        if ($status >= 500 || in_array($status, [408, 429], true)) {
            // The batch is sent again: what it has counted is a duplicate then.
            throw new \RuntimeException("POST /v1/activity: $status " . ($result['error']['detail'] ?? ''));
        }
        log_refusal(wp_json_encode($counted[$index]), $result['error']);
    }
    foreach ($erased as $user) {
        // A key without the scope `admin` keeps no other activity from being sent.
        request('DELETE', '/v1/users/' . rawurlencode($user), null, [400, 403, 404, 405]);
    }
}

/** Writes to PHP's log what the deployment refused, and why. */
function log_refusal(string $refused, array $error): void
{
    error_log("activity-rank refused $refused: " . ($error['detail'] ?? $error['title'] ?? ''));
}

/** Registers the posts of activities with title, link and author, for boards of content, and removes what became private. */
function put_targets(array $activities): void
{
    $targets = [];
    $posts = [];
    foreach ($activities as $activity) {
        $id = $activity['on'] ?? $activity['target'] ?? '';
        if (!preg_match('/(?:^|:)post-(\d+)$/', $id, $match) || $id !== site_target("post-$match[1]")) {
            continue;
        }
        $post = get_post((int) $match[1]);
        if ($post && is_public($post) && empty($activity['undo'])) {
            $posts[$id] = $post->ID;
            $targets[$id] = without_empty([
                'id' => $id,
                // `get_the_title` would add "Protected:".
                'title' => text(apply_filters('the_title', $post->post_title, $post->ID), 200),
                'url' => https(get_permalink($post)),
                'image' => https(get_the_post_thumbnail_url($post)),
                'author' => user_name((int) $post->post_author),
            ]);
        } elseif (!isset($activity['action']) && !isset($activity['erase'])) {
            // The deployment keeps the author.
            $targets[$id] = ['id' => $id];
        }
    }
    // Before the request: a post that becomes private meanwhile is sent again.
    foreach ($posts as $id => $post) {
        update_post_meta($post, REGISTERED, $id);
    }
    // A deployment without boards of content answers 404.
    if ($targets) {
        request('PUT', '/v1/targets', array_values($targets), [404]);
    }
}

/** Returns the fields that are no empty text. The text `0` is none. */
function without_empty(array $fields): array
{
    return array_filter($fields, function ($text) {
        return $text !== '';
    });
}

/** Returns HTML as plain text of at most this many characters, without those that the API refuses. */
function text($html, int $length): string
{
    $text = html_entity_decode(wp_strip_all_tags((string) $html), ENT_QUOTES | ENT_HTML5, 'UTF-8');
    $text = preg_replace('/[\p{Cc}\x{2028}\x{2029}\x{202A}-\x{202E}\x{2066}-\x{2069}]+/u', ' ', $text);
    return trim(mb_substr(trim((string) $text), 0, $length));
}

/** Writes a member's public profile if it has changed, and keeps the member's own choices. */
function put_profile(int $user_id): void
{
    $user = get_userdata($user_id);
    $name = user_name($user_id);
    if (!$user || $name === '') {
        return;
    }
    $profile = without_empty([
        'name' => text($user->display_name, 80),
        'avatar' => https(get_avatar_url($user_id)),
        'url' => https($user->user_url),
    ]);
    $digest = md5(wp_json_encode([deployment(), $profile]));
    if (get_user_meta($user_id, 'activity_rank_profile', true) === $digest) {
        return;
    }
    $path = '/v1/users/' . rawurlencode($name);
    // An id or a name that the service refuses, or a frozen member, must not keep what others do from being counted.
    $refusals = [400, 403, 404, 405];
    $kept = array_intersect_key(request('GET', $path, null, $refusals), ['public_activity' => true]);
    if (request('PUT', $path, $kept + $profile, $refusals)) {
        update_user_meta($user_id, 'activity_rank_profile', $digest);
    }
}

/** Returns a link that the API accepts, or an empty string. */
function https($url): string
{
    return is_string($url) && strpos($url, 'https://') === 0 && parse_url($url, PHP_URL_USER) === null ? $url : '';
}

/**
 * Sends a request and returns the decoded body, for an accepted status an empty array. Throws for all other errors; the
 * message contains no key.
 */
function request(string $method, string $path, ?array $body, array $accepted = []): array
{
    $response = wp_remote_request(deployment() . $path, [
        'method' => $method,
        'timeout' => TIMEOUT,
        'redirection' => 0,
        'headers' => ['Authorization' => 'Bearer ' . service_key(), 'Content-Type' => 'application/json'],
        'body' => $body === null ? null : wp_json_encode($body),
    ]);
    if (is_wp_error($response)) {
        throw new \RuntimeException("$method $path: " . $response->get_error_message());
    }
    $status = wp_remote_retrieve_response_code($response);
    $decoded = json_decode(wp_remote_retrieve_body($response), true);
    if (in_array($status, $accepted, true)) {
        if ($status !== 404) {
            log_refusal("$method $path", (array) $decoded);
        }
        return [];
    }
    if ($status === 204) {
        return [];
    }
    if ($status < 200 || $status > 299 || !is_array($decoded)) {
        throw new \RuntimeException("$method $path: $status " . (is_array($decoded) ? $decoded['detail'] ?? '' : ''));
    }
    return $decoded;
}

// ---- Import of what exists

/** Returns the query of posts or comments that count, after an id. */
function import_query(string $kind, string $columns, int $after = 0): string
{
    global $wpdb;
    if ($kind === 'comment') {
        return "SELECT $columns FROM $wpdb->comments WHERE comment_ID > $after AND comment_approved = '1' AND user_id > 0
            AND comment_type IN ('', 'comment') ORDER BY comment_ID";
    }
    $types = implode("','", array_map('esc_sql', post_types()));
    return "SELECT $columns FROM $wpdb->posts WHERE ID > $after AND post_status = 'publish' AND post_type IN ('$types') ORDER BY ID";
}

/** Returns an import that has not begun. */
function new_import(): array
{
    global $wpdb;
    $count = function ($kind) use ($wpdb) {
        return (int) $wpdb->get_var(import_query($kind, 'COUNT(*)'));
    };
    return ['kind' => 'post', 'after' => 0, 'done' => 0, 'total' => $count('post') + $count('comment')];
}

/** Counts the next posts or comments, and returns the import after them. Its kind is empty when nothing is left. */
function import_step(array $import): array
{
    global $wpdb;
    $is_post = $import['kind'] === 'post';
    $columns = $is_post ? 'ID AS id, post_author AS user, post_date_gmt AS date' : 'comment_ID AS id, user_id AS user, comment_date_gmt AS date, comment_post_ID AS post';
    $rows = $wpdb->get_results(import_query($import['kind'], $columns, $import['after']) . ' LIMIT ' . IMPORT_STEP);
    foreach ($rows as $row) {
        $on = $is_post ? null : "post-$row->post";
        // What another plugin has written may have no date.
        $at = strtotime("$row->date UTC") > 0 ? str_replace(' ', 'T', $row->date) . 'Z' : null;
        count_once((int) $row->user, $is_post ? 'publish' : 'comment', "$import[kind]-$row->id", $on, $at);
        $import['after'] = (int) $row->id;
    }
    $import['done'] += count($rows);
    if (count($rows) < IMPORT_STEP) {
        $import['kind'] = $is_post ? 'comment' : '';
        $import['after'] = 0;
    }
    return $import;
}

/** Returns whether an import runs in the background. */
function is_importing(): bool
{
    return (get_option('activity_rank_import')['kind'] ?? '') !== '';
}

/** Returns the progress of the last import in words. */
function import_progress(): string
{
    $import = get_option('activity_rank_import');
    return $import ? "$import[done] of $import[total] posts and comments imported." : '';
}

/** Takes a step in the background, and plans the next one. */
function import_in_background(): void
{
    if (!is_importing()) {
        return;
    }
    update_option('activity_rank_import', import_step(get_option('activity_rank_import')), false);
    if (is_importing()) {
        wp_schedule_single_event(time(), 'activity_rank_import', [get_option('activity_rank_import')['done']]);
    }
}
add_action('activity_rank_import', __NAMESPACE__ . '\import_in_background');

add_action('admin_post_activity_rank_import', function () {
    check_admin_referer('activity_rank_import');
    if (!current_user_can('manage_options')) {
        wp_die('You may not import.', 403);
    }
    if (!is_importing()) {
        update_option('activity_rank_import', new_import(), false);
        wp_schedule_single_event(time(), 'activity_rank_import', [0]);
    }
    wp_safe_redirect(admin_url('options-general.php?page=activity-rank'));
    exit;
});

/** `wp activity-rank import`: counts what exists and sends it. */
function import_command(): void
{
    $import = new_import();
    $bar = \WP_CLI\Utils\make_progress_bar('Importing posts and comments', $import['total']);
    while ($import['kind'] !== '') {
        $next = import_step($import);
        $bar->tick($next['done'] - $import['done']);
        $import = $next;
        send();
    }
    $bar->finish();
    if (get_option('activity_rank_error', '') !== '') {
        \WP_CLI::error(get_option('activity_rank_error') . ' ' . waiting() . ' activities are waiting.');
    }
    \WP_CLI::success("$import[done] posts and comments imported.");
}
if (defined('WP_CLI') && WP_CLI) {
    \WP_CLI::add_command('activity-rank import', __NAMESPACE__ . '\import_command');
}

// ---- Leaderboards

/** Returns the leaderboard with attributes of the element. `user="me"` is the member who is looking. */
function board($attributes, $fallback = ''): string
{
    if (deployment() === '') {
        return '';
    }
    wp_enqueue_script('activity-rank', deployment() . '/elements/activity-rank.js', [], null, true);
    $html = '<activity-rank';
    foreach (array_intersect_key((array) $attributes, array_flip(ATTRIBUTES)) as $name => $value) {
        if ($name === 'user' && $value === 'me') {
            $value = user_name(get_current_user_id());
        }
        if ($value !== '') {
            $html .= sprintf(' %s="%s"', $name, esc_attr($value));
        }
    }
    return $html . '>' . wp_kses_post($fallback) . '</activity-rank>';
}
add_shortcode('activity_rank', __NAMESPACE__ . '\board');

add_filter('script_loader_tag', function ($tag, $handle) {
    return $handle === 'activity-rank' ? str_replace('<script ', '<script type="module" ', str_replace(" type='text/javascript'", '', $tag)) : $tag;
}, 10, 2);

// The block has the attributes of the shortcode.
add_action('init', function () {
    if (!function_exists('register_block_type')) {
        return;
    }
    $needs = ['wp-blocks', 'wp-element', 'wp-block-editor', 'wp-components', 'wp-server-side-render'];
    wp_register_script('activity-rank-block', false, $needs, null, true);
    wp_add_inline_script('activity-rank-block', BLOCK);
    register_block_type('activity-rank/board', [
        'api_version' => 2,
        'title' => 'Activity Rank',
        'description' => 'The most active members',
        'category' => 'widgets',
        'icon' => 'awards',
        'editor_script' => 'activity-rank-block',
        'attributes' => array_fill_keys(ATTRIBUTES, ['type' => 'string', 'default' => '']),
        'render_callback' => __NAMESPACE__ . '\board',
    ]);
});

// The editor shows the block as the site does, and the attributes that most boards need beside it.
const BLOCK = <<<'JS'
(({ blocks, element: { createElement: h }, blockEditor, components, serverSideRender: Preview }) => {
  const FIELDS = [['period', 'Period: day, week, month, year or all'], ['limit', 'Rows'], ['user', 'User: "me" is the member who is looking']]
  blocks.registerBlockType('activity-rank/board', {
    edit: ({ attributes, setAttributes }) => h('div', blockEditor.useBlockProps(),
      h(blockEditor.InspectorControls, null, h(components.PanelBody, { title: 'Leaderboard' },
        FIELDS.map(([name, label]) => h(components.TextControl, { key: name, label, value: attributes[name], onChange: (value) => setAttributes({ [name]: value }) })))),
      h(Preview, { block: 'activity-rank/board', attributes })),
    save: () => null,
  })
})(wp)
JS;

/** A leaderboard in a sidebar. */
class Widget extends \WP_Widget
{
    const PERIODS = ['day', 'week', 'month', 'year', 'all'];

    public function __construct()
    {
        parent::__construct('activity_rank', 'Activity Rank', ['description' => 'The most active members']);
    }

    public function widget($args, $instance)
    {
        $title = apply_filters('widget_title', $instance['title'] ?? '');
        echo $args['before_widget'];
        echo $title !== '' ? $args['before_title'] . esc_html($title) . $args['after_title'] : '';
        echo board(['period' => $instance['period'] ?? 'week', 'limit' => $instance['limit'] ?? 5, 'user' => 'me']);
        echo $args['after_widget'];
    }

    public function form($instance)
    {
        $field = function ($name) {
            return sprintf('id="%s" name="%s"', esc_attr($this->get_field_id($name)), esc_attr($this->get_field_name($name)));
        };
        printf('<p><label>Title <input class="widefat" %s value="%s"></label></p>', $field('title'), esc_attr($instance['title'] ?? ''));
        printf('<p><label>Period <select %s>', $field('period'));
        foreach (self::PERIODS as $period) {
            printf('<option%s>%s</option>', selected($instance['period'] ?? 'week', $period, false), $period);
        }
        echo '</select></label></p>';
        printf('<p><label>Rows <input type="number" min="1" max="100" %s value="%d"></label></p>', $field('limit'), $instance['limit'] ?? 5);
    }

    public function update($new, $old)
    {
        return [
            'title' => sanitize_text_field($new['title'] ?? ''),
            'period' => in_array($new['period'] ?? '', self::PERIODS, true) ? $new['period'] : 'week',
            'limit' => max(1, min(100, (int) ($new['limit'] ?? 5))),
        ];
    }
}
add_action('widgets_init', function () {
    register_widget(Widget::class);
});

// ---- Visits: with ACTIVITY_RANK_JWT_SECRET, browsers of signed-in members send them with a user token

/** Returns a user token (JWT, HS256) of a member. */
function user_token(int $user_id): string
{
    $encode = function (string $bytes): string {
        return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
    };
    $claims = ['sub' => user_name($user_id), 'exp' => time() + TOKEN_LIFETIME];
    $signed = $encode('{"alg":"HS256","typ":"JWT"}') . '.' . $encode(wp_json_encode($claims));
    return $signed . '.' . $encode(hash_hmac('sha256', $signed, ACTIVITY_RANK_JWT_SECRET, true));
}

add_action('rest_api_init', function () {
    register_rest_route('activity-rank/v1', '/token', [
        'methods' => 'GET',
        'permission_callback' => function () {
            return defined('ACTIVITY_RANK_JWT_SECRET') && user_name(get_current_user_id()) !== '';
        },
        'callback' => function () {
            return new \WP_REST_Response(user_token(get_current_user_id()), 200, ['Cache-Control' => 'no-store']);
        },
    ]);
});

add_action('wp_footer', function () {
    $user = user_name(get_current_user_id());
    if ($user === '' || deployment() === '' || !defined('ACTIVITY_RANK_JWT_SECRET')) {
        return;
    }
    $values = wp_json_encode([
        'src' => deployment(),
        'user' => $user,
        'url' => rest_url('activity-rank/v1/token'),
        'nonce' => wp_create_nonce('wp_rest'),
    ], JSON_HEX_TAG);
    ?>
<script type="module">
  const { src, user, url, nonce } = <?php echo $values; ?>;
  const { Client } = await import(`${src}/client.js`);
  const token = async () => (await fetch(url, { headers: { 'X-WP-Nonce': nonce } })).json();
  new Client({ src, user, token, standings: false }).visits();
</script>
    <?php
});
