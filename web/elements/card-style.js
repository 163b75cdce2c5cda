// Styles of <activity-card>. Its height does not depend on its content.

export const card = `
section { min-block-size: 12.5em }
.loading [part=content] > * { min-block-size: 3em; background: var(--line); border-radius: var(--radius) }
.loading [part=head] { inline-size: 60% }
.loading [part=content] > * > * { visibility: hidden }
[part=head] { display: flex; gap: .75em; align-items: center; block-size: 3em }
[part=head] > :last-child { flex: 1; min-inline-size: 0 }
[part=head] > :last-child > div { display: flex }
[part=avatar] { font-size: 1.2em }
[part=name], [part=level], [part=streak], [part=earned] { min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
[part=name] { font-size: 1.125em; font-weight: 600; color: inherit }
a[part=name] { text-decoration-color: var(--accent); text-underline-offset: .2em }
[part=rank], [part=score], [part=top], [part=streak] { unicode-bidi: plaintext }
[part=facts] { display: flex; gap: .6em; align-items: center; font-size: .8125em }
[part=level] { flex: none; max-inline-size: 50%; box-sizing: border-box; padding-inline: .6em; border-radius: 1em; color: var(--accent); background: color-mix(in srgb, var(--accent) 10%, var(--background)); font-weight: 600 }
[part=streak] { color: var(--text) }
ul { display: grid; box-sizing: border-box; grid: 6.75em / auto-flow; grid-auto-columns: minmax(0, 1fr); gap: .4em; margin: .75em 0 0; padding: 0; list-style: none }
li {
  box-sizing: border-box;
  display: grid;
  grid-auto-rows: 1.4em;
  place-content: center;
  place-items: center;
  text-align: center;
  white-space: nowrap;
  background: color-mix(in srgb, var(--text) 4%, var(--background));
  border: 1px solid var(--line);
  border-radius: var(--radius);
}
li > * { max-inline-size: 100%; overflow: hidden; text-overflow: ellipsis }
[part=period], [part=top] { font-size: .75em; color: var(--muted) }
[part=score] { font-size: .8125em }
[part=rank] { --pill: 1.25em; padding-inline: .5em; border-radius: 1em; font-size: 1.125em; line-height: 1.25; font-weight: 700 }
[part=rank], [part=score] { font-variant-numeric: tabular-nums }
:is([part~=first], [part~=second], [part~=third]) > [part=rank] { color: color(from var(--metal) xyz clamp(0, (.179 - y) * 10000, .95) clamp(0, (.179 - y) * 10000, 1) clamp(0, (.179 - y) * 10000, 1.089) / 1); background: var(--metal) }
@container (max-inline-size: 34em) {
  [part=rank] { font-size: 1em; padding-inline: .4em }
  [part=top] { font-size: .6875em }
  [part=unit], .unranked { position: absolute; clip-path: inset(50%); inline-size: 1px; block-size: 1px; overflow: hidden }
}
@container (max-inline-size: 20em) {
  section { min-block-size: 16.5em }
  [part=head] { block-size: 4.75em; gap: .5em }
  [part=avatar] { font-size: 1em }
  [part=facts] { display: block; font-size: .75em }
  [part=facts] > * { display: block; inline-size: fit-content; max-inline-size: 100%; box-sizing: border-box }
  [part=streak] { white-space: normal; line-height: 1.2 }
  ul { grid: auto-flow 1.875em / minmax(0, auto) max-content minmax(max-content, 1fr) max-content; gap: 0 .4em; margin-block-start: .5em }
  li { grid: 1fr / subgrid; grid-column: 1 / -1; place-content: normal; place-items: center start; background: none; border-width: 0; border-radius: 0 }
  li + li { border-block-start-width: 1px }
  :is([part=period], [part=score], [part=top]) { font-size: .6875em }
  [part=rank] { overflow: visible; padding-inline: .3em; font-size: .8125em }
  [part=score] { justify-self: end }
}
@container (max-inline-size: 13em) {
  [part=top] { position: absolute; clip-path: inset(50%) }
}
@media (forced-colors: active) { [part=level], [part=avatar] { border: 1px solid } }
`
