// What another site writes to have boards and to count, for this deployment.

const texts = (site) => ({
  html: `<script type="module" src="${site}/elements/activity-rank.js"></script>
<activity-rank period="week">The most active members</activity-rank>`,
  javascript: `import { Client } from '${site}/client.js'

const rank = new Client({ user: '42', token: async () => (await fetch('/my-token')).text() })
rank.visits()
rank.track('like', 'post-7')`,
  curl: `curl ${site}/v1/activity \\
  -H "Authorization: Bearer $SERVICE_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"user":"42","action":"like","target":"post-7"}'`,
})

/** A figure of each, its words to be filled in. */
export function snippets(site) {
  return Object.entries(texts(site)).map(([name, text]) => {
    const figure = document.createElement('figure')
    figure.id = `snippet-${name}`
    const caption = document.createElement('figcaption')
    const title = document.createElement('span')
    title.id = `snippet-${name}-title`
    title.dataset.word = name
    const copy = document.createElement('button')
    copy.type = 'button'
    copy.id = `snippet-${name}-copy`
    copy.dataset.word = 'copy'
    copy.setAttribute('aria-describedby', title.id)
    caption.append(title, copy)
    const code = document.createElement('pre')
    code.textContent = text
    figure.append(caption, code)
    return figure
  })
}
