#!/usr/bin/env bash
# Runs every fuzz test of the module in turn, each for the time given.
#
#   scripts/fuzz.sh 30s
set -euo pipefail
cd "$(dirname "$0")/.."

grep -rnoE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' cmd internal |
	while IFS=: read -r file _ match; do
		name=${match#func }
		echo "== $(dirname "$file") $name"
		go test -run '^$' -fuzz "^$name\$" -fuzztime "$1" "./$(dirname "$file")" </dev/null
	done
