#!/usr/bin/env bash
# Fails when `go generate` changes a file: a generated file was edited, or
# its source was changed without generating again. The files are left as generated.
set -euo pipefail
cd "$(dirname "$0")/.."

sources=$(grep -rlE '^//go:generate ' --include='*.go' cmd internal || true)
[[ -n $sources ]] || exit 0

state() {
	find cmd internal docs -type f -print0 | sort -z | xargs -0 sha256sum
}

before=$(state)
go generate ./...
if ! changed=$(diff <(echo "$before") <(state)); then
	echo "generated files were out of date and have been updated; commit them:" >&2
	awk '/^[<>]/ { print "  " $3 }' <<<"$changed" | sort -u >&2
	exit 1
fi
