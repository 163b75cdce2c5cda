// A WordPress of its own with MariaDB, for the tests of the plugin.

import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { freePort, spawnTied, stopTied, waitForLine } from '../sdk/support.mjs'
import { startMariadb } from './mariadb.mjs'

// The proxy before the deployment runs in the same process, so PHP must not block it.
const execute = promisify(execFile)

const SOURCE = process.env.WORDPRESS ?? '/usr/share/wordpress'
const PHP = ['-d', 'display_errors=stderr', '-d', 'error_reporting=E_ALL & ~E_DEPRECATED', '-d', 'log_errors=0']

/** The domain of a network, which can have no port. */
const HOST = '127.0.0.1'

/** The password of every user. */
export const PASSWORD = 'a password of the tests'

/**
 * Installs WordPress into a temporary folder. `configuration` is PHP for wp-config.php; a network has a second site at
 * `/second/`. Returns the site: its URL and folder, the socket of MariaDB, `php(code)`, which runs code in WordPress and
 * returns what it returns, `serve()` and `stop()`. `php` and `cron` of a network take the path of a site.
 */
export async function installWordpress(configuration, { isNetwork = false } = {}) {
  const base = mkdtempSync(join(tmpdir(), 'wordpress-'))
  const cleanups = [() => rmSync(base, { recursive: true, force: true })]
  const stop = async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  }
  try {
    const socket = await startMariadb(base, 'wordpress', cleanups)
    const folder = join(base, 'site')
    // Debian links to files of other packages.
    cpSync(SOURCE, folder, { recursive: true, dereference: true, filter: (file) => !file.endsWith('/.htaccess') })
    mkdirSync(join(folder, 'wp-content/uploads'), { recursive: true })
    writeTheme(join(folder, 'wp-content/themes/plain'))
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    writeFileSync(
      join(folder, 'wp-config.php'),
      `<?php
      ${configuration}
      define('DB_NAME', 'wordpress');
      define('DB_USER', 'root');
      define('DB_PASSWORD', '');
      define('DB_HOST', 'localhost:${socket}');
      define('DB_CHARSET', 'utf8mb4');
      define('WP_HOME', '${url}');
      define('WP_SITEURL', '${url}');
      define('DISABLE_WP_CRON', true);
      define('WP_DEFAULT_THEME', 'plain');
      define('WP_HTTP_BLOCK_EXTERNAL', true);
      define('WP_ACCESSIBLE_HOSTS', '127.0.0.1');
      $table_prefix = 'wp_';
      if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
      require_once ABSPATH . 'wp-settings.php';`,
    )
    const site = {
      url,
      folder,
      socket,
      stop,
      php: (code, path = '/') => php(folder, path, code),
      cron: (path = '/') => cron(folder, path),
    }
    const install = `define('WP_INSTALLING', true); require 'wp-load.php'; require ABSPATH . 'wp-admin/includes/upgrade.php';
      wp_install('Members', 'admin', 'admin@example.com', false, '', ${JSON.stringify(PASSWORD)});`
    writeFileSync(join(folder, 'install.php'), `<?php ${install}`)
    execFileSync('php', [...PHP, 'install.php'], { cwd: folder, stdio: 'pipe' })
    if (isNetwork) await makeNetwork(site)
    return Object.assign(site, { serve: () => serve(site, port, cleanups) })
  } catch (error) {
    await stop()
    throw error
  }
}

/** Writes a theme that prints the posts and what plugins add: Debian's package has none. */
function writeTheme(folder) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'style.css'), '/* Theme Name: Plain */')
  writeFileSync(
    join(folder, 'index.php'),
    `<!doctype html><html><head><?php wp_head(); ?></head><body>
    <?php while (have_posts()) { the_post(); the_content(); } wp_footer(); ?></body></html>`,
  )
}

/** Makes a network of the site, and adds the second site. */
async function makeNetwork(site) {
  await site.php(`global $wpdb;
    foreach ($wpdb->tables('ms_global') as $name => $table) $wpdb->$name = $table;
    define('WP_INSTALLING_NETWORK', true);
    require_once ABSPATH . 'wp-admin/includes/upgrade.php';
    install_network();
    return populate_network(1, '${HOST}', 'admin@example.com', 'Network', '/', false);`)
  const file = join(site.folder, 'wp-config.php')
  const constants = {
    MULTISITE: true,
    SUBDOMAIN_INSTALL: false,
    DOMAIN_CURRENT_SITE: HOST,
    PATH_CURRENT_SITE: '/',
    SITE_ID_CURRENT_SITE: 1,
    BLOG_ID_CURRENT_SITE: 1,
  }
  const lines = Object.entries(constants).map(([name, value]) => `define('${name}', ${JSON.stringify(value)});`)
  writeFileSync(file, readFileSync(file, 'utf8').replace('$table_prefix', `${lines.join('\n')}\n$table_prefix`))
  await site.php(
    `return wp_insert_site(['domain' => '${HOST}', 'path' => '/second/', 'title' => 'Second', 'user_id' => 1]);`,
  )
}

/** PHP that sets what a web server sets for a request. */
const server = (path) =>
  `$_SERVER['HTTP_HOST'] = $_SERVER['SERVER_NAME'] = '${HOST}'; $_SERVER['REQUEST_URI'] = '${path}';`

/** Runs PHP in WordPress, and returns what the code returns. */
async function php(folder, path, code) {
  const file = join(folder, 'run.php')
  writeFileSync(
    file,
    `<?php ${server(path)} require 'wp-load.php'; require_once ABSPATH . 'wp-admin/includes/admin.php';
    $result = (function () { ${code} })(); echo "\\nresult:", json_encode($result);`,
  )
  const { stdout } = await execute('php', [...PHP, file], { cwd: folder })
  const [, result] = stdout.match(/\nresult:(.*)$/s) ?? []
  if (result === undefined) throw new Error(stdout)
  return JSON.parse(result)
}

/** Runs WP-Cron, as a cron job of the machine does. */
const cron = (folder, path) => execute('php', [...PHP, '-r', `${server(path)} require 'wp-cron.php';`], { cwd: folder })

/** Serves the site, which also loads files of its own while a page is open. */
async function serve({ folder }, port, cleanups) {
  const args = ['-c', 'exec php "$@" 2>&1', 'php', ...PHP, '-S', `127.0.0.1:${port}`, '-t', folder]
  const server = spawnTied('sh', args)
  cleanups.push(() => stopTied(server))
  await waitForLine(server, /Development Server .* started/)
}
