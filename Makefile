# Every command that a contributor needs; `make help` lists them. CI calls the same ones.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:

# The project's own tools come first on PATH: wrangler, workerd, esbuild, wasm-opt and Node.js 22 from npm,
# cargo-deny from cargo, all of pinned versions.
export PATH := $(CURDIR)/node_modules/.bin:$(CURDIR)/.tools/bin:$(PATH)
# wrangler sends no metrics, does not look itself up at Cloudflare, and logs into the repository.
export WRANGLER_SEND_METRICS := false
export CLOUDFLARE_CF_FETCH_ENABLED := false
export WRANGLER_LOG_PATH := $(CURDIR)/.wrangler/logs
# Tests start Miniflare and wrangler hundreds of times; a quarter of that is compiling their JavaScript.
export NODE_COMPILE_CACHE := $(CURDIR)/target/node-compile-cache

WASM := --target wasm32-unknown-unknown

.PHONY: help tools build quick lint lint-text lint-rust check graph dialect deny test compile test-tools test-unit test-api \
	test-counting test-cli test-gateway test-web test-shards test-deploy soak ecosystem test-documents test-python \
	test-recipes test-metrics test-debian test-transport reqwest engine conformance schema fuzz faults live pictures compare \
	minutes vitals bench cost growth gateway memory isolate moderation replay dev cluster deploy release clean

# ---- Set up

help: ## list these targets
	@awk -F ':.*## ' '/^# ---- / { printf "%s%s\n", group++ ? "\n" : "", substr($$0, 8) } \
		/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

tools: ## install what is missing: wasm target, npm packages, redis-server
	@scripts/tools

build: tools ## compile the Worker into build/, ready to deploy, and print its size
	@scripts/build

clean: ## remove everything generated, including downloaded tools and development data
	rm -rf target build sdk/sync/dist node_modules .tools .dev .wrangler

# ---- Run and deploy

dev: ## Redis, gateway and Worker on this machine, with the data of a real community
	@exec scripts/dev

cluster: ## the same over a Redis Cluster: three primaries with a replica each, and SHARDS=8
	@exec scripts/dev cluster

deploy: build ## deploy to Cloudflare, with migrations: ENVIRONMENT=preview (the default) or production
	@node scripts/deploy.mjs "$${ENVIRONMENT:-preview}"

release: build ## the files of a release in target/release-files, and the gateway's image: IMAGE=redis-rest
	scripts/release-worker
	scripts/release-binaries
	scripts/release-deb
	scripts/release-npm
	scripts/release-python
	scripts/release-wordpress
	scripts/release-image

# ---- Checks

quick: tools ## format, lints and unit tests of what changed since origin/main
	@scripts/quick

# What `make check` and .ci/run begin with. Linting Rust needs no packages of npm.
lint:
	@scripts/tools rust
	@node scripts/steps.mjs \
		'checking documents and JavaScript|30|scripts/tools && $(MAKE) --no-print-directory lint-text' \
		'linting Rust|120|$(MAKE) --no-print-directory lint-rust'

lint-text:
	scripts/check-links
	scripts/import-graph --check
	scripts/dialect --max 731
	scripts/check-js

lint-rust:
	scripts/test --check
	cargo fmt --all --check
	cargo fmt --manifest-path crates/fuzz/Cargo.toml --check
	cargo fmt --manifest-path crates/wasm-bindgen/Cargo.toml --check
	cargo clippy --quiet --workspace --all-targets -- -D warnings
	cargo clippy --quiet -p activity-rank $(WASM) -- -D warnings

check: lint ## format, links, import cycles, lints for host, wasm and workflows, documentation; warnings are errors
	cargo clippy --quiet -p activity-rank $(WASM) --features reqwest -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --quiet
	scripts/check-workflows

graph: ## print the imports between the modules of each crate; fails if they have a cycle
	@scripts/import-graph

dialect: ## count words and sentence forms that the language guide replaces
	@scripts/dialect

deny: ## check licences, sources and known vulnerabilities of dependencies; installs cargo-deny once
	@scripts/deny

# ---- Tests

test: compile ## build and all tests, each piece of code once; CI runs the test-… targets in parallel
	@scripts/test

# Compiles the Workers and all tests, and installs what only tests need, at once: optimizing a Worker takes one processor, so
# does each test program, and installing waits for downloads.
compile: tools
	@node scripts/steps.mjs \
		'compiling the Workers|150|scripts/build && scripts/build-sync' \
		'installing the browser and the tools of tests|40|scripts/tools test' \
		'compiling the tests|300|scripts/test --compile'

# What only tests need: schemathesis, and the browser and fonts of pictures.
test-tools:
	@scripts/tools test

test-unit: tools ## unit tests, documentation tests and the stored fuzzing inputs
	@scripts/test --group unit

test-api: build test-tools ## integration tests of the Worker and its OpenAPI document
	@scripts/test --group api

test-counting: build ## exact counting against a reference model, with failures and concurrency
	@scripts/test --group counting

test-cli: build ## the command line: import, export, rebuild
	@scripts/test --group cli

test-gateway: build ## the gateway over one Redis and a cluster; the servers of tests and benchmarks
	@scripts/test --group gateway

test-web: build test-tools ## tests in JavaScript: SDKs against the gateway, elements and pages in Chromium
	@scripts/build-sync
	@scripts/test --group web

test-shards: build ## tests of boards and stores again, over 8 shards
	@scripts/test --group shards

test-deploy: build ## a deployment to each environment without the upload, and the size of the Worker
	@scripts/test --group deploy

# ---- More tests

soak: export SOAK := 1
soak: check compile reqwest ## everything in full depth, each night: all tests over shards, more random requests, kills and failures, the targets below
	@scripts/test

# The documents and recipes are tested with the packages of this checkout.
ecosystem: build test-tools ## tests of the documents, and tests that need more than Rust and Node.js; not part of `make test`
	@scripts/build-sync
	@scripts/test --group documents --group python --group recipes --group metrics --group debian --group engine

test-documents: build test-tools ## the commands of README and docs, as they are written
	@scripts/build-sync
	@scripts/test --group documents

test-python: build ## the Python package against the Worker: mypy and pytest
	@scripts/test --group python

test-recipes: build test-tools ## recipes with PHP, WordPress, Ghost, Go, Hugo, Astro and Next.js
	@scripts/build-sync
	@scripts/test --group recipes

test-metrics: build ## /metrics with a real Prometheus: format, dashboard, alerts
	@scripts/test --group metrics

test-debian: tools ## the Debian package of the programs
	cargo build --quiet -p redis-rest -p activity-rank-cli
	scripts/release-deb target/debug target/debian

test-transport: build reqwest ## the Worker with reqwest as its transport
	@scripts/test --group transport

# It is not deployed, so compiling it faster matters more than its size.
reqwest: tools
	@CARGO_PROFILE_WORKER_LTO=off CARGO_PROFILE_WORKER_OPT_LEVEL=1 CARGO_PROFILE_WORKER_CODEGEN_UNITS=16 WASM_OPT=-O0 \
		scripts/build --features reqwest

engine: build ## counting and the API with the scripts in gopher-lua, the engine that Upstash's errors point to: STEPS=10000
	@scripts/test --group engine

conformance: build ## the tests of counting to rebuild against a real store: UPSTASH_REDIS_REST_URL=… UPSTASH_REDIS_REST_TOKEN=…
	@scripts/conformance

schema: build test-tools ## send requests generated from the OpenAPI document: CASES=20000 SEED=1
	@scripts/test --gateway
	EXAMPLES="$${EXAMPLES:-800}" CASES="$${CASES:-20000}" scripts/test --only schema

faults: build ## a steady load while every part is killed, hangs, lags and returns garbage: SECONDS=600 SEED=1
	@scripts/test --gateway
	@# bash has a variable SECONDS of its own.
	env SECONDS=$(or $(SECONDS),600) SEED=$(or $(SEED),1) scripts/test --only faults

live: build ## many clients watch a board while it changes: STREAMS=500 SECONDS=30 WRITES=50 IDLE=120
	@scripts/test --gateway
	@# bash has a variable SECONDS of its own.
	env STREAMS=$(or $(STREAMS),500) SECONDS=$(or $(SECONDS),30) WRITES=$(or $(WRITES),50) IDLE=$(or $(IDLE),120) \
		scripts/test --only api live::crowd

fuzz: tools ## coverage-guided fuzzing, SECONDS=60 for each target; needs a nightly toolchain
	@scripts/fuzz

# ---- Measurements

bench: build ## compare the Worker with JavaScript: ROUNDS=5 SECONDS=2 ONLY=ours,hono,fresh
	cargo build --quiet --release -p redis-rest -p activity-rank-bench
	@scripts/bench

cost: build ## count the Redis commands of each kind of request and of cron, and write the tables of docs/costs.md
	cargo build --quiet --release -p redis-rest -p activity-rank-bench
	@target/release/bench cost
	@target/release/bench routes

growth: build ## latency by the size of boards and the number of shards: MOST=10000000 ROUNDS=5; takes 10 GB
	cargo build --quiet --release -p redis-rest -p activity-rank-bench
	@target/release/bench growth

gateway: tools ## compare the gateway with redis-benchmark, also before clusters: ROUNDS=5 SECONDS=1
	cargo build --quiet --release -p redis-rest -p activity-rank-bench
	@# bash has a variable SECONDS of its own.
	env SECONDS=$(or $(SECONDS),1) target/release/bench gateway

memory: tools ## bytes of Redis for each counted activity: USERS=100000
	cargo build --quiet --release -p activity-rank-bench
	@target/release/bench memory

isolate: build ## memory of workerd over requests whose clients go away, and over large boards: REQUESTS=5000 ONLY=aborted BUNDLE=folder
	cargo build --quiet --release -p redis-rest -p activity-rank-bench
	@target/release/bench isolate

moderation: build ## duration of the scripts that hide and erase a user: BOARDS=1000000 ENTRIES=600000
	cargo build --quiet --release -p redis-rest -p activity-rank-bench
	@target/release/bench moderation

replay: build ## duration of verify, recount and rebuild, and of the writes meanwhile: ENTRIES=100000
	cargo build --quiet --release -p redis-rest -p activity-rank-cli -p activity-rank-bench
	@target/release/bench replay

vitals: build test-tools ## what the element adds to a page on a phone, and what that of another commit adds: ROUNDS=9 AGAINST=ab952e7 HEIGHT=46.5em
	cargo build --quiet -p redis-rest
	@node scripts/vitals.mjs

compare: build ## what faults do to activity-rank and to what people write by hand, for docs/alternatives.md: COUNT=1000
	cargo build --quiet -p redis-rest
	COUNT=$${COUNT:-1000} node scripts/compare.mjs --write

minutes: build test-tools ## how long docs/tutorials/history.md takes, written into it
	cargo build --quiet -p activity-rank-cli -p redis-rest
	node tests/docs/minutes.mjs --write

pictures: build test-tools ## take the pictures of docs/img and those that tests compare again
	cargo build --quiet -p redis-rest
	node scripts/pictures.mjs
	PICTURES=take node --test tests/web/pictures.test.mjs tests/web/page_pictures.test.mjs \
		tests/web/foreign_pictures.test.mjs
	PICTURES=take scripts/test-ecosystem tests/ecosystem/like_pages.test.mjs
	node scripts/motion.mjs
