// Repairs what Scalar 1.72 gets wrong for assistive technology: the names and roles that axe reports.

import { texts } from './texts.js'

/** @type {[selector: string, attributes: () => Record<string, string | null>][]} */
const REPAIRS = [
  ['button[role=none]', () => ({ role: null })],
  // These have no list of suggestions to expand.
  ['.code-input-lite__editor[role=combobox]', () => ({ role: 'textbox' })],
  ['.cm-content:not([aria-label])', () => ({ 'aria-label': texts().code })],
  // A response, which could not be scrolled by keyboard.
  ['.cm-scroller[tabindex="-1"]:not(:has([contenteditable=true]))', () => ({ tabindex: '0' })],
  // No element has the id in this attribute.
  ['.scalar-client [class*=copy-button][aria-controls]', () => ({ 'aria-controls': null })],
  // The page has a region of notifications already.
  ['.scalar-client section[aria-live]:not([role])', () => ({ role: 'group' })],
  // The dialog of a request has a main part of its own.
  ['main.references-rendered', () => ({ 'aria-hidden': isDialogOpen() ? 'true' : null })],
]

const isDialogOpen = () => Boolean(document.querySelector('.scalar-client--open'))

function repair() {
  for (const [selector, attributes] of REPAIRS) {
    for (const element of document.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes())) {
        if (value === null) element.removeAttribute(name)
        else element.setAttribute(name, value)
      }
    }
  }
}

/** Repairs the page now and after each change. A dialog stays in the page and closes by its class. */
export function keepAccessible() {
  repair()
  new MutationObserver(repair).observe(document.body, { attributeFilter: ['class'], childList: true, subtree: true })
}
