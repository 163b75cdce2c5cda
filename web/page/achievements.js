// The achievements of a member: the steps that they have, and the progress to the next.

import { $, make } from './dom.js'
import { iconOf } from './icons.js'
import { read, session } from './session.js'
import { dayOf, language, number, words } from './words.js'

/** @typedef {{ value: number, at: string | null }} Step */
/** @typedef {{ id: string, name: string, description: string, icon: string, steps: Step[], value: number, next: number | null }} Achievement */

/** The achievements of a member in `#achievements`, on a deployment that has some. */
export class Achievements {
  #user
  #shown
  /** @type {Achievement[]} */
  #all = []
  /** The language of the texts; empty before the achievements are known. */
  #lang = ''
  #requests = 0 // answers to earlier ones are dropped

  /**
   * @param {string} user
   * @param {(all: Achievement[]) => Achievement[]} [shown] returns those to show
   */
  constructor(user, shown = (all) => all) {
    this.#user = user
    this.#shown = shown
  }

  /** Loads the achievements. Achievements of a hidden member are shown to the member alone. */
  async start() {
    this.clear()
    if ($('achievements').dataset.configured) await this.#load()
  }

  async #load() {
    const request = ++this.#requests
    const lang = language()
    const path = `/v1/users/${encodeURIComponent(this.#user)}/achievements?lang=${lang}`
    const { status, body } = await (session.user === this.#user ? session.request(path) : read(path))
    if (request !== this.#requests) return
    this.#lang = lang
    this.#all = status === 200 ? body.achievements : []
    this.render()
  }

  /**
   * Returns the link to the credential of the highest step that is shown, if the deployment issues credentials.
   * @param {Achievement} achievement
   */
  #credentialOf(achievement) {
    const last = lastOf(achievement)
    if (!last || $('achievements').dataset.configured !== 'credentials') return []
    const { id, name } = achievement
    const query = `step=${last.value}&lang=${language()}`
    const href = `/v1/users/${encodeURIComponent(this.#user)}/achievements/${id}/credential?${query}`
    const { credential } = words()
    const download = `${id}.jwt`
    const link = make('a', { href, download, ariaLabel: `${credential}: ${name}` }, credential)
    // To others, a hidden member has no credential.
    if (session.user === this.#user) link.onclick = (event) => save(event, href, download)
    return [' · ', link]
  }

  clear() {
    this.#requests++
    this.#all = []
    this.#lang = ''
  }

  /** Writes the list, and loads its texts after a change of the language. */
  render() {
    const shown = this.#shown(this.#all).toSorted((one, other) => instantOf(other) - instantOf(one))
    $('achievements').hidden = !shown.length
    const items = shown.map((achievement) => item(achievement, this.#credentialOf(achievement)))
    $('achievements-content').replaceChildren(make('ul', { className: 'plain achievements' }, ...items))
    if (!this.#lang || this.#lang === language()) return
    this.#lang = language()
    this.#load()
  }
}

/**
 * Returns the achievements of which a member has earned a step from an instant until another, with these steps alone.
 * @param {Achievement[]} achievements
 * @param {{ start: string, end: string }} period RFC 3339
 */
export function earnedIn(achievements, { start, end }) {
  const [from, until] = [Date.parse(start), Date.parse(end)]
  const isWithin = (/** @type {Step} */ { at }) => at !== null && from <= Date.parse(at) && Date.parse(at) < until
  return achievements
    .map((achievement) => ({ ...achievement, steps: achievement.steps.filter(isWithin), next: null }))
    .filter(({ steps }) => steps.length)
}

/**
 * Returns the highest step that a member has.
 * @param {Achievement} achievement
 */
const lastOf = ({ steps }) => steps.findLast(({ at }) => at)

/** @param {Achievement} achievement */
const instantOf = (achievement) => Date.parse(lastOf(achievement)?.at ?? '') || 0

/**
 * Saves what an address gives to the member.
 * @param {Event} event
 * @param {string} path
 * @param {string} download
 */
async function save(event, path, download) {
  event.preventDefault()
  const response = await fetch(path, { headers: { authorization: `Bearer ${session.token}` } })
  if (!response.ok) return
  const href = URL.createObjectURL(await response.blob())
  make('a', { href, download }).click()
  URL.revokeObjectURL(href)
}

/**
 * @param {Achievement} achievement
 * @param {(string | Node)[]} credential what follows the day
 */
function item(achievement, credential) {
  const { name, description, icon, value, next } = achievement
  const last = lastOf(achievement)
  const title = make('p', { className: 'title' }, make('bdi', {}, name))
  if (last && last.value > 1) title.append(' ', make('span', { className: 'badge' }, number(last.value)))
  const content = make('div', {}, title)
  if (description) content.append(make('p', { className: 'muted' }, make('bdi', {}, description)))
  if (last?.at) {
    const day = make('time', { dateTime: last.at }, dayOf(last.at))
    content.append(make('p', { className: 'muted' }, day, ...credential))
  }
  if (next !== null) {
    const done = Math.min(value, next)
    const text = words().progress(number(done), number(next))
    const bar = make('progress', { max: next, value: done, ariaLabel: `${name}: ${text}` })
    content.append(make('p', { className: 'progress muted' }, bar, make('span', { ariaHidden: 'true' }, text)))
  }
  return make('li', { className: last ? 'earned' : '' }, make('span', { className: 'icon' }, iconOf(icon)), content)
}
