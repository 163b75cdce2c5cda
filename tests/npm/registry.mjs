// A registry of npm on this machine: it has the packages of some files, and sends clients elsewhere for all others.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

import { listen } from '../sdk/listen.mjs'

/** Starts it with packed packages. Returns its URL and a function that stops it. */
export async function startRegistry(files) {
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim().replace(/\/$/, '')
  const packages = new Map(files.map((file) => [manifestOf(file).name, file]))
  const tarballs = new Map(files.map((file) => [`/tarballs/${basename(file)}`, file]))
  const { url, stop } = await listen((request, response) => {
    const { pathname } = new URL(request.url, url)
    const name = decodeURIComponent(pathname.slice(1))
    const [file, tarball] = [packages.get(name), tarballs.get(pathname)]
    if (tarball) return response.end(readFileSync(tarball))
    if (!file) return response.writeHead(302, { location: upstream + request.url }).end()
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(packument(file, url)))
  })
  return { url, stop }
}

/** Returns what a registry says of a package with one version. */
function packument(file, url) {
  const manifest = manifestOf(file)
  const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  const dist = { tarball: `${url}/tarballs/${basename(file)}`, integrity }
  return {
    name: manifest.name,
    'dist-tags': { latest: manifest.version },
    versions: { [manifest.version]: { ...manifest, dist } },
  }
}

const manifestOf = (file) =>
  JSON.parse(execFileSync('tar', ['-xzOf', file, 'package/package.json'], { encoding: 'utf8' }))
