// Styles that all elements share.

/** Colors that are computed once for each element, not for each of its parts. */
export const COLORS = ['base', 'strong', 'ink', 'text', 'muted', 'accent', 'line']

export const common = `
:host {
  display: block;
  container-type: inline-size;
}
section {
  --background: var(--activity-rank-background, light-dark(#fff, #181e26));
  /* The background as an opaque color. A transparent one counts as white or nearly black, the opposite of the text. */
  --activity-rank-computed-base: oklch(from color-mix(in oklab, var(--background), color(from var(--activity-rank-text, light-dark(#000, #fff)) xyz clamp(.0114, (.179 - y) * 10000, .95) clamp(.012, (.179 - y) * 10000, 1) clamp(.0131, (.179 - y) * 10000, 1.089) / 1) .1%) l c h / 1);
  /* Grays with a contrast to the background: the cube of the lightness is about the luminance. */
  --activity-rank-computed-strong: oklch(from var(--base) pow(clamp(0, clamp(0, (l - .57) * 10000, 1) * ((pow(l, 3) + .05) / 15 - .05) + clamp(0, (.57 - l) * 10000, 1) * ((pow(l, 3) + .05) * 13 - .05), 1), .3333) 0 0 / 1);
  --activity-rank-computed-ink: oklch(from var(--base) pow(clamp(0, clamp(0, (l - .57) * 10000, 1) * ((pow(l, 3) + .05) / 6.5 - .05) + clamp(0, (.57 - l) * 10000, 1) * ((pow(l, 3) + .05) * 8 - .05), 1), .3333) 0 0 / 1);
  --activity-rank-computed-text: var(--activity-rank-text, oklch(from var(--strong) l .027 260));
  --activity-rank-computed-muted: var(--activity-rank-muted, color-mix(in oklab, var(--ink) 75%, var(--text)));
  --activity-rank-computed-accent: var(--activity-rank-accent, oklch(from var(--ink) l calc(.16 * l) 182));
  --activity-rank-computed-line: var(--activity-rank-line, color-mix(in srgb, var(--text) 13%, transparent));
  /* The computed colors, not their formulas, for each part that uses them. */
  --base: var(--activity-rank-computed-base);
  --strong: var(--activity-rank-computed-strong);
  --ink: var(--activity-rank-computed-ink);
  --text: var(--activity-rank-computed-text);
  --muted: var(--activity-rank-computed-muted);
  --accent: var(--activity-rank-computed-accent);
  --line: var(--activity-rank-computed-line);
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
/* Capitals are in the middle of their pill, which keeps its height. */
@supports (text-box: trim-both cap alphabetic) {
  button { text-box: trim-both cap alphabetic }
  [part=level], [part=you], [part~=place] > [part=rank] { text-box: trim-both cap alphabetic; padding-block: calc((var(--pill, 1.4em) - 1cap) / 2) }
}
[part=status], [part=facts], [part=details], th[scope=col] { font-size: .875em; color: var(--muted) }
[part=status] { min-block-size: 1.4em; overflow-wrap: anywhere }
`
