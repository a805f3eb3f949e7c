#!/usr/bin/env bash
# Installs the given Debian packages that are missing.
#
#   scripts/ensure-debian.sh postgresql
set -euo pipefail

missing=()
for package in "$@"; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
	[[ $status == installed ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

if ! command -v apt-get >/dev/null; then
	echo "install these with your package manager, then try again: ${missing[*]}" >&2
	exit 1
fi
if ((EUID != 0)); then
	echo "packages are missing; run this, then try again:" >&2
	echo "  sudo apt-get install -y ${missing[*]}" >&2
	exit 1
fi

echo "installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get -q -o Acquire::Retries=3 update >&2
apt-get -q -o Acquire::Retries=3 install -y --no-install-recommends "${missing[@]}" >&2
