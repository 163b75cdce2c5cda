# Every command a contributor needs; `make help` lists them. CI calls the same ones.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:

# Tools of the project's own come first: pinned wrangler, workerd, esbuild, wasm-opt and node 22
# from npm, wasm-bindgen from cargo. The machine's versions don't matter.
export PATH := $(CURDIR)/node_modules/.bin:$(CURDIR)/.tools/bin:$(PATH)
# wrangler asks and tells nobody anything, and keeps its logs here.
export WRANGLER_SEND_METRICS := false
export CLOUDFLARE_CF_FETCH_ENABLED := false
export WRANGLER_LOG_PATH := $(CURDIR)/.wrangler/logs

WASM := --target wasm32-unknown-unknown

.PHONY: help tools build check test schema fuzz faults live pictures bench growth gateway memory dev cluster deploy clean

help: ## list these targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-8s %s\n", $$1, $$2 }'

tools: ## install what is missing: wasm target, wasm-bindgen, npm packages, redis-server
	@scripts/tools

build: tools ## compile the Worker into build/, ready to deploy, and print its size
	@scripts/build

check: tools ## format, lints for host and wasm, documentation: any warning is an error
	cargo fmt --all --check
	rustfmt --check fuzz/fuzz_targets/*.rs
	cargo clippy --workspace --all-targets -- -D warnings
	cargo clippy -p activity-rank $(WASM) -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --quiet

test: check build ## everything: check, build, unit, property and integration tests, again over 8 shards, a dry deployment
	@scripts/tools test
	cargo build -p redis-rest -p activity-rank-cli
	@# The minute of faults is at a rate that a busy machine holds too; `make faults` has the full one.
	SHARDS=1 RATE=$${RATE:-40} cargo test --workspace
	scripts/test-shards
	scripts/test-node
	scripts/check-size

fuzz: ## search for inputs that break a promise, SECONDS=60 for each target; needs a nightly toolchain
	@scripts/fuzz

schema: build ## try the OpenAPI document on the Worker at length: CASES=20000 SEED=1
	@scripts/tools test
	cargo build -p redis-rest
	EXAMPLES="$${EXAMPLES:-800}" CASES="$${CASES:-20000}" cargo test --test schema

live: build ## many who watch a board while many write: STREAMS=500 SECONDS=30 WRITES=50
	cargo build -p redis-rest
	@# bash has a SECONDS of its own.
	env STREAMS=$(or $(STREAMS),500) SECONDS=$(or $(SECONDS),30) WRITES=$(or $(WRITES),50) cargo test --test api live::crowd

pictures: build ## make the pictures of docs/img anew
	@scripts/tools test
	cargo build --quiet -p redis-rest
	node scripts/pictures.mjs

bench: build ## measure the Worker beside the same in JavaScript: ROUNDS=5 SECONDS=2 ONLY=ours,hono,fresh
	cargo build --quiet --release -p redis-rest -p activity-rank-bench
	@scripts/bench

growth: build ## measure answers by the size of boards and the number of shards: MOST=10000000 ROUNDS=5; takes 10 GB
	cargo build --quiet --release -p redis-rest -p activity-rank-bench
	@target/release/bench growth

gateway: tools ## measure the gateway beside redis-benchmark, and before clusters: ROUNDS=5 SECONDS=1
	cargo build --quiet --release -p redis-rest -p activity-rank-bench
	@# bash has a SECONDS of its own.
	env SECONDS=$(or $(SECONDS),1) target/release/bench gateway

memory: tools ## measure bytes of Redis a counted activity takes: USERS=100000
	cargo build --quiet --release -p activity-rank-bench
	@target/release/bench memory

faults: build ## a steady load while all parts are killed, hang and answer nonsense: SECONDS=600 SEED=1
	cargo build -p redis-rest
	@# bash has a SECONDS of its own.
	env SECONDS=$(or $(SECONDS),600) SEED=$(or $(SEED),1) cargo test --test faults

dev: build ## run the whole thing here: Redis, gateway, Worker, a real community's data
	@cargo build --quiet -p redis-rest -p activity-rank-cli
	@exec scripts/dev

cluster: build ## the same over a Redis Cluster: three primaries, each with a replica, and SHARDS=8
	@cargo build --quiet -p redis-rest -p activity-rank-cli
	@exec scripts/dev cluster

deploy: build ## deploy to Cloudflare: ENVIRONMENT=preview (the default) or production
	wrangler deploy --env "$${ENVIRONMENT:-preview}"

clean: ## remove everything made here, downloaded tools and development data included
	rm -rf target build node_modules .tools .dev .wrangler
