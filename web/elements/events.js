// Event streams as in the HTML Living Standard, 9.2.6. EventSource does not expose the status of a response.

/** Yields the events of a stream of bytes, which it cancels on exit. Calls a function when bytes arrive. */
export async function* readEvents(body, onBytes) {
  const reader = body.getReader()
  const decoder = new TextDecoder() // removes a byte order mark
  const parse = eventParser()
  try {
    for (let chunk; !(chunk = await reader.read()).done; ) {
      onBytes?.()
      yield* parse(decoder.decode(chunk.value, { stream: true }))
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

/** Returns a function that takes the next text and returns the events it completes. */
function eventParser() {
  let rest = '' // a line without its end
  let hasCr = false // whether the last line ended in a CR
  let [type, data, id] = ['', '', '']
  let retry
  return (text) => {
    if (!text) return []
    const lines = (rest + text.slice(hasCr && text[0] === '\n' ? 1 : 0)).split(/\r\n?|\n/)
    hasCr = text.endsWith('\r')
    rest = lines.pop()
    const events = []
    for (const line of lines) {
      const [, field, value] = /^([^:]*):? ?(.*)/s.exec(line)
      if (field === 'event') type = value
      else if (field === 'data') data += `${value}\n`
      else if (field === 'id' && !value.includes('\0')) id = value
      else if (field === 'retry' && /^\d+$/.test(value)) retry = Number(value)
      if (line) continue
      if (data) events.push({ type: type || 'message', data: data.slice(0, -1), id, retry })
      type = data = ''
    }
    return events
  }
}
