#!/usr/bin/env bash
# Runs a command with a Valhalla server for one city, for tests that compare with
# its travel times. DRAY_TEST_VALHALLA is its URL, and DRAY_TEST_EXTRACT the file.
#
#   scripts/valhalla.sh porto.osm.pbf go test -count=1 -v -run Valhalla ./internal/geo
#
# The engine is installed from npm (280 MB). It is stored with its tiles in the
# folder DRAY_VALHALLA; the default is a temporary folder.
set -euo pipefail

[[ $# -ge 2 ]] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
scripts=$(cd "$(dirname "$0")" && pwd)
pbf=$(realpath "$1")
shift

folder=${DRAY_VALHALLA:-${TMPDIR:-/tmp}/dray-valhalla}
mkdir -p "$folder"
[[ -d $folder/node_modules/@valhallajs/valhallajs ]] ||
	npm install --prefix "$folder" --no-save --silent @valhallajs/valhallajs@3.6.1

valhalla="$folder/node_modules/.bin/valhalla"
if [[ ! -f $folder/built || $(<"$folder/built") != "$pbf" ]]; then
	rm -rf "$folder/tiles" "$folder/built"
	mkdir "$folder/tiles"
	"$valhalla" build_config --mjolnir-tile-dir "$folder/tiles" >"$folder/config.json"
	(cd "$folder" && "$valhalla" build_tiles -c config.json "$pbf" >build.log 2>&1) ||
		{ tail -5 "$folder/build.log" >&2; exit 1; }
	echo "$pbf" >"$folder/built"
fi

rm -f "$folder/url"
node "$scripts/valhalla.mjs" "$folder" >"$folder/url" 2>"$folder/server.log" &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in {1..100}; do
	[[ -s $folder/url ]] && break
	kill -0 $server 2>/dev/null || { cat "$folder/server.log" >&2; exit 1; }
	sleep 0.1
done
DRAY_TEST_VALHALLA=$(<"$folder/url") DRAY_TEST_EXTRACT=$pbf "$@"
