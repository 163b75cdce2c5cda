// On the page of `make dev` only: a member to be is picked, and the token is made here, of the secret
// that dev.vars tells everyone. No deployment has this file.

import { signIn } from '/page/page.js'

const HOUR = 3600 // s

const { secret } = await (await fetch('/development.json')).json()
const board = await (await fetch('/v1/ranking/month?limit=20')).json()
const encoded = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
const bytesOf = (text) => new TextEncoder().encode(text)

async function tokenOf(user) {
  const parts = [{ alg: 'HS256', typ: 'JWT' }, { sub: user, exp: Math.floor(Date.now() / 1000) + HOUR }]
  const signed = parts.map((part) => encoded(bytesOf(JSON.stringify(part)))).join('.')
  const key = await crypto.subtle.importKey('raw', bytesOf(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return `${signed}.${encoded(new Uint8Array(await crypto.subtle.sign('HMAC', key, bytesOf(signed))))}`
}

const label = Object.assign(document.createElement('label'), { htmlFor: 'as-member', textContent: 'Be (在此登录为)' })
const select = Object.assign(document.createElement('select'), { id: 'as-member' })
select.append(new Option('…', ''), new Option('Somebody new', 'newcomer'))
for (const { user } of board.entries) select.append(new Option(user.name ?? user.id, user.id))
select.addEventListener('change', async () => {
  if (select.value) signIn(await tokenOf(select.value))
  select.value = ''
})
document.getElementById('sign-in').replaceChildren(label, select)
