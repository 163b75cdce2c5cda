// Light or dark: the reader's preference, until they choose the other one.

import { embedded } from './dom.js'
import { store, stored } from './storage.js'

const STORAGE_KEY = 'activity-rank theme'
const system = matchMedia('(prefers-color-scheme: dark)')

/**
 * Makes a button switch between light and dark.
 * @param {HTMLElement} button
 */
export function startTheme(button) {
  const kept = stored(STORAGE_KEY)
  apply(kept === 'light' || kept === 'dark' ? kept : null)
  const isDark = () => (document.documentElement.dataset.theme ?? systemTheme()) === 'dark'
  const show = () => (button.ariaPressed = String(isDark()))
  button.addEventListener('click', () => {
    const chosen = isDark() ? 'light' : 'dark'
    const theme = chosen === systemTheme() ? null : chosen
    store(STORAGE_KEY, theme)
    apply(theme)
    show()
  })
  system.addEventListener('change', show)
  show()
}

const systemTheme = () => (system.matches ? 'dark' : 'light')

/** @param {string | null} theme null for the reader's preference */
function apply(theme) {
  const { dataset } = document.documentElement
  if (theme) dataset.theme = theme
  else delete dataset.theme
  for (const element of embedded()) {
    if (theme) element.setAttribute('theme', theme)
    else element.removeAttribute('theme')
  }
}
