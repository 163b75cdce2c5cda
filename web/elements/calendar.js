// Styles of <activity-heatmap>.

import { sheet } from './style.js'

export const calendar = sheet(`
section { min-block-size: 28em }
.loading [part=content] { visibility: hidden }
[part=summary] { min-block-size: 1.5em; font-weight: 600 }
table { inline-size: 100%; block-size: 18.5em; max-inline-size: 28em; margin-block: .5em; table-layout: fixed; border-spacing: .2em }
thead, th { block-size: 1.5em }
td { block-size: 2.5em; padding: 0; border-radius: .3em; text-align: center; font-variant-numeric: tabular-nums }
td[part] { cursor: default; outline-offset: -1px; box-shadow: inset 0 0 0 1px var(--line) }
[part~=level-1] { background: color-mix(in srgb, var(--accent) 10%, var(--background)) }
[part~=level-2] { background: color-mix(in srgb, var(--accent) 20%, var(--background)) }
[part~=level-3] { background: color-mix(in srgb, var(--accent) 30%, var(--background)) }
[part~=level-4] { background: color-mix(in srgb, var(--accent) 42%, var(--background)) }
[part=details] { min-block-size: 2.8em }
`)
