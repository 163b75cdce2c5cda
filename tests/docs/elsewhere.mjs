// The commands of documents that the runner leaves out, and what runs each: a target of the Makefile, or a test.

/** @type {[pattern: RegExp, runner: string][]} */
export const ELSEWHERE = [
  // The runner starts what it starts: scripts/dev.
  [/^make dev\b/, 'tests/docs/development.mjs'],
  // A release publishes what these install; only its files are tested.
  [/^cargo binstall /, 'scripts/release-binaries'],
  [/^sudo apt-get install \.\/activity-rank_/, 'scripts/release-deb'],
  [/^npx activity-rank (dev|--help)/, 'tests/npm/create.test.mjs'],
  [/^npm create activity-rank$/, 'tests/npm/create.test.mjs'],
  [/^cd leaderboard$/, 'tests/npm/create.test.mjs'],
  [/^npm run (dev|deploy|doctor)\b/, 'tests/npm/create.test.mjs'],
  [/^make (test|quick|bench|help)\b/, 'Makefile'],
  // With a wrangler that records its arguments.
  [/^make deploy\b/, 'tests/deploy/deploy.test.mjs'],
  // With a store of its own, in make test-counting.
  [/^UPSTASH_REDIS_REST_URL=\S+ UPSTASH_REDIS_REST_TOKEN=\S+ make conformance$/, 'scripts/conformance'],
  // The program that it installs is that of the runner.
  [/^cargo install --path crates\/cli\b/, 'crates/cli/tests/end_to_end.rs'],
  [/^pip install activity-rank$/, 'scripts/test-python'],
]

/** Returns whether a line of a block is run elsewhere. */
export const isRunElsewhere = (line) => ELSEWHERE.some(([pattern]) => pattern.test(line.trim()))
