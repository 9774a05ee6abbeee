# SPDX-License-Identifier: BSD-2-Clause
#
# A thin wrapper around Meson. All paths are relative and quoted, so a checkout
# may live under a path with spaces. "make help" lists the targets.

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
PYTHON ?= python3
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
FUZZ_SECONDS ?= 30
# "no" builds with what is there and never calls the package manager.
DEPS ?= yes
# Which tests of the other CPU "make test-vm" runs: all or smoke.
VM ?= all
# How many runs "make test-harm" makes, and of what: HARM=--heap records the heap.
RUNS ?= 1000
HARM ?=
# Warnings are errors in the tests; WERROR=false lets an unknown compiler through.
WERROR ?= true

export MAKEFLAGS += --no-print-directory
RUN_TESTS = "$(PYTHON)" scripts/run-tests.py --build "$(BUILD)" --jobs $(JOBS) --werror $(WERROR)

.DEFAULT_GOAL := all
.PHONY: all deps demo test test-long test-harm test-vm test-deb test-python lint bench install uninstall deb \
	asan fuzz unit e2e golden format clean help

all: ## build; the program is then at build/wick
	@scripts/install-deps --use "$(DEPS)" build
	@scripts/build "$(BUILD)"
	@scripts/fetch-duckdb --use "$(DEPS)" --optional "$(BUILD)/libduckdb.so"

deps: ## install every package that building, testing and linting need
	@scripts/install-deps build test lint browser deb vm

demo: ## record the example program, show its hot functions, draw demo/flame.svg
	@scripts/install-deps --use "$(DEPS)" build
	@scripts/build --only 'wick libwick-preload.so examples/demo' "$(BUILD)"
	@scripts/demo "$(BUILD)" demo

test: ## install what is missing, build, run every test
	@scripts/install-deps --use "$(DEPS)" build test lint browser deb
	@scripts/install-deps --use "$(DEPS)" vm || echo "the tests of the other CPU are skipped" >&2
	@scripts/fetch-duckdb --use "$(DEPS)" --optional "$(BUILD)/libduckdb.so"
	@$(RUN_TESTS)

test-long: ## also run the tests that take minutes (1,000 recordings in a row, long fuzzing)
	@scripts/install-deps --use "$(DEPS)" build test lint browser deb
	@scripts/install-deps --use "$(DEPS)" vm || echo "the tests of the other CPU are skipped" >&2
	@scripts/fetch-duckdb --use "$(DEPS)" --optional "$(BUILD)/libduckdb.so"
	@$(RUN_TESTS) --long

test-harm: ## compare 1,000 runs of real programs with and without the signal engine (RUNS=N, HARM=--heap)
	@scripts/install-deps --use "$(DEPS)" build test
	@scripts/build "$(BUILD)"
	@"$(PYTHON)" tests/harm/run.py --build "$(BUILD)" --runs $(RUNS) $(HARM)

test-deb: ## build the Debian package; install, run and remove it in a downloaded root file system
	@scripts/install-deps --use "$(DEPS)" build test deb deb-test
	@$(RUN_TESTS) --long deb

test-vm: ## cross-build for the other CPU, test in an emulated machine (VM=smoke: 4 minutes)
	@scripts/install-deps --use "$(DEPS)" build test vm
	@$(RUN_TESTS) --vm $(VM) vm

test-python: ## wick.tracemalloc with every Python of this machine and of other Debian releases (hours)
	@scripts/install-deps --use "$(DEPS)" build test
	@$(RUN_TESTS) --long python

lint: ## format, layers, headers, shape, static analysis, symbol lists
	@scripts/install-deps --use "$(DEPS)" build test lint
	@$(RUN_TESTS) lint

unit: ## unit tests only
	@scripts/install-deps --use "$(DEPS)" build test
	@scripts/fetch-duckdb --use "$(DEPS)" --optional "$(BUILD)/libduckdb.so"
	@$(RUN_TESTS) unit

asan: ## unit tests under ASan and UBSan, in build-asan
	@scripts/install-deps --use "$(DEPS)" build test
	@scripts/fetch-duckdb --use "$(DEPS)" --optional "$(BUILD)/libduckdb.so"
	@$(RUN_TESTS) asan

golden: ## compare outputs with the committed ones
	@scripts/install-deps --use "$(DEPS)" build test
	@$(RUN_TESTS) golden

e2e: ## end-to-end tests only
	@scripts/install-deps --use "$(DEPS)" build test
	@$(RUN_TESTS) e2e

fuzz: ## run each fuzz target FUZZ_SECONDS seconds, in build-fuzz
	@scripts/install-deps --use "$(DEPS)" build test
	@$(RUN_TESTS) --fuzz-seconds $(FUZZ_SECONDS) fuzz

bench: all ## table of ratios against perf, measured in one run
	@scripts/install-deps --use "$(DEPS)" bench
	@"$(PYTHON)" bench/run.py --build "$(BUILD)" $(BENCH_ARGS)

install: ## install under PREFIX (respects DESTDIR)
	@scripts/build --install "$(PREFIX)" "$(BUILD)"

uninstall: ## remove what the last "make install" put there
	@ninja -C "$(BUILD)" uninstall
	@if [ -s "$(BUILD)/libduckdb.so.installed" ]; then \
		rm -f -- "$$(cat "$(BUILD)/libduckdb.so.installed")" "$(BUILD)/libduckdb.so.installed"; fi

deb: ## a Debian package, build-deb/wick_VERSION_CPU.deb
	@scripts/install-deps --use "$(DEPS)" build deb
	@scripts/build-deb build-deb

format: ## let clang-format rewrite the sources
	@git ls-files -z -- '*.c' '*.h' | xargs -0 clang-format-14 -i

clean: ## remove everything that was built
	rm -rf -- "$(BUILD)" "$(BUILD)-asan" "$(BUILD)-fuzz" build-deb build-vm-amd64 build-vm-arm64 demo

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1\t\2/p' Makefile | while IFS='	' read -r name text; do \
		printf '  make %-10s %s\n' "$$name" "$$text"; done
	@echo "Variables: BUILD=$(BUILD) PREFIX=$(PREFIX) DESTDIR WERROR=$(WERROR) FUZZ_SECONDS=$(FUZZ_SECONDS) DEPS=no"
