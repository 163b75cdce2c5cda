// Styles of members: avatars, medals and movement.

export const member = `
[part=avatar] {
  position: relative;
  display: block;
  flex: none;
  inline-size: 2.5em;
  block-size: 2.5em;
  overflow: hidden;
  border-radius: 50%;
  font-weight: 600;
  line-height: 2.5em;
  text-align: center;
  color: oklch(from var(--strong) l .04 var(--hue));
  background: oklch(from color-mix(in oklab, var(--ink) 20%, var(--base)) max(l, .42) .08 var(--hue));
}
[part=avatar] img { position: absolute; inset: 0; inline-size: 100%; block-size: 100%; object-fit: cover; background: var(--base) }
[part~=first] { --metal: var(--activity-rank-first, #ffd147) }
[part~=second] { --metal: var(--activity-rank-second, #c9d3dd) }
[part~=third] { --metal: var(--activity-rank-third, #eaa97a) }
[part~=movement] { font-weight: 600 }
[part~=up] { color: oklch(from var(--ink) l calc(.45 * l * (1.2 - l)) 150) }
[part~=down] { color: oklch(from var(--ink) l calc(.45 * l * (1.2 - l)) 25) }
[part~=new] { color: var(--accent) }
.short { display: none }
`
