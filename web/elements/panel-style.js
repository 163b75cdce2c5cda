// Styles that <activity-heatmap> and <activity-card> share.

export const panel = `
section { display: flex; flex-direction: column; padding-block-end: 0 }
[part=content] { flex: 1 }
.failed { justify-content: center; text-align: center }
.idle { min-block-size: 0; padding-block-end: .75em }
.idle [part=status] { display: none }
[part=status] { min-block-size: 1.2em; padding: 0; font-size: .75em; line-height: 1.2 }
[part=streak]::before {
  content: "";
  display: inline-block;
  inline-size: 14px;
  block-size: 14px;
  margin-inline-end: .3em;
  vertical-align: -.1em;
  background: var(--muted);
  clip-path: path("M7.5.5C8 3.3 11.7 5 11.7 8.8A4.7 4.7 0 0 1 7 13.6 4.7 4.7 0 0 1 2.3 8.8C2.3 7 3 5.6 4.3 4.5 4.3 6 4.8 6.9 5.6 7.4 5.4 4.8 5.9 2.2 7.5.5z");
  forced-color-adjust: none;
}
.lit::before { background: var(--activity-rank-streak, #e8590c) }
@keyframes pulse { to { opacity: .4 } }
@media (prefers-reduced-motion: no-preference) {
  .loading [part=content] > :is([part=chart], [part=head], [part=places]) { animation: pulse 1.5s ease-in-out infinite alternate }
}
@media (forced-colors: active) { [part=streak]::before { background: CanvasText } }
`
