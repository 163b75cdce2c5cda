// Styles that all elements share.

export const common = `
:host {
  display: block;
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
`
