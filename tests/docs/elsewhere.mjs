// The commands of documents that the runner leaves out, and what runs each: a target of the Makefile, or a test.

/** @type {[pattern: RegExp, runner: string][]} */
export const ELSEWHERE = [
  // The runner starts what it starts: scripts/dev.
  [/^make dev\b/, 'tests/docs/development.mjs'],
  // A release publishes what these install; only its files are tested.
  [/^cargo binstall /, 'scripts/release-binaries'],
  [/^sudo apt-get install \.\/activity-rank_/, 'scripts/release-deb'],
  [/^npm install @activity-rank\/server\b/, 'scripts/release-npm'],
  [/^npx activity-rank (dev|--help)/, 'tests/npm/create.test.mjs'],
  // The project that packed files make.
  [/^make build$/, 'tests/npm/create.test.mjs'],
  [/^cargo build --release -p activity-rank-cli -p redis-rest$/, 'tests/npm/create.test.mjs'],
  [/^scripts\/pack-npm /, 'tests/npm/create.test.mjs'],
  [/^cd (\.\.|leaderboard)$/, 'tests/npm/create.test.mjs'],
  [/^npx --yes \.\/packages\/create-activity-rank-/, 'tests/npm/create.test.mjs'],
  [/^npm install \.\.\/packages\/activity-rank-/, 'tests/npm/create.test.mjs'],
  [/^npm run (dev|deploy|doctor)\b/, 'tests/npm/create.test.mjs'],
  [/^make (test|quick|bench|help)\b/, 'Makefile'],
  // With a wrangler that records its arguments.
  [/^make deploy\b/, 'tests/deploy/deploy.test.mjs'],
  // With a store of its own, in make test-counting.
  [/^UPSTASH_REDIS_REST_URL=\S+ UPSTASH_REDIS_REST_TOKEN=\S+ make conformance$/, 'scripts/conformance'],
  // With stand-ins for the sites, and a real WordPress.
  [/^activity-rank sync (discourse|ghost|wordpress) https:/, 'crates/cli/tests/rebuild/sync/mod.rs'],
  [/^pg_dump --data-only discourse \| activity-rank sync /, 'crates/cli/tests/rebuild/sync/mod.rs'],
  [/^wp db query < activity\.sql \| activity-rank sync csv /, 'tests/ecosystem/wordpress_sync.test.mjs'],
  // The program that it installs is that of the runner.
  [/^cargo install --path crates\/cli\b/, 'crates/cli/tests/end_to_end.rs'],
  [/^pip install ~\/activity-rank\/sdk\/python\b/, 'scripts/test-python'],
]

/** Returns whether a line of a block is run elsewhere. */
export const isRunElsewhere = (line) => ELSEWHERE.some(([pattern]) => pattern.test(line.trim()))
