// The texts of the API reference in the page's language.

import { words } from '/page/words.js'

/**
 * @typedef {Record<'locale' | 'title' | 'leaderboard' | 'language' | 'dark' | 'code' | 'more' | 'schemas', string>
 *   & { failed(reason: string): string }} Texts
 */

export const texts = () => /** @type {Texts} */ (/** @type {unknown} */ (words()))
