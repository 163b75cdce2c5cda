// Styles of <activity-climb>. Its height does not depend on its content.

export const climb = `
section {
  min-block-size: 15em;
  font-variant-numeric: tabular-nums;
  padding: 1.25em 1.25em 0;
}
[part=content] { display: grid; grid-template: auto 1fr / 7.5em minmax(0, 1fr) minmax(0, 22em); gap: .5em 1.25em; align-items: center }
[part~=place] { position: relative; grid-row: 1 / 3; inline-size: 7.5em; block-size: 7.5em }
/* The text is on an opaque background, so that its contrast is known. */
[part~=place] p { position: absolute; inset: 8%; border-radius: 50%; background: color-mix(in oklab, var(--metal, var(--base)) 20%, var(--base)); display: flex; flex-direction: column; align-items: center; justify-content: center; line-height: 1.1 }
[part=rank] { font-size: 2.25em; font-weight: 800 }
[part=of] { font-size: .8125em }
[part=ring] { display: block; inline-size: 100%; rotate: -90deg }
[part=ring] circle { fill: none; stroke-width: 6 }
[part=track] { stroke: color-mix(in srgb, var(--text) 12%, transparent) }
[part=rest] { stroke: var(--accent); stroke-linecap: round }
[part=words] { grid-row: 1 / 3; display: grid; gap: .5em; align-content: center; justify-items: start; min-inline-size: 0; block-size: 12.5em }
.pending { visibility: hidden }
[part=title] { font-size: .875em; color: var(--muted) }
[part=next] { font-size: 1.25em; line-height: 1.3; font-weight: 650; overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden }
[part=facts] { display: flex; flex-wrap: wrap; gap: .25em .75em; align-items: center; max-inline-size: 100%; max-block-size: 3.25em; overflow: hidden; font-size: .875em }
[part=facts] > :empty { display: none }
[part=level] { max-inline-size: 12em; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; padding-inline: .6em; border-radius: 1em; color: var(--accent); background: color-mix(in srgb, var(--accent) 12%, var(--base)); font-weight: 600 }
[part=left] { color: var(--muted) }
[part=share] { min-block-size: 2.25em; padding-inline: 1em; border-color: var(--line); font-size: .875em; font-weight: 600; color: var(--accent) }
[part=share]:hover { background: color-mix(in srgb, var(--accent) 10%, transparent) }
[part=share]:disabled { opacity: .5 }
[part=ladder] { grid-row: 1 / 3; grid-column: 3; display: grid; align-content: center; min-block-size: 12.5em; margin: 0; padding: 0; list-style: none }
[part~=rung] { display: grid; grid-template-columns: 2.25em minmax(0, 1fr) auto; gap: .5em; align-items: center; block-size: 2.5em; padding-inline: .5em; border-radius: var(--radius) }
[part~=own] { background: color-mix(in srgb, var(--accent) 13%, var(--base)); font-weight: 600 }
[part=number] { text-align: center; color: var(--muted) }
[part~=own] [part=number] { color: inherit }
.name { display: flex; gap: .5em; align-items: center; min-inline-size: 0 }
[part=name] { min-inline-size: 0; overflow: hidden; color: inherit; text-decoration: none; text-overflow: ellipsis; white-space: nowrap }
a[part=name]:hover { text-decoration: underline; text-underline-offset: .2em }
[part=you] { flex: none; padding-inline: .5em; border-radius: 1em; font-size: .8125em; color: var(--base); background: var(--accent) }
[part=avatar] { font-size: .75em }
[part~=way] { grid-template-columns: minmax(0, 1fr) auto; padding-inline: 1em; background: color-mix(in srgb, var(--accent) 7%, var(--base)); font-weight: 600 }
[part~=way] + [part~=way] { margin-block-start: .375em }
[part~=way] [part=score] { color: var(--accent) }
.loading [part=content] > * { border-radius: var(--radius); background: var(--line) }
.loading [part=content] > * > * { visibility: hidden }
@container (max-inline-size: 44em) {
  section { min-block-size: 26.5em }
  [part=content] { grid-template: 10.5em auto / 6.5em minmax(0, 1fr) }
  [part~=place] { grid-row: 1; inline-size: 6.5em; block-size: 6.5em }
  [part=words] { grid-row: 1; block-size: 10.5em }
  [part=next] { font-size: 1.125em; -webkit-line-clamp: 2 }
  [part=ladder] { grid-row: 2; grid-column: 1 / -1; align-content: start }
  [part=rank] { font-size: 2em }
}
@container (max-inline-size: 24em) {
  section { padding: .75em .75em 0 }
  [part=content] { column-gap: .75em }
  [part=facts] .long { display: none }
  [part=facts] .short { display: inline }
}
@container (max-inline-size: 16em) {
  section { min-block-size: 33.5em }
  [part=content] { grid-template: 6.5em 10.5em auto / minmax(0, 1fr) }
  [part~=place] { justify-self: center }
  [part=words] { grid-row: 2; justify-items: center; text-align: center }
  [part=facts] { justify-content: center }
  [part=ladder] { grid-row: 3; grid-column: 1 }
}
@media print { [part=share] { display: none } }
@media (forced-colors: active) {
  [part=rest] { stroke: Highlight }
  [part=track] { stroke: GrayText }
  [part~=own] { outline: 1px solid Highlight; outline-offset: -1px }
}
`
