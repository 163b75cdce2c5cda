// Styles of <activity-like>. Its size does not depend on the number.

export const like = `
:host { display: inline-block; container-type: normal; position: relative; vertical-align: middle }
section { inline-size: auto; padding: 0; color: inherit; background: none; border: 0 }
[part=answers] { display: flex; flex-wrap: wrap; gap: .5em; align-items: center }
[part~=answer] {
  display: inline-flex;
  gap: .4em;
  align-items: center;
  box-sizing: border-box;
  min-block-size: 2.25em;
  padding-inline: .8em;
  color: var(--text);
  background: var(--background);
  border-color: var(--line);
  border-radius: var(--activity-rank-radius, 1.125em);
}
[part~=answer]:hover, [aria-pressed=true] { border-color: var(--accent) }
[aria-pressed=true] { color: var(--accent); background: color-mix(in oklab, var(--accent) 12%, var(--background)) }
[part=count] { min-inline-size: 2.5ch; font-variant-numeric: tabular-nums }
.loading [part=count] { visibility: hidden }
svg { inline-size: 1em; block-size: 1em; fill: none; stroke: currentColor; stroke-width: 2 }
[aria-pressed=true] svg { fill: currentColor }
[part=status] {
  position: absolute;
  inset-block-start: 100%;
  z-index: 1;
  inline-size: max-content;
  max-inline-size: 20em;
  min-block-size: 0;
  color: var(--text);
  background: var(--background);
}
[part=status]:not(:empty) { padding: .25em; border: 1px solid var(--line) }
@media (forced-colors: active) {
  section { --accent: Highlight; --background: Canvas; --text: CanvasText; --line: ButtonBorder }
}
`
