#!/usr/bin/env bash
# Runs a command against a new server with one organization, and stops the server
# when the command ends.
#
#   scripts/with-server.sh CMD…
#
# With DRAY_TEST_TOWN the server has the map of the generated town. The environment of CMD
# has DRAY_TEST_URL, DRAY_TEST_KEY, DRAY_TEST_ORG, DRAY_TEST_DATA, DRAY_TEST_ZONE, the time
# zone of the organization, and DRAY_TEST_HOOK, the URL of a webhook receiver.
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
# Tests must not run past midnight: what was done a minute ago would belong to another day.
DRAY_TEST_ZONE=$(node -e '
	const zones = ["America/New_York", "Asia/Singapore"];
	const hour = (timeZone) => Number(new Intl.DateTimeFormat("en-US", { timeZone, hour: "numeric", hourCycle: "h23" }).format());
	console.log(zones.find((zone) => hour(zone) >= 5 && hour(zone) < 18) ?? zones[1]);
')
made=$("$dray" org create --data "$folder/data" --name "${DRAY_TEST_NAME:-Clients}" --country US --timezone "$DRAY_TEST_ZONE" --json)
field() { node -e 'let v = JSON.parse(process.argv[1]); for (const k of process.argv[2].split(".")) v = v[k]; console.log(v)' "$made" "$1"; }

"$dray" webhook receiver --listen "127.0.0.1:$hook" --folder "$folder/receiver" >"$folder/receiver.log" 2>&1 &
pids+=($!)
until [[ -s $folder/receiver/ca.pem ]]; do
	kill -0 "${pids[0]}"
	sleep 0.05
done
maps=()
if [[ -n ${DRAY_TEST_TOWN:-} ]]; then
	# The demonstration generates and imports it.
	"$dray" demo --data "$folder/town" --workers 0 --listen "127.0.0.1:$port" --admin-listen "" >"$folder/town.log" 2>&1 &
	pids+=($!)
	until [[ -s $folder/town/demo.json ]]; do
		kill -0 "${pids[1]}"
		sleep 0.1
	done
	kill "${pids[1]}"
	wait "${pids[1]}" || true
	unset 'pids[1]'
	maps=(--maps "$folder/town/maps")
fi
"$dray" serve --data "$folder/data" --listen "127.0.0.1:$port" --admin-listen "" "${maps[@]}" \
	--webhook-ca-file "$folder/receiver/ca.pem" --webhook-allow-cidr 127.0.0.1/32 >"$folder/server.log" 2>&1 &
pids+=($!)
until node -e 'fetch(process.argv[1]).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))' "http://127.0.0.1:$port/readyz"; do
	kill -0 "${pids[1]}"
	sleep 0.1
done

DRAY_TEST_URL=http://127.0.0.1:$port
DRAY_TEST_HOOK=https://127.0.0.1:$hook/
DRAY_TEST_DATA=$folder/data
DRAY_TEST_KEY=$(field apiKey)
DRAY_TEST_ORG=$(field organization.id)
export DRAY_TEST_ZONE DRAY_TEST_URL DRAY_TEST_HOOK DRAY_TEST_DATA DRAY_TEST_KEY DRAY_TEST_ORG
"$@"
