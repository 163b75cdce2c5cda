// Styles of the elements. Constructed sheets need no `unsafe-inline`.

export const common = sheet(`
:host {
  display: block;
  color-scheme: light dark;
  container-type: inline-size;
}
section {
  --accent: var(--activity-rank-accent, light-dark(#00695c, #5fd3bf));
  --background: var(--activity-rank-background, light-dark(#fff, #181e26));
  --text: var(--activity-rank-text, light-dark(#1b2330, #e4e9ef));
  --muted: var(--activity-rank-muted, light-dark(#5a6676, #9aa6b5));
  --line: var(--activity-rank-line, light-dark(#dde3e9, #2c3541));
  --radius: var(--activity-rank-radius, .5em);
}
:host([hidden]), [hidden], section:not(.failed) > slot, .failed > div { display: none !important }
:host([theme=light]) { color-scheme: light }
:host([theme=dark]) { color-scheme: dark }
section {
  box-sizing: border-box;
  inline-size: 100%;
  padding: .75em;
  color: var(--text);
  background: var(--background);
  border: 1px solid var(--line);
  border-radius: var(--radius);
  line-height: 1.4;
}
p { margin: 0 }
button {
  padding: 0;
  font: inherit;
  color: inherit;
  background: none;
  border: 1px solid transparent;
  border-radius: var(--radius);
  cursor: pointer;
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px }
[part=status], [part=facts], [part=details], th[scope=col] { font-size: .875em; color: var(--muted) }
[part=status] { min-block-size: 1.4em; overflow-wrap: anywhere }
`)

export const ranking = sheet(`
section { min-block-size: calc(var(--limit) * 3em + var(--own) + 11.75em) }
[role=tablist] { display: flex; gap: .25em; block-size: 2.5em }
[role=tab] { flex: 1; min-inline-size: 0; white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
[role=tab]:hover, [part~=arrow]:not([aria-disabled]):hover { background: color-mix(in srgb, var(--accent) 8%, transparent) }
[role=tab][aria-selected=true] { color: var(--accent); border-color: var(--accent); font-weight: 600 }
[part=heading] { display: flex; gap: .5em; align-items: center; block-size: 3.75em }
[part=heading] > div { flex: 1; min-inline-size: 0 }
[part=title], [part=facts] { white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
[part=title] { font-weight: 600 }
[part~=arrow] { inline-size: 2.5em; block-size: 2.5em; border-color: var(--line) }
[part~=arrow][aria-disabled] { opacity: .4; cursor: default }
[part~=earlier][aria-disabled], [part~=earlier][aria-disabled] ~ [part~=later] { visibility: hidden }
[part~=arrow]:dir(rtl) { transform: scaleX(-1) }
[part=rows] { min-block-size: calc(var(--limit) * 3em + 2em) }
.loading [part=rows] { animation: pulse 1.5s ease-in-out infinite alternate; background: repeating-linear-gradient(transparent 0 .75em, var(--line) .75em 2.25em, transparent 2.25em 3em) 0 2em / 100% }
.loading table { visibility: hidden }
.waiting table, .waiting [part=own] { opacity: .5 }
.none [part=own], .loading [part=own] { visibility: hidden }
[part=empty]:empty { display: none }
[part=empty] { padding: .75em .25em; color: var(--muted) }
@keyframes pulse { to { opacity: .4 } }
table { inline-size: 100%; border-collapse: collapse }
tr { block-size: 3em }
thead tr { block-size: 2em }
th, td { padding: 0 .25em; text-align: start; font-weight: inherit; border-block-end: 1px solid var(--line) }
th[scope=row] { inline-size: 100%; max-inline-size: 0 }
:is(th, td):last-child { text-align: end }
[part=score], [part=rank] { font-variant-numeric: tabular-nums }
[part=rank] { display: inline-block; box-sizing: border-box; min-inline-size: 2em; padding: 0 .3em; border-radius: 1em; line-height: 2em; text-align: center }
:is(th, [part=own]) > div { display: flex; gap: .6em; align-items: center; min-inline-size: 0 }
[part=name] { min-inline-size: 0; color: inherit; white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
a[part=name] { text-decoration-color: var(--accent); text-underline-offset: .2em }
[part=avatar] {
  position: relative;
  flex: none;
  inline-size: 2em;
  block-size: 2em;
  overflow: hidden;
  border-radius: 50%;
  text-align: center;
  line-height: 2em;
  color: light-dark(#1b2330, #e4e9ef);
  background: light-dark(hsl(var(--hue) 50% 88%), hsl(var(--hue) 30% 28%));
}
[part=avatar] img { position: absolute; inset: 0; inline-size: 100%; block-size: 100%; object-fit: cover; background: var(--background) }
:is([part~=first], [part~=second], [part~=third]) { font-weight: 600 }
:is([part~=first], [part~=second], [part~=third]) [part=rank] { color: #1b2330 }
[part~=first] [part=rank] { background: var(--activity-rank-first, #ffd75e) }
[part~=second] [part=rank] { background: var(--activity-rank-second, #d5dbe2) }
[part~=third] [part=rank] { background: var(--activity-rank-third, #eab587) }
[part~=own-row] { background: color-mix(in srgb, var(--accent) 12%, transparent) }
[part=own] {
  position: sticky;
  inset-block-end: 0;
  display: grid;
  grid-template: 2.5em 1.75em / minmax(2em, auto) 1fr auto;
  gap: 0 .5em;
  align-items: center;
  box-sizing: border-box;
  block-size: 4.75em;
  padding: .25em;
  background: color-mix(in srgb, var(--accent) 12%, var(--background));
  border-radius: var(--radius);
}
[part=own] > div > span:last-child { display: flex; gap: .5em; min-inline-size: 0 }
[part=details] { grid-column: 1 / -1; padding-inline-start: .5em; white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
[part~=movement] { flex: none; font-size: .875em }
[part~=up] { color: light-dark(#1a6b2f, #7fd694) }
[part~=down] { color: light-dark(#a3231b, #ff9a90) }
[part=status] { padding-block-start: .5em }
@container (max-inline-size: 24em) {
  [role=tab] { font-size: .8125em }
}
@media (prefers-reduced-motion: reduce) { .loading [part=rows] { animation: none } }
@media (forced-colors: active) {
  [part~=own-row], [part=own], [aria-selected=true] { outline: 1px solid Highlight; outline-offset: -1px }
}
`)

export function sheet(text) {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(text)
  return sheet
}
