#!/usr/bin/env bash
# Moves changelog/unreleased/*.md into CHANGELOG.md under a new version.
#
#   scripts/fold-changelog.sh v1.2.3
#   scripts/fold-changelog.sh --check   only report files that cannot be folded
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1
shopt -s nullglob
fragments=(changelog/unreleased/*.md)
if ((${#fragments[@]} == 0)); then
	echo "nothing in changelog/unreleased; CHANGELOG.md is unchanged" >&2
	exit 0
fi
if [[ $version != --check ]] && grep -qF "## $version " CHANGELOG.md; then
	echo "CHANGELOG.md has $version already" >&2
	exit 1
fi

# A fragment is `### Section` lines with `- entry (#issue)` items under them; sections of
# the same name are joined, in this order.
notes=$(awk -v order='Added Changed Deprecated Removed Fixed Security' '
	function finish() {
		if (entry != "" && entry !~ /\(#[0-9]+\)$/) { print of ": no issue at the end of: " entry > "/dev/stderr"; bad = 1 }
		entry = ""
	}
	/^### / || /^- / || FNR == 1 { finish(); of = FILENAME }
	FNR == 1  { section = "" }
	/^### /   { section = $2; if (index(" " order " ", " " section " ") == 0) { print FILENAME ": unknown section " section > "/dev/stderr"; bad = 1; exit 1 } next }
	/^[ \t]*$/ { next }
	section == "" { print FILENAME ": must open with a section, as in changelog/TEMPLATE.md" > "/dev/stderr"; bad = 1; exit 1 }
	          { entry = entry $0; entries[section] = entries[section] $0 "\n" }
	END {
		finish()
		if (bad) exit 1
		n = split(order, sections, " ")
		for (i = 1; i <= n; i++)
			if (sections[i] in entries) printf "### %s\n\n%s\n", sections[i], entries[sections[i]]
	}' "${fragments[@]}")

[[ $version != --check ]] || exit 0

folded=$(mktemp)
trap 'rm -f "$folded"' EXIT
heading="## $version ($(date -u +%Y-%m-%d))" notes=$notes awk '
	function release() { return ENVIRON["heading"] "\n\n" ENVIRON["notes"] }
	/^## / && !done { print release() "\n"; done = 1 }
	{ print }
	END { if (!done) print "\n" release() }' CHANGELOG.md >"$folded"
cat "$folded" >CHANGELOG.md
rm "${fragments[@]}"
