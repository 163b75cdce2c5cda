// The page of an address that has none.

import { startPage, titleOf } from './site.js'
import { words } from './words.js'

await startPage({
  render: () => (document.title = titleOf(words().missing_title)),
  showMember: () => {},
})
