// A field that filters what is shown while the moderator types, and opens an exact id.

/** @import { Context } from './types.js' */

import { make } from '../page/dom.js'

/**
 * @param {Context} context
 * @param {object} options
 * @param {string} options.label
 * @param {string} options.hint
 * @param {(query: string) => number} options.show returns how many there are
 * @param {(id: string) => void} options.open
 */
export function searchForm({ texts, format, announce }, { label, hint, show, open }) {
  const input = make('input', { id: 'search', type: 'search', autocomplete: 'off', spellcheck: false, required: true })
  input.setAttribute('aria-describedby', 'search-hint')
  const form = make(
    'form',
    { className: 'search', autocomplete: 'off' },
    make('label', { htmlFor: input.id }, label),
    make('div', { className: 'row' }, input, make('button', { className: 'primary' }, texts.open)),
    make('p', { id: 'search-hint', className: 'hint' }, hint),
  )
  form.role = 'search'
  input.addEventListener('input', () => announce(texts.results(format.number(show(input.value.trim())))))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    open(input.value.trim())
  })
  return form
}
