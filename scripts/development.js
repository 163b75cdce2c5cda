// Loaded by /try in `make dev` only: signs in any user, with a token made from the public secret in dev.vars.

import { signIn } from '/page/try.js'

const HOUR = 3600 // s

const { secret } = await (await fetch('/development.json')).json()
/** @type {{ entries: { user: { id: string, name?: string } }[] }} */
const board = await (await fetch('/v1/ranking/month?limit=20')).json()

/** @param {string} text */
const bytesOf = (text) => new TextEncoder().encode(text)

/** @param {Uint8Array} bytes */
const base64Url = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

/** @param {string} user */
async function tokenOf(user) {
  const parts = [
    { alg: 'HS256', typ: 'JWT' },
    { sub: user, exp: Math.floor(Date.now() / 1000) + HOUR },
  ]
  const signed = parts.map((part) => base64Url(bytesOf(JSON.stringify(part)))).join('.')
  const key = await crypto.subtle.importKey('raw', bytesOf(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return `${signed}.${base64Url(new Uint8Array(await crypto.subtle.sign('HMAC', key, bytesOf(signed))))}`
}

const text = { htmlFor: 'as-member', textContent: 'Sign in as (登录身份)' }
const label = Object.assign(document.createElement('label'), text)
const select = Object.assign(document.createElement('select'), { id: 'as-member' })
select.append(new Option('…', ''), new Option('A new user', 'newcomer'))
for (const { user } of board.entries) select.append(new Option(user.name ?? user.id, user.id))
select.addEventListener('change', async () => {
  if (select.value) signIn(await tokenOf(select.value))
  select.value = ''
})
document.getElementById('sign-in')?.replaceChildren(label, select)
