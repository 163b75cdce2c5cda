// Styles of <activity-rank>. The layout is the one of the attribute `layout`, or follows from the element's width.

const WIDE = '(min-inline-size: 36em)'
const NARROW = '(max-inline-size: 20.99em)'
const STACKED = '(max-inline-size: 27.99em)'

const top3 = ':is([part~=first], [part~=second], [part~=third])'

const podium = `
[part=rows] { min-block-size: calc(var(--podium) + (var(--limit) - 3) * var(--row)) }
thead { ${hidden()} }
tbody { display: grid; grid-template: var(--podium) / 1fr repeat(3, minmax(0, 14em)) 1fr }
tbody tr { grid-column: 1 / -1 }
tbody tr${top3} {
  position: relative;
  grid-row: 1;
  align-self: end;
  grid-template-columns: minmax(0, 1fr);
  justify-items: center;
  gap: 0;
  block-size: auto;
  margin-inline: .25em;
  padding: 0;
  border: 0;
  background: none;
  text-align: center;
}
tbody [part~=first] { grid-column: 3; --crown: calc(.8 * var(--size)); --size: min(2em, 6.6cqi); --step: 5em }
tbody [part~=second] { grid-column: 2; --size: min(1.625em, 5.4cqi); --step: 4em }
tbody [part~=third] { grid-column: 4; --size: min(1.625em, 5.4cqi); --step: 3.25em }
tr${top3} th { inline-size: 100%; flex-direction: column; gap: .9em; text-align: center }
tr${top3} .names { flex-direction: column; align-items: center; gap: 0; inline-size: 100%; min-block-size: 3em }
tr${top3} .meta { flex: none; justify-content: center; min-block-size: 1.75em }
tr${top3} [part~=movement] { margin: 0; min-inline-size: 0 }
tr${top3} [part=name] { max-inline-size: 100% }
&[data-of=content] tr${top3} [part=name] { ${twoLines()} min-block-size: 2.8em }
tr${top3} [part=avatar] { font-size: var(--size); box-shadow: 0 0 0 3px var(--base), 0 0 0 6px var(--metal) }
tr${top3} [part=rank] {
  position: absolute;
  z-index: 1;
  inset-block-start: calc(2.75 * var(--size) + var(--crown, 0em) - .8em);
  inset-inline: 0;
  margin-inline: auto;
  inline-size: 1.6em;
  font-size: min(1em, 4.2cqi);
  box-shadow: 0 0 0 2px var(--base);
}
tr[part~=first]::before {
  content: '';
  inline-size: var(--size);
  block-size: calc(.625 * var(--size));
  margin-block-end: calc(.175 * var(--size));
  background: linear-gradient(var(--metal), color-mix(in srgb, var(--metal), #b35c00 35%));
  clip-path: polygon(0 15%, 26% 48%, 50% 0, 74% 48%, 100% 15%, 88% 100%, 12% 100%);
  forced-color-adjust: none;
}
tr${top3} > td:last-child {
  display: flex;
  flex-direction: column;
  align-items: center;
  justify-content: center;
  box-sizing: border-box;
  inline-size: 100%;
  block-size: var(--step);
  border-block-start: 3px solid var(--metal);
  border-radius: .4em .4em 0 0;
  background: oklch(from color-mix(in oklab, var(--metal) 20%, var(--background)) calc(l - .1 * (1 - l)) calc(c * l) h);
  box-shadow: inset 0 .9em 1em -1em var(--metal);
  line-height: 1.25;
}
tr${top3} [part=score] { font-size: min(1.375em, 6.5cqi) }
tr${top3} [part=unit] { display: block; color: inherit }
tr${top3}[part~=own-row] > td:last-child { border-color: var(--accent) }
[part=empty]::before { block-size: 9em; inline-size: 15em }
[part=free] { inset-block-start: calc(var(--podium) + max(0, var(--taken) - 3) * var(--row)) }
& {
  --bar: linear-gradient(var(--line) 0 0) no-repeat;
  --column: min(14em, (100cqi - 2em) / 3);
  --width: calc(var(--column) - .5em);
  --top: var(--podium);
  --steps: var(--bar) 50% calc(var(--top) - 5em) / var(--width) 5em, var(--bar) calc(50% - var(--column)) calc(var(--top) - 4em) / var(--width) 4em,
    var(--bar) calc(50% + var(--column)) calc(var(--top) - 3.25em) / var(--width) 3.25em;
}
`

const stacked = `
[part=heading] .long, [part=range] { display: none }
[part=heading] .short { display: inline }
tr, [part=own] [part~=row] { gap: 0 .5em }
.names { flex-direction: column; align-items: flex-start; gap: 0 }
.names > * { max-inline-size: 100% }
.meta { flex: none; font-size: .75em; line-height: 1.5 }
[part=level] { padding-inline: 0 .1em; border: 0 }
[part=winners] { font-size: .8125em }
[part=winners] [part=avatar] { display: none }
ol { gap: .5em }
[part~=movement] { margin-inline-start: 0; min-inline-size: 0 }
&[data-of=content] { --row: 4.5em }
&[data-of=content] [part=name] { ${twoLines()} line-height: 1.25 }
`

const compact = `
& { padding: .75em }
[part=tabs] { display: none }
[part=menu] { display: block }
[part=heading] { position: relative; block-size: 3em }
[part~=arrow] { position: absolute; inset-block-start: -3em; inset-inline-end: 0 }
[part~=earlier] { inset-inline-end: 2.75em }
[part=menu] { inline-size: calc(100% - 5.75em) }
[part=facts], [part=winners] { font-size: .8125em }
[part=details], [part=top] { font-size: .75em }
[part=own] { column-gap: .5em }
[part=rows] { min-block-size: calc(var(--limit) * var(--row)) }
[part=score] .long { display: none }
[part=score] .short { display: inline }
[part=free] { inset-block-start: calc(var(--taken) * var(--row)) }
thead { ${hidden()} }
tr, [part=own] [part~=row] { grid-template-columns: minmax(1.6em, auto) minmax(0, 1fr) auto; gap: 0 .4em; padding-inline: 0 }
th[role=rowheader], [part=own] [part~=row] > :nth-child(2) { gap: .5em }
[part=avatar] { font-size: .6875em }
[part=name], [part=score] { font-size: .9375em }
[part=rank] { font-size: .875em }
&[data-of=content] [part=name] { font-size: .875em }
[part=winners] [part=avatar] { display: block }
tbody [part~=own-row] { margin-inline: -.4em; padding-inline: .4em }
[part~=winner]:not([part~=first]) { flex: none; min-inline-size: 0 }
[part~=winner]:not([part~=first]) > :is([part=rank], [part=name]) { ${hidden()} }
& { --top: 0em }
`

export const ranking = `
section {
  --row: 3.25em;
  --podium: calc(3.55 * min(2em, 6.6cqi) + 9.65em);
  display: flex;
  flex-direction: column;
  gap: .5em;
  padding: 1em;
}
section[data-of=content] { --row: 3.75em; --podium: calc(3.55 * min(2em, 6.6cqi) + 10.9em) }
.failed > [part=footer] { display: grid !important; min-block-size: 0 }
.failed > [part=menu], .none > [part=panel], :is(.none, .failed) [part=winners] { display: none !important }
.none > [part=footer] { min-block-size: 0 }
[data-event] > :is([part=tabs], [part=menu]), [data-event] [part~=arrow] { display: none !important }

[part=tabs] { display: flex; gap: .125em; box-sizing: border-box; block-size: 2.5em; padding: .25em; border-radius: var(--radius); background: color-mix(in srgb, var(--text) 7%, transparent) }
[part=tab] { flex: 1 1 auto; min-inline-size: 0; padding-inline: .25em; border-radius: calc(var(--radius) - .15em); font-size: .9375em; color: var(--muted); white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
[part=tab]:hover { color: var(--text) }
[part=tab][aria-selected=true] { color: var(--text); background: oklch(from var(--base) calc(l + .1) c h); box-shadow: 0 1px 3px rgb(0 0 0 / .2); font-weight: 600 }
[part=menu] { display: none; box-sizing: border-box; block-size: 2.5em; padding-inline: .6em; font: inherit; font-weight: 600; color: inherit; background: var(--background); border: 1px solid var(--line); border-radius: var(--radius) }
[part=heading] { display: flex; gap: .5em; align-items: center; block-size: 3.5em }
[part=heading] > div { flex: 1; display: flex; flex-direction: column; align-items: flex-start; min-inline-size: 0 }
[part=title], [part=facts] { max-inline-size: 100%; white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
[part=title] { font-size: 1.125em; font-weight: 650; letter-spacing: -.01em }
[part~=arrow] { inline-size: 2.5em; block-size: 2.5em; border-color: var(--line); font-size: 1em; line-height: 1 }
[part~=arrow]:not([aria-disabled]):hover { background: color-mix(in srgb, var(--accent) 10%, transparent) }
[part~=arrow][aria-disabled] { opacity: .4; cursor: default }
[part~=earlier][aria-disabled], [part~=earlier][aria-disabled] ~ [part~=later] { visibility: hidden }
[part~=arrow]:dir(rtl) { transform: scaleX(-1) }

[part=panel] { display: flex; flex-direction: column; gap: .5em }
[part=rows] { position: relative; min-block-size: calc(var(--limit) * var(--row) + 2em) }
.loading [part=rows] {
  --bars: repeating-linear-gradient(transparent 0 1em, var(--line) 1em 2em, transparent 2em var(--row)) no-repeat;
  background: var(--bars) .5em var(--top, 2em) / 1.5em 100%, var(--bars) 3em var(--top, 2em) / calc(100% - 3em) 100%, var(--steps, none);
  animation: pulse 1.5s ease-in-out infinite alternate;
}
.loading table, .loading [part=own], .loading [part=heading] > div { visibility: hidden }
.waiting :is(table, [part=free], [part=own]) { opacity: .5 }
@keyframes pulse { to { opacity: .4 } }
:is([part=empty], [part=free]):empty { display: none }
[part=empty], [part=free] { position: absolute; inset: 0; display: flex; flex-direction: column; gap: 1em; align-items: center; justify-content: center; padding: 1em; color: var(--muted); text-align: center; text-wrap: balance }
/* It ends below the space of the button, which is not shown then. */
[part=free] { inset-block: calc(2em + var(--taken) * var(--row)) -2.5em; margin-block: .5em; border: 1px dashed var(--line); border-radius: var(--radius) }
[part=empty]::before {
  --bar: linear-gradient(color-mix(in srgb, var(--muted) 22%, transparent) 0 0) no-repeat;
  content: '';
  inline-size: 7.5em;
  block-size: 4em;
  background: var(--bar) 50% 100% / 32% 100%, var(--bar) 0 100% / 32% 70%, var(--bar) 100% 100% / 32% 50%;
}

table, thead, tbody { display: block }
tr, [part=own] > [part~=row] { display: grid; grid-template-columns: minmax(2.25em, auto) minmax(0, 1fr) auto; gap: 0 .75em; align-items: center; box-sizing: border-box; block-size: var(--row); padding-inline: .5em }
tbody tr { border-block-end: 1px solid var(--line) }
tbody tr:last-child { border-color: transparent }
thead tr { block-size: 2em; font-size: .8125em; color: var(--muted) }
thead .rank, [part~=row] > :first-child { text-align: center }
th, td { display: block; padding: 0; text-align: start; font-weight: inherit; white-space: nowrap }
th[role=rowheader], [part=own] [part~=row] > :nth-child(2) { display: flex; gap: .65em; align-items: center; min-inline-size: 0 }
.names { flex: 1; display: flex; gap: .5em; align-items: center; min-inline-size: 0 }
[data-of=content] .names { flex-direction: column; align-items: flex-start; gap: 0 }
[data-of=content] .names > * { max-inline-size: 100% }
.meta { flex: 1 0 auto; display: flex; gap: .4em; align-items: center; min-inline-size: 0; font-size: .8125em }
.meta > :empty { display: none }
[part=author] { overflow: hidden; text-overflow: ellipsis; color: var(--muted) }
[data-of=content] .meta { flex: none }
[part=score], [part=rank], [part~=movement] { font-variant-numeric: tabular-nums }
[part=score] { font-weight: 600 }
[part=unit] { display: none; font-size: .8125em; color: var(--muted) }
[part=rank] { display: inline-block; box-sizing: border-box; min-inline-size: 1.6em; padding-inline: .2em; border-radius: 1em; line-height: 1.6; text-align: center; color: var(--muted) }
${top3} > :first-child > [part=rank], [part=winners] [part=rank] {
  color: ${readableOn('var(--metal)')};
  background: linear-gradient(135deg, color-mix(in srgb, var(--metal), #fff 45%), var(--metal));
  font-weight: 700;
  forced-color-adjust: none;
}
${top3} [part=name] { font-weight: 600 }
[part=name], [part=author] { min-inline-size: 0; white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
[part=name] { color: inherit }
a { text-decoration: none }
/* The link of a name is as large as its row. Other links are above it. */
[part~=row], [part~=winner] { position: relative }
a[part=name]::after { content: ''; position: absolute; z-index: 1; inset: 0; border-radius: var(--radius) }
a[part=author] { position: relative; z-index: 1 }
a:hover { text-decoration: underline; text-underline-offset: .2em }
a[part=name]:focus-visible { outline: none }
a[part=name]:focus-visible::after { outline: 2px solid var(--accent); outline-offset: -2px }
a[part=name]:hover::after { background: color-mix(in srgb, var(--text) 5%, transparent) }
[part=level] { padding-inline: .5em; border: 1px solid color-mix(in srgb, currentColor 40%, transparent); border-radius: 1em; color: var(--muted) }
[part=level], [part=you] { max-inline-size: 14em; min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
[part=you] { flex: none }
[part=you] { padding-inline: .5em; border-radius: 1em; color: ${readableOn('var(--accent)')}; background: var(--accent); font-weight: 600 }
[part~=movement] { margin-inline-start: auto; min-inline-size: 2.5em; text-align: end; unicode-bidi: plaintext }
[part=avatar] { inline-size: 2.75em; block-size: 2.75em; font-size: .8125em; line-height: 2.75em }
[data-of=content] [part=avatar] { border-radius: .5em }
tbody [part~=own-row] { border-radius: var(--radius); border-color: transparent; background: color-mix(in srgb, var(--accent) 13%, transparent) }

[part=more] { block-size: 2em; border-color: var(--line); font-weight: 600; color: var(--accent) }
[part=more]:hover { background: color-mix(in srgb, var(--accent) 10%, transparent) }
[part=more][aria-disabled] { opacity: .5; cursor: progress }
[part=more]:empty, .loading [part=more] { visibility: hidden }
[data-layout=podium] [part=more] { display: none }
[part=own] {
  display: grid;
  grid-template-columns: minmax(0, 1fr) auto;
  gap: .25em .75em;
  align-content: center;
  box-sizing: border-box;
  block-size: 5em;
  padding: .5em;
  border-radius: var(--radius);
  background: color-mix(in srgb, var(--accent) 6%, var(--base));
}
[part=own] > [part~=row] { display: none; grid-column: 1 / -1; block-size: 2.25em; padding: 0 }
.apart > [part~=row] { display: grid !important }
.pinned { position: sticky; z-index: 2; inset-block-end: .5em; box-shadow: 0 4px 16px rgb(0 0 0 / .22), 0 0 0 1px var(--line) }
[part=details] { justify-self: start; max-inline-size: 100% }
[part=top]:empty { display: none }
[part=details], [part=top] { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; font-size: .875em; color: var(--muted) }
[part=progress] { grid-column: 1 / -1; block-size: .5em; overflow: hidden; border-radius: 1em; background: color-mix(in srgb, var(--text) 12%, transparent) }
.apart > [part=progress] { block-size: .25em }
/* A transition of the size would cost a layout for each frame. */
[part=bar] { block-size: 100%; border-radius: inherit; background: var(--accent); translate: calc((var(--done, 0) - 1) * 100%); transition: translate .6s; forced-color-adjust: none }
[part=bar]:dir(rtl) { translate: calc((1 - var(--done, 0)) * 100%) }

[part=footer] { display: grid; align-items: center; min-block-size: 1.5em; margin-block-end: -.5em }
[part=footer] > * { grid-area: 1 / 1; min-inline-size: 0 }
[part=status] { font-size: .875em }
[part=status]:not(:empty) ~ [part=winners] { visibility: hidden }
[part=winners] { display: flex; flex-wrap: wrap; gap: 0 1em; align-items: center; align-content: center; block-size: 3.5em; overflow: hidden; font-size: .875em }
[part=winners-title] { color: var(--muted); white-space: nowrap }
ol { display: flex; flex: 1 1 100%; gap: .25em .9em; min-inline-size: 0; margin: 0; padding: 0; list-style: none }
li { display: flex; gap: .3em; align-items: center; min-inline-size: 5em }
[part=winners] [part=avatar] { font-size: .625em }
[part=winners] [part=rank] { flex: none }
section[data-layout=compact] {${stacked}}
@container ${STACKED} { section {${stacked}} }
section[data-layout=compact] {${compact}}
@container ${NARROW} { section {${compact}} }
section:is([data-layout=full], [data-layout=podium]) {${podium}}
@container ${WIDE} { section[data-layout=auto] {${podium}} }
@container (min-inline-size: 44em) { ol { flex-basis: 0 } }
@media print { .pinned { position: static } [part=more], [part~=arrow] { display: none } }
@media (prefers-reduced-motion: reduce) { .loading [part=rows] { animation: none } [part=bar] { transition: none } }
@media (forced-colors: active) {
  [part~=own-row], [part=own], [aria-selected=true] { outline: 1px solid Highlight; outline-offset: -1px }
  [part=bar] { background: Highlight }
}
`

/** Returns declarations of a text that ends after two lines. */
function twoLines() {
  return 'display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; white-space: normal;'
}

/** Returns declarations of what only screen readers show. */
function hidden() {
  return 'position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap'
}

/** Returns black or white, the one with a contrast of at least 4.5 to a color. */
function readableOn(color) {
  const channels = [0.95, 1, 1.089].map((white) => `clamp(0, (.179 - y) * 10000, ${white})`)
  return `color(from ${color} xyz ${channels.join(' ')} / 1)`
}
