// Light or dark: the reader's preference, until they choose the other one.

import { embedded } from './dom.js'

const STORAGE_KEY = 'activity-rank theme'
const system = matchMedia('(prefers-color-scheme: dark)')

/**
 * Makes a button switch between light and dark.
 * @param {HTMLElement} button
 */
export function startTheme(button) {
  apply(stored())
  const isDark = () => (document.documentElement.dataset.theme ?? systemTheme()) === 'dark'
  const show = () => (button.ariaPressed = String(isDark()))
  button.addEventListener('click', () => {
    const theme = isDark() ? 'light' : 'dark'
    store(theme === systemTheme() ? null : theme)
    apply(theme === systemTheme() ? null : theme)
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

function stored() {
  try {
    const theme = localStorage.getItem(STORAGE_KEY)
    return theme === 'light' || theme === 'dark' ? theme : null
  } catch {
    return null // storage is unavailable
  }
}

/** @param {string | null} theme */
function store(theme) {
  try {
    if (theme) localStorage.setItem(STORAGE_KEY, theme)
    else localStorage.removeItem(STORAGE_KEY)
  } catch {
    // Storage is unavailable.
  }
}
