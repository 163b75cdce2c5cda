// The languages of the admin page, whose texts are an export of their own.

import { LANGUAGES } from '../languages/index.js'

/** Returns the tags of the languages, each with its own name. */
export const languages = () =>
  LANGUAGES.map((tag) => ({ tag, name: new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? tag }))

/**
 * Loads the texts of a language.
 * @param {string} tag
 * @returns {Promise<import('./types.js').Texts>}
 */
export const load = async (tag) => (await import(`../languages/${tag}.js`)).admin
