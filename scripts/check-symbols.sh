#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# check-symbols.sh [--update] [BUILD]
#
# The dynamic symbols of each library are exactly those of its committed list.
set -euo pipefail
cd "$(dirname "$0")/.."
update=no
if [ "${1-}" = --update ]; then
	update=yes
	shift
fi
build=${1:-build}

# library:list; a library that this build does not have is skipped.
libraries=("libwick.so:src/libwick/libwick.symbols")

failed=0
for pair in "${libraries[@]}"; do
	library=$build/${pair%%:*}
	list=${pair#*:}
	if [ ! -e "$library" ]; then
		echo "symbols: no $library, skipped"
		continue
	fi
	actual=$(nm -D --defined-only --format=posix "$library" | cut -d ' ' -f 1 | LC_ALL=C sort)
	if [ $update = yes ]; then
		{
			echo "# Dynamic symbols of ${pair%%:*}; scripts/check-symbols.sh --update rewrites it."
			[ -z "$actual" ] || echo "$actual"
		} >"$list"
	fi
	if foreign=$(grep -v '^wick_' <<<"$actual" | grep .); then
		echo "$library: exports what is not wick_*:"
		echo "$foreign"
		failed=1
	fi
	expected=$(grep -v '^#' "$list" | LC_ALL=C sort || true)
	if ! diff -u --label "$list" --label "$library" <(echo "$expected") <(echo "$actual"); then
		echo "symbols: $library differs from $list (on purpose? scripts/check-symbols.sh --update)"
		failed=1
	fi
done
exit $failed
