// Snippets that add the leaderboard and the client to another site.

import { make } from './dom.js'

/**
 * @param {string} url
 * @param {{ file: string, integrity: string } | undefined} hashed the element by its hash
 */
const texts = (url, hashed) => ({
  html: `<script type="module" src="${url}/elements/activity-rank.js"></script>
<activity-rank period="week">The most active members</activity-rank>`,
  ...(hashed && {
    html_hashed: `<script type="module" src="${url}${hashed.file}"
  integrity="${hashed.integrity}" crossorigin></script>
<activity-rank period="week">The most active members</activity-rank>`,
  }),
  script: `import { Client } from '${url}/client.js'

const token = () => fetch('/my-token').then((response) => (response.ok ? response.text() : undefined))
const rank = new Client({ user: '42', token })
rank.visits()
rank.track('like', 'post-7')`,
  curl: `curl ${url}/v1/activity \\
  -H "Authorization: Bearer $SERVICE_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"user":"42","action":"like","target":"post-7"}'`,
})

/**
 * Returns a figure for each snippet, without labels: the page sets those of its language.
 * @param {string} url the deployment, without a trailing slash
 * @param {{ file: string, integrity: string }} [hashed] of elements/integrity.json
 */
export function snippets(url, hashed) {
  return Object.entries(texts(url, hashed)).map(([name, text]) => {
    const id = `snippet-${name}`
    const title = make('span', { id: `${id}-title` })
    const copy = make('button', { type: 'button', id: `${id}-copy` })
    title.dataset.word = `snippet_${name}`
    copy.dataset.word = 'copy'
    copy.setAttribute('aria-describedby', title.id)
    return make('figure', { id }, make('figcaption', {}, title, copy), make('pre', {}, text))
  })
}
