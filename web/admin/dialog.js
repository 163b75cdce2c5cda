// Dialogs with the fields of a request, which show why the service refused it.

/** @import { Content } from './parts.js' */
/** @import { Context, Field } from './types.js' */
/** @typedef {{ field: Field, element: HTMLElement, rest?: HTMLElement, read: () => any }} Control */
/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Input */

import { make } from '../page/dom.js'
import { ApiError } from './api.js'
import { button, problem } from './parts.js'

let dialogs = 0

/**
 * @param {Context} context
 * @param {string} [hint]
 * @returns {Field}
 */
export const reasonField = ({ texts }, hint = texts.reason_hint) => ({
  name: 'reason',
  label: texts.reason,
  hint,
  required: true,
  maxLength: 500,
  pointer: '/reason',
})

/**
 * Asks who may read the reason: moderators alone, or a wider circle, which is the member unless it is given.
 * @param {Context} context
 * @param {[value: string, label: string]} [circle]
 * @returns {Field}
 */
export const readerField = ({ texts }, circle = ['member', texts.adjust.member]) => ({
  name: 'reader',
  label: texts.adjust.reader,
  type: 'select',
  options: [['', texts.adjust.moderators], circle],
  pointer: '/public_reason',
})

/**
 * Shows a modal dialog, which closes when another view is opened.
 * @param {Context} context
 * @param {Node} content
 */
export function showDialog({ signal }, content) {
  const dialog = make('dialog', {}, content)
  dialog.addEventListener('close', () => dialog.remove())
  signal.addEventListener('abort', () => dialog.close())
  document.body.append(dialog)
  dialog.showModal()
  return dialog
}

/**
 * Returns the field in which a moderator confirms an irreversible change by the id.
 * @param {Context} context
 * @param {string} id
 * @returns {Field}
 */
export const confirmField = ({ texts }, id) => ({
  name: 'confirmation',
  label: texts.type_to_confirm(id),
  required: true,
  check: (value) => (value === id ? '' : texts.type_exactly(id)),
})

/**
 * Opens a dialog, and sends its values until the service accepts them. Returns the result of `send`, or null if the
 * moderator cancelled. The dialog stays open if the result is null.
 * @template Result
 * @param {Context} context
 * @param {object} options
 * @param {string} options.title
 * @param {Content[]} [options.content]
 * @param {Field[]} options.fields
 * @param {string} options.submit
 * @param {boolean} [options.isDanger]
 * @param {(values: Record<string, any>) => Promise<Result | null>} options.send
 * @returns {Promise<Result | null>}
 */
export function openForm(context, { title, content = [], fields, submit, isDanger = false, send }) {
  const { texts } = context
  const controls = fields.map((field) => controlOf(context, field))
  const titleId = `dialog-title-${++dialogs}`
  const values = () => Object.fromEntries(controls.map(({ field, read }) => [field.name, read()]))
  const failure = make('div', {})
  const confirm = make('button', { className: isDanger ? 'danger' : 'primary' }, submit)
  const cancel = button(texts.cancel, () => dialog.close())
  const form = make(
    'form',
    { autocomplete: 'off', noValidate: false },
    make('h2', { id: titleId }, title),
    ...content,
    ...grouped(controls),
    failure,
    make('div', { className: 'actions' }, cancel, confirm),
  )
  const check = () => {
    for (const { field, element, read } of controls) {
      const input = /** @type {Input} */ (element)
      if (field.derive && !input.dataset.edited) input.value = field.derive(values())
      if (field.check) input.setCustomValidity(field.check(read()))
    }
  }
  check()
  form.addEventListener('input', ({ target }) => {
    const input = /** @type {Input} */ (target)
    if (input.value) input.dataset.edited = 'true'
    else delete input.dataset.edited
    check()
  })
  // The browser reports an invalid field only if it is visible.
  form.addEventListener('invalid', ({ target }) => expand(/** @type {Element} */ (target)), { capture: true })
  const dialog = showDialog(context, form)
  dialog.setAttribute('aria-labelledby', titleId)
  return new Promise((resolve) => {
    /** @type {Result | null} */
    let result = null
    form.addEventListener('submit', async (event) => {
      event.preventDefault()
      confirm.disabled = true
      for (const input of form.querySelectorAll('[aria-invalid]')) input.removeAttribute('aria-invalid')
      for (const text of form.querySelectorAll('.field .error')) text.remove()
      failure.replaceChildren()
      try {
        result = await send(values())
        if (result !== null) dialog.close()
      } catch (error) {
        failure.replaceChildren(problem(context, error))
        if (error instanceof ApiError) markInvalid(error, controls)
      }
      confirm.disabled = false
    })
    dialog.addEventListener('close', () => resolve(result))
  })
}

/** @param {Element | undefined} element */
function expand(element) {
  const details = element?.closest('details')
  if (details) details.open = true
}

/**
 * Marks the fields that the service refused, and focuses the first one. Fields of a group, which may be far from the
 * description of the error, have its text too.
 * @param {ApiError} error
 * @param {Control[]} controls
 */
function markInvalid({ problem }, controls) {
  /** @type {HTMLElement[]} */
  const invalid = []
  for (const { field, element } of controls) {
    const error = problem.errors?.find(({ pointer }) => field.pointer && `${pointer}/`.startsWith(`${field.pointer}/`))
    if (!error) continue
    const row = Number(error.pointer.split('/')[2]) || 0
    // The request has no empty rows, which are not required.
    /** @type {NodeListOf<HTMLElement>} */
    const rows = element.querySelectorAll('li > :first-child:required')
    const input = field.type === 'rows' ? (rows[row] ?? rows[0]) : element
    if (!input) continue
    input.setAttribute('aria-invalid', 'true')
    invalid.push(input)
    if (!field.group) continue
    const text = make('p', { id: `field-${field.name}-error`, className: 'error' }, error.detail)
    input.setAttribute('aria-describedby', text.id)
    input.parentElement?.append(text)
    expand(input)
  }
  invalid[0]?.focus()
}

/**
 * @param {Context} context
 * @param {Field} field
 * @returns {Control}
 */
function controlOf(context, field) {
  if (field.type === 'rows') return rowsOf(context, field)
  const { name, type = 'text', value = '', options = [], required = false, maxLength, step } = field
  const common = { id: `field-${name}`, name, required, autocomplete: 'off' }
  /** @type {Input} */
  let input
  if (type === 'select') {
    input = make('select', common, ...options.map(([value, label]) => make('option', { value }, label)))
  } else {
    input =
      type === 'textarea'
        ? make('textarea', { ...common, rows: 3 })
        : make('input', { ...common, type, step: step ?? '' })
    if (maxLength) Object.assign(input, { maxLength })
    if (field.check) input.spellcheck = false
  }
  input.value = value
  if (field.placeholder) Object.assign(input, { placeholder: field.placeholder })
  const { remove } = field
  if (!remove) return { field, element: input, read: () => input.value.trim() }
  const box = make('input', { type: 'checkbox', ariaLabel: `${field.label}: ${remove}` })
  box.addEventListener('change', () => {
    input.disabled = box.checked
  })
  const rest = make('label', { className: 'remove' }, box, ` ${remove}`)
  return { field, element: input, rest, read: () => (box.checked ? null : input.value.trim()) }
}

/**
 * Creates a field of rows, which the moderator adds and removes. Its value leaves out empty rows.
 * @param {Context} context
 * @param {Field} field
 * @returns {Control}
 */
function rowsOf({ texts }, field) {
  const { name, label, add = '', columns = [], rows = [] } = field
  const list = make('ul', { className: 'rows' })
  const cellsOf = (/** @type {Element} */ row) => [...row.querySelectorAll('input')].map(({ value }) => value.trim())
  const update = () => {
    for (const [index, row] of [...list.children].entries()) {
      const isUsed = cellsOf(row).some(Boolean)
      for (const [column, input] of [...row.querySelectorAll('input')].entries()) {
        input.ariaLabel = `${label} ${index + 1}: ${columns[column]}`
        input.required = isUsed
      }
      const remove = row.querySelector('button')
      if (remove) remove.ariaLabel = texts.remove(`${label} ${index + 1}`)
    }
  }
  /** @param {string[]} cells */
  const append = (cells) => {
    const inputs = columns.map((placeholder, column) =>
      make('input', { placeholder, value: cells[column] ?? '', autocomplete: 'off' }),
    )
    const remove = button('×', () => {
      row.remove()
      update()
      more.focus()
    })
    const row = make('li', {}, ...inputs, remove)
    list.append(row)
    update()
    return inputs[0]
  }
  const more = button(add, () => append([]).focus())
  more.id = `add-${name}`
  const element = make('fieldset', {}, make('legend', {}, label), list, more)
  for (const cells of rows) append(cells)
  element.addEventListener('input', update)
  return { field, element, read: () => [...list.children].map(cellsOf).filter((cells) => cells.some(Boolean)) }
}

/**
 * Returns the fields. A group is a section that opens.
 * @param {Control[]} controls
 */
function grouped(controls) {
  /** @type {Map<string, HTMLElement>} */
  const groups = new Map()
  /** @type {HTMLElement[]} */
  const nodes = []
  for (const control of controls) {
    const { group } = control.field
    if (!group) nodes.push(labelled(control))
    else if (groups.has(group)) groups.get(group)?.append(labelled(control))
    else {
      const fields = make('div', { className: 'fields', role: 'group', ariaLabel: group }, labelled(control))
      groups.set(group, fields)
      nodes.push(make('details', {}, make('summary', {}, group), fields))
    }
  }
  return nodes
}

/** @param {Control} control */
function labelled({ field: { name, type, label, hint }, element, rest }) {
  const parts = type === 'rows' ? [element] : [make('label', { htmlFor: element.id }, label), element]
  if (hint) {
    const text = make('p', { id: `field-${name}-hint`, className: 'hint' }, hint)
    element.setAttribute('aria-describedby', text.id)
    parts.push(text)
  }
  if (rest) parts.push(rest)
  return make('div', { className: 'field' }, ...parts)
}
