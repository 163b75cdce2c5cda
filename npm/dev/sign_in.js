// Loaded by /try in development only, as /development.js: signs in any user, with a token made from the public secret in
// dev.vars.

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

const input = Object.assign(document.createElement('input'), { id: 'as-member', required: true, autocomplete: 'off' })
input.setAttribute('list', 'known-members')
const list = Object.assign(document.createElement('datalist'), { id: 'known-members' })
for (const { user } of board.entries) list.append(new Option(user.name ?? user.id, user.id))
const label = Object.assign(document.createElement('label'), { htmlFor: input.id })
const root = document.documentElement
const showLabel = () => {
  label.textContent = root.lang.startsWith('zh') ? '成员 ID，已有或新的' : 'Id of a member, known or new'
}
new MutationObserver(showLabel).observe(root, { attributes: true, attributeFilter: ['lang'] })
showLabel()
const row = document.createElement('div')
const before = document.getElementById('sign-in')
const button = before?.querySelector('button')
row.append(input, list, ...(button ? [button] : []))
const form = Object.assign(document.createElement('form'), { id: 'sign-in', hidden: before?.hidden })
form.append(label, row)
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  signIn(await tokenOf(input.value.trim()))
  input.value = ''
})
before?.replaceWith(form)
