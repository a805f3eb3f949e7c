#!/usr/bin/env bash
# A private PostgreSQL cluster for tests, separate from any other on the machine.
#
#   scripts/postgres.sh start DIR    create a cluster in DIR, start it, print its URL
#   scripts/postgres.sh url DIR      print the URL of a started cluster
#   scripts/postgres.sh stop DIR     stop it and keep DIR
#   scripts/postgres.sh with CMD…    run CMD with DRAY_TEST_POSTGRES set to the URL
#                                    of a cluster that is removed after CMD
#
# `with` uses DRAY_TEST_POSTGRES as it is when it is already set. DIR must be a
# folder that the user postgres can access, with a short path for a Unix socket.
# FSYNC=off is for tests that kill processes, but not the machine: they lose nothing, and
# need not wait for the disk.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly oldest=15

# find_bin prints the folder of the newest PostgreSQL that is new enough.
find_bin() {
	local bin version
	while read -r bin; do
		[[ -x $bin/initdb ]] || continue
		version=$("$bin/postgres" --version | grep -oE '[0-9]+' | head -n 1)
		if ((version >= oldest)); then
			echo "$bin"
			return
		fi
	done < <(
		printf '%s\n' /usr/lib/postgresql/*/bin | sort -rV
		pg_config --bindir 2>/dev/null || true
	)
	return 1
}

# pg runs a program of PostgreSQL, which does not run as root.
pg() {
	local program=$bin/$1
	shift
	if ((EUID == 0)); then
		(cd / && runuser -u postgres -- "$program" "$@")
	else
		"$program" "$@"
	fi
}

start() {
	local dir port try
	dir=$(realpath -m "$1")
	mkdir -p "$dir/socket"
	chmod 700 "$dir" "$dir/socket"
	((EUID != 0)) || chown -R postgres: "$dir"

	# Skip fsync only while the cluster is created.
	pg initdb -D "$dir/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >/dev/null

	cat >>"$dir/data/postgresql.conf" <<-CONF
		listen_addresses = '127.0.0.1'
		unix_socket_directories = '$dir/socket'
		max_connections = 400
		shared_buffers = 128MB
		fsync = ${FSYNC:-on}
	CONF

	# Two starts may choose the same free port; one of them tries another.
	for try in 1 2 3 4 5 6 7 8; do
		port=$((20000 + RANDOM % 10000))
		if (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
			continue
		fi
		if pg pg_ctl start -w -s -D "$dir/data" -l "$dir/log" -o "-p $port" >&2; then
			echo "postgres://postgres@127.0.0.1:$port/postgres?sslmode=disable" >"$dir/url"
			cat "$dir/url"
			return
		fi
		echo "PostgreSQL did not start on port $port (try $try)" >&2
	done
	cat "$dir/log" >&2
	return 1
}

# base prints the folder for a cluster: not TMPDIR, which may be private or long. Every test
# has a database of hundreds of files, which memory creates and deletes much faster than a
# disk, but only a cluster that need not survive a power cut may be there.
base() {
	local free
	free=$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1) || free=0
	if [[ ${FSYNC:-on} == off && -w /dev/shm ]] && ((free > 4000000)); then
		echo /dev/shm
	else
		echo /tmp
	fi
}

stop() {
	local dir
	dir=$(realpath -m "$1")
	[[ -f $dir/data/postmaster.pid ]] || return 0
	pg pg_ctl stop -s -w -m fast -D "$dir/data" || pg pg_ctl stop -s -w -m immediate -D "$dir/data"
}

with() {
	if [[ -n ${DRAY_TEST_POSTGRES:-} ]]; then
		exec "$@"
	fi
	dir=$(mktemp -d "$(base)/dray-pg.XXXXXX")
	trap 'stop "$dir"; rm -rf "$dir"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	DRAY_TEST_POSTGRES=$(start "$dir")
	export DRAY_TEST_POSTGRES
	"$@"
}

usage() {
	sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
	exit 2
}

(($# >= 2)) || usage
command=$1
shift
if [[ $command == url ]]; then
	cat "$1/url"
	exit
fi
if ! bin=$(find_bin); then
	"$here/ensure-debian.sh" postgresql
	bin=$(find_bin) || {
		echo "no PostgreSQL $oldest or newer found in /usr/lib/postgresql/*/bin or through pg_config" >&2
		exit 1
	}
fi
case $command in
start | stop | with) "$command" "$@" ;;
*) usage ;;
esac
