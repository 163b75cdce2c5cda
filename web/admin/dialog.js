// Dialogs with the fields of a request, which show why the service refused it.

/** @import { Content } from './parts.js' */
/** @import { Context, Field } from './types.js' */

import { make } from '../page/dom.js'
import { ApiError } from './api.js'
import { button, problem } from './parts.js'

/** @returns {Field} */
export const reasonField = (/** @type {Context} */ { texts }) => ({
  name: 'reason',
  label: texts.reason,
  hint: texts.reason_hint,
  required: true,
  maxLength: 500,
  pointer: '/reason',
})

/**
 * Opens a dialog, and sends its values until the service accepts them. Returns the result of `send`, or null if the
 * moderator cancelled.
 * @template Result
 * @param {Context} context
 * @param {object} options
 * @param {string} options.title
 * @param {Content[]} [options.content]
 * @param {Field[]} options.fields
 * @param {string} options.submit
 * @param {boolean} [options.isDanger]
 * @param {(values: Record<string, string>) => Promise<Result>} options.send
 * @returns {Promise<Result | null>}
 */
export function openForm(context, { title, content = [], fields, submit, isDanger = false, send }) {
  const { texts } = context
  const inputs = fields.map((field) => ({ field, input: inputOf(field) }))
  const failure = make('div', {})
  const confirm = make('button', { className: isDanger ? 'danger' : 'primary' }, submit)
  const cancel = button(texts.cancel, () => dialog.close())
  const form = make(
    'form',
    { autocomplete: 'off', noValidate: false },
    make('h2', { id: 'dialog-title' }, title),
    ...content,
    ...inputs.map(({ field, input }) => labelled(field, input)),
    failure,
    make('div', { className: 'actions' }, cancel, confirm),
  )
  const dialog = make('dialog', {}, form)
  dialog.setAttribute('aria-labelledby', 'dialog-title')
  const check = () => {
    for (const { field, input } of inputs) {
      if (field.expected === undefined) continue
      input.setCustomValidity(input.value === field.expected ? '' : texts.type_exactly(field.expected))
    }
  }
  check()
  form.addEventListener('input', check)
  return new Promise((resolve) => {
    /** @type {Result | null} */
    let result = null
    form.addEventListener('submit', async (event) => {
      event.preventDefault()
      confirm.disabled = true
      for (const { input } of inputs) input.removeAttribute('aria-invalid')
      try {
        result = await send(Object.fromEntries(inputs.map(({ field, input }) => [field.name, input.value.trim()])))
        dialog.close()
      } catch (error) {
        failure.replaceChildren(problem(context, error))
        if (error instanceof ApiError) markInvalid(error, inputs)
      }
      confirm.disabled = false
    })
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(result)
    })
    context.signal.addEventListener('abort', () => dialog.close())
    document.body.append(dialog)
    dialog.showModal()
  })
}

/**
 * @param {ApiError} error
 * @param {{ field: Field, input: HTMLElement }[]} inputs
 */
function markInvalid({ problem }, inputs) {
  const invalid = inputs.filter(({ field }) =>
    problem.errors?.some(({ pointer }) => field.pointer && `${pointer}/`.startsWith(`${field.pointer}/`)),
  )
  for (const { input } of invalid) input.setAttribute('aria-invalid', 'true')
  invalid[0]?.input.focus()
}

/** @param {Field} field */
function inputOf({ name, type = 'text', value = '', options = [], required = false, maxLength, step, expected }) {
  const common = { id: `field-${name}`, name, required, autocomplete: 'off' }
  if (type === 'select') {
    const select = make('select', common, ...options.map(([value, label]) => make('option', { value }, label)))
    select.value = value
    return select
  }
  const input =
    type === 'textarea'
      ? make('textarea', { ...common, rows: 3 })
      : make('input', { ...common, type, step: step ?? '' })
  if (maxLength) input.maxLength = maxLength
  if (expected !== undefined) input.spellcheck = false
  input.value = value
  return input
}

/**
 * @param {Field} field
 * @param {HTMLElement} input
 */
function labelled({ name, label, hint }, input) {
  const parts = [make('label', { htmlFor: input.id }, label), input]
  if (hint) {
    const text = make('p', { id: `field-${name}-hint`, className: 'hint' }, hint)
    input.setAttribute('aria-describedby', text.id)
    parts.push(text)
  }
  return make('div', { className: 'field' }, ...parts)
}
