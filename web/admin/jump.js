// A dialog that opens a section, a member or a target by its name: Ctrl+K or ⌘K.

/** @import { Context } from './types.js' */
/** @import { Kind } from './search.js' */
/** @typedef {{ url: string, label: string, kind: string }} Choice */

import { make } from '../page/dom.js'
import { showDialog } from './dialog.js'
import { attempt, named } from './parts.js'
import { isMatch, itemsOf, urlOf } from './search.js'

const KINDS = /** @type {Kind[]} */ (['members', 'targets'])
const SHOWN = 6 // of each kind

/**
 * @param {Context} context
 * @param {Choice[]} sections
 */
export function openJump(context, sections) {
  const { texts } = context
  const singular = { members: texts.member, targets: texts.target }
  const list = make('ul', { id: 'jump-list', role: 'listbox', ariaLabel: texts.jump.results })
  const failure = make('div', {})
  const input = make('input', { id: 'jump-field', type: 'search', role: 'combobox', ariaLabel: texts.jump.label })
  Object.assign(input, { autocomplete: 'off', spellcheck: false, placeholder: texts.jump.label })
  input.ariaExpanded = 'true'
  input.ariaAutoComplete = 'list'
  input.setAttribute('aria-controls', list.id)
  const dialog = showDialog(context, make('div', { className: 'jump' }, input, list, failure))
  dialog.ariaLabel = texts.jump.title

  /** @type {{ kind: Kind, items: import('./search.js').Item[] }[]} */
  let groups = []
  /** @type {Choice[]} */
  let choices = []
  let selected = 0
  /** @param {number} index */
  const select = (index) => {
    selected = (index + choices.length) % choices.length
    for (const [at, option] of [...list.children].entries()) option.ariaSelected = String(at === selected)
    input.setAttribute('aria-activedescendant', `jump-${selected}`)
    list.children[selected]?.scrollIntoView({ block: 'nearest' })
  }
  /** @param {Choice} choice */
  const choose = ({ url }) => {
    dialog.close()
    location.hash = url
  }
  const show = () => {
    const query = input.value.trim()
    choices = sections.filter(({ label }) => label.toLocaleLowerCase().startsWith(query.toLocaleLowerCase()))
    for (const { kind, items } of query ? groups : []) {
      const found = items.filter((item) => isMatch(query, item)).slice(0, SHOWN)
      choices.push(
        ...found.map(({ id, name }) => ({ url: urlOf(kind, id), label: named(id, name), kind: singular[kind] })),
      )
    }
    for (const kind of query ? KINDS : []) {
      const url = urlOf(kind, query)
      const isListed = choices.some((choice) => choice.url === url)
      if (!isListed) choices.push({ url, label: `${texts[kind].open}${query}`, kind: singular[kind] })
    }
    const options = choices.map((choice, index) => {
      const label = make('bdi', {}, choice.label)
      const option = make('li', { id: `jump-${index}`, role: 'option' }, label, make('span', {}, choice.kind))
      option.addEventListener('click', () => choose(choice))
      return option
    })
    list.replaceChildren(...options)
    select(0)
  }
  /** Adds what has loaded; a choice that the moderator has moved to stays selected. */
  const showLoaded = () => {
    const { url } = choices[selected]
    const wasMoved = selected > 0
    show()
    const index = choices.findIndex((choice) => choice.url === url)
    if (wasMoved && index > 0) select(index)
  }
  input.addEventListener('input', show)
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) select(selected + step)
    else if (event.key === 'Enter' && !event.isComposing) choose(choices[selected])
    else return
    event.preventDefault()
  })
  show()
  input.focus()
  const load = async () => {
    groups = await Promise.all(KINDS.map(async (kind) => ({ kind, items: (await itemsOf(context, kind)) ?? [] })))
    if (input.value) showLoaded()
    return ''
  }
  attempt(context, load).then(
    (content) => failure.replaceChildren(content),
    () => {}, // another view was opened
  )
}
