// A Ghost of its own with MariaDB.

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { ROOT } from '../recipes/support.mjs'
import { freePort, spawnTied, stopTied, waitForLine } from '../sdk/support.mjs'
import { execute, startMariadb } from './mariadb.mjs'

const VERSION = '6.65.0'
/** The owner of the site. */
const OWNER = { email: 'owner@example.com', password: 'Quiet-harbour-42' }

/** Installs Ghost once. Its package has parts of its own as files, so npm installs it in its own folder. */
function installed() {
  const folder = join(ROOT, `target/ghost-${VERSION}`)
  if (existsSync(folder)) return folder
  const base = mkdtempSync(join(ROOT, 'target/ghost-'))
  const npm = (args, cwd) => execFileSync('npm', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  npm(['pack', '--silent', `ghost@${VERSION}`], base)
  execFileSync('tar', ['xzf', ...readdirSync(base)], { cwd: base })
  const flags = ['--omit=dev', '--omit=optional', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund']
  npm(['install', '--silent', ...flags], join(base, 'package'))
  renameSync(join(base, 'package'), folder)
  rmSync(base, { recursive: true })
  return folder
}

/**
 * Starts a site. Returns its URL, `sql`, which runs statements and returns the rows of the last one, `admin`, which calls the
 * Admin API as the owner, and `stop`.
 */
export async function startGhost() {
  mkdirSync(join(ROOT, 'target'), { recursive: true })
  const folder = installed()
  const base = mkdtempSync(join(tmpdir(), 'ghost-'))
  const cleanups = [() => rmSync(base, { recursive: true, force: true })]
  const stop = async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  }
  try {
    const socket = await startMariadb(base, 'ghost', cleanups)
    cpSync(join(folder, 'content'), join(base, 'content'), { recursive: true })
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const env = {
      // In other environments Ghost sends nothing to the own machine.
      NODE_ENV: 'development',
      url,
      server__host: '127.0.0.1',
      server__port: `${port}`,
      database__client: 'mysql',
      database__connection__socketPath: socket,
      database__connection__user: 'root',
      database__connection__database: 'ghost',
      mail__transport: 'stub',
      paths__contentPath: join(base, 'content'),
      privacy__useUpdateCheck: 'false',
      privacy__useGravatar: 'false',
      security__staffDeviceVerification: 'false',
      logging__transports: '["stdout"]',
    }
    const start = ['-c', 'cd "$0" && exec "$@" 2>&1', folder, process.execPath, 'index.js']
    const ghost = spawnTied('sh', start, env)
    cleanups.push(() => stopTied(ghost))
    await waitForLine(ghost, /Ghost booted/, 240)
    const admin = await signedIn(url)
    return { url, stop, admin, sql: (statements) => execute(socket, statements, 'ghost') }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Sets the site up, signs its owner in, and returns a function that calls the Admin API. */
async function signedIn(url) {
  let cookie = ''
  const admin = async (method, path, body) => {
    const headers = { 'content-type': 'application/json', origin: url, cookie }
    const response = await fetch(`${url}/ghost/api/admin/${path}`, { method, headers, body: JSON.stringify(body) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answers ${response.status}: ${text}`)
    const [session] = response.headers.getSetCookie()
    if (session) cookie = session.split(';')[0]
    return text.startsWith('{') ? JSON.parse(text) : text
  }
  const { email, password } = OWNER
  await admin('POST', 'authentication/setup/', { setup: [{ name: 'Owner', email, password, blogTitle: 'Members' }] })
  await admin('POST', 'session/', { username: email, password })
  return admin
}
