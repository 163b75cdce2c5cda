// A reporter of node:test for scripts/test-node: prints, after all tests, which were skipped and why.

/** @param {AsyncIterable<any>} events of the test runner */
export default async function* skipped(events) {
  const lines = []
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const reason = data.skip ?? data.todo
    if (reason !== undefined) lines.push(`  ${data.name}: ${reason === true ? 'no reason' : reason}\n`)
  }
  yield lines.length ? `Skipped tests: ${lines.length}\n${lines.join('')}` : 'Skipped no test.\n'
}
