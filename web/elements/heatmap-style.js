// Styles of <activity-heatmap>. Its height does not depend on its content.

export const heatmap = `
section {
  --cell: .875em;
  --gap: .1875em;
  --pitch: calc(var(--cell) + var(--gap));
  --months: 1.25em;
  --chart: calc(7 * .875em + 6 * var(--gap));
  --spare: calc((var(--chart) - 7 * var(--pitch) + var(--gap)) / 2);
  --level-0: color-mix(in oklab, var(--text) 8%, var(--base));
  --level-1: oklch(from color-mix(in oklab, var(--accent) 28%, var(--base)) l min(c * 2, .1) h);
  --level-2: oklch(from color-mix(in oklab, var(--accent) 52%, var(--base)) l min(c * 1.5, .1) h);
  --level-3: oklch(from color-mix(in oklab, var(--accent) 76%, var(--base)) l calc(c * 1.2) h);
  --level-4: var(--accent);
  min-block-size: 14.25em;
  print-color-adjust: exact;
}
[data-layout=month] {
  --level-2: oklch(from color-mix(in oklab, var(--accent) 44%, var(--base)) l min(c * 1.5, .1) h);
  --level-3: color-mix(in oklab, var(--accent) 88%, var(--base));
}
[part=content] {
  position: relative;
  display: flex;
  flex-direction: column;
  justify-content: space-between;
  inline-size: 100%;
  max-inline-size: 57.5em;
  margin-inline: auto;
}
[data-layout=month] [part=content] { max-inline-size: 38em }
[part=header], [part=footer] { display: flex; flex-wrap: wrap; gap: 0 1em; justify-content: space-between; align-items: center }
[part=header] { min-block-size: 1.5em }
[part=summary] { font-weight: 600 }
.loading :is([part=header], [part=months], [part=footer]) { visibility: hidden }
[part=chart] { display: flex; gap: .4em; box-sizing: border-box; block-size: calc(var(--chart) + var(--months)); padding-block-start: var(--spare) }
[part=months], [part=weekdays] { color: var(--muted) }
:is([part=months], [part=weekdays]) > * { font-size: .75em; line-height: 1; white-space: nowrap }
[part=weekdays] { display: grid; align-content: start; align-items: center; grid-auto-rows: var(--pitch); margin-block-start: calc(var(--months) - var(--gap) / 2); inline-size: 1em }
[part=weekdays] > :nth-child(even) { visibility: hidden }
[data-layout=month] [part=weekdays] { display: none }
[part=scroller] { flex: 1; min-inline-size: 0; overflow-x: auto; margin: -.25em; padding: .25em; scrollbar-width: thin }
[part=months] { display: grid; grid-template-columns: repeat(53, var(--cell)); grid-auto-columns: var(--cell); column-gap: var(--gap); block-size: var(--months) }
[part=months] > * { grid-column: span var(--span) }
[part=calendar] { display: grid; gap: var(--gap) }
[part=scroller] > * { inline-size: max-content; margin-inline-end: auto }
[role=row] { display: flex; gap: var(--gap) }
[role=gridcell] { box-sizing: border-box; inline-size: var(--cell); block-size: var(--cell); border-radius: .2em }
[part~=day], [part~=swatch] { --level: var(--level-0); background: var(--level); box-shadow: inset 0 0 0 1px color-mix(in srgb, var(--text) 7%, transparent) }
[part~=frozen] { background: repeating-linear-gradient(45deg, var(--level) 0 .4em, var(--muted) 0 .45em) }
[part~=day]:hover { box-shadow: inset 0 0 0 1px var(--text) }
[part~=level-1] { --level: var(--level-1) }
[part~=level-2] { --level: var(--level-2) }
[part~=level-3] { --level: var(--level-3) }
[part~=level-4] { --level: var(--level-4) }
[data-layout=year] [part=scroller] { direction: rtl }
[data-layout=year] [part=scroller] > div { direction: ltr }
[data-layout=year] [part=scroller]:dir(rtl) { direction: ltr }
[data-layout=year] [part=scroller]:dir(rtl) > div { direction: rtl }
[data-layout=month] { --spare: 0em }
[data-layout=month] [part=scroller] > * { inline-size: auto }
[data-layout=month] [part=months] { grid-template-columns: repeat(7, 1fr); text-align: center }
[data-layout=month] [part=calendar] { block-size: var(--chart); grid-auto-rows: 1fr }
[data-layout=month] [role=gridcell] { flex: 1; display: grid; place-content: center; block-size: auto; font-size: .75em; line-height: 1; font-variant-numeric: tabular-nums; color: color(from var(--level, var(--base)) xyz clamp(0, (.179 - y) * 10000, .95) clamp(0, (.179 - y) * 10000, 1) clamp(0, (.179 - y) * 10000, 1.089) / 1) }
[part=footer] { min-block-size: 1.25em; font-size: .75em; color: var(--muted) }
[part=facts] { font-size: inherit }
[part=summary], [part=streak], [part=facts], [part=details] { unicode-bidi: plaintext }
[part=legend] { display: flex; gap: .25em; align-items: center; margin-inline-start: auto }
[part=legend] > span { padding-inline: .25em }
[part~=swatch] { inline-size: 1em; block-size: 1em; border-radius: .2em }
[part=details] {
  position: absolute;
  left: 0;
  top: 0;
  z-index: 1;
  box-sizing: border-box;
  inline-size: max-content;
  max-inline-size: min(100%, 24em);
  padding: .4em .7em;
  font-size: .75em;
  white-space: pre-line;
  color: var(--base);
  background: var(--text);
  border-radius: .4em;
  pointer-events: none;
}
[part=details]::first-line { font-weight: 600 }
@container (min-inline-size: 46em) {
  section { --cell: clamp(.625em, (100cqi - 3.125em) / 53 - var(--gap), .875em) }
}
@container (max-inline-size: 36em) {
  section { min-block-size: 15.75em }
  [part=header] { flex-direction: column; align-items: start; block-size: 3em }
}
@container (max-inline-size: 20em) {
  [part=header] { block-size: 3.75em }
  [part=summary], [part=streak] { font-size: .875em }
  [part=facts] { display: none }
}
@media (forced-colors: active) {
  section { --accent: Highlight; --background: Canvas; --text: CanvasText }
  [part~=day], [part~=swatch] { forced-color-adjust: none; border: 1px solid; color: CanvasText }
  [part=details] { border: 1px solid CanvasText }
}
`
