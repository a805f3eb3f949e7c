#!/usr/bin/env bash
# Runs a command against a new server with one organization, and stops the server
# when the command ends.
#
#   scripts/with-server.sh CMD…
#
# With DRAY_TEST_TOWN the server has the map of a generated town, and the organization is
# that of the demonstration. The environment of CMD has DRAY_TEST_URL, DRAY_TEST_KEY, DRAY_TEST_ORG,
# DRAY_TEST_DATA and DRAY_TEST_HOOK, the URL of a webhook receiver.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dray=$here/bin/dray
folder=$(mktemp -d "${TMPDIR:-/tmp}/dray-clients.XXXXXX")
pids=()

finish() {
	local code=$?
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	if ((code != 0)); then
		tail -n 20 "$folder"/*.log >&2 || true
	fi
	rm -rf "$folder"
	exit "$code"
}
trap finish EXIT

# free_port prints an unused port.
free_port() {
	node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })'
}

port=$(free_port)
hook=$(free_port)
field() { node -e 'let v = JSON.parse(process.argv[1]); for (const k of process.argv[2].split(".")) v = v[k]; console.log(v)' "$made" "$1"; }

"$dray" webhook receiver --listen "127.0.0.1:$hook" --folder "$folder/receiver" >"$folder/receiver.log" 2>&1 &
pids+=($!)
until [[ -s $folder/receiver/ca.pem ]]; do
	kill -0 "${pids[0]}"
	sleep 0.05
done
if [[ -n ${DRAY_TEST_TOWN:-} ]]; then
	command=(demo --workers 0)
else
	made=$("$dray" org create --data "$folder/data" --name "${DRAY_TEST_NAME:-Clients}" --country US --timezone America/New_York --json)
	command=(serve)
fi
"$dray" "${command[@]}" --data "$folder/data" --listen "127.0.0.1:$port" --admin-listen "" \
	--webhook-ca-file "$folder/receiver/ca.pem" --webhook-allow-cidr 127.0.0.1/32 >"$folder/server.log" 2>&1 &
pids+=($!)
until node -e 'fetch(process.argv[1]).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))' "http://127.0.0.1:$port/readyz"; do
	kill -0 "${pids[1]}"
	sleep 0.1
done

DRAY_TEST_URL=http://127.0.0.1:$port
DRAY_TEST_HOOK=https://127.0.0.1:$hook/
DRAY_TEST_DATA=$folder/data
if [[ -n ${DRAY_TEST_TOWN:-} ]]; then
	made=$(<"$folder/data/demo.json")
	DRAY_TEST_ORG=$(field organization)
else
	DRAY_TEST_ORG=$(field organization.id)
fi
DRAY_TEST_KEY=$(field apiKey)
export DRAY_TEST_URL DRAY_TEST_HOOK DRAY_TEST_DATA DRAY_TEST_KEY DRAY_TEST_ORG
"$@"
