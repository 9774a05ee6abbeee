#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Compiles each header alone, and twice in a row (its guard must hold); the public ones also
# as C++ and as older C.
set -euo pipefail
cd "$(dirname "$0")/.."
export CC=${CC:-cc}
# Where the headers of cairo are; without them, the one of ours that needs them is left out.
cairo=$(pkg-config --cflags cairo 2>/dev/null) && without= || without=cairo_library.h
export cairo
# CPU code of another machine is for another compiler; what unwind/arch has is data for any.
case $("$CC" -dumpmachine) in
aarch64*) other=x86_64 ;;
*) other=aarch64 ;;
esac

check() {
	local name=${1#src/}
	name=${name#include/}
	# shellcheck disable=SC2086 # these are several words
	printf '#include "%s"\n#include "%s"\n' "$name" "$name" |
		"$CC" -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-parameter -Werror \
			-Isrc -Iinclude $cairo -fsyntax-only -x c - ||
		{
			echo "$1: does not compile alone" >&2
			return 1
		}
}
export -f check

# Those of BPF programs are for another compiler.
# shellcheck disable=SC2016 # the inner shell expands it
find src include -name '*.h' ! -path 'src/bpf/*' ! -name "*skeleton.h" ! -name "$without" \
	! \( -path "*/arch/$other.h" ! -path 'src/unwind/*' \) -print0 |
	xargs -0 -r -n 1 -P "$(nproc)" bash -c 'check "$1"' _

# Programs in C++ and in older C include the public ones.
for name in include/wick/*.h; do
	for language in "c++ c++11" "c c99"; do
		printf '#include <wick/%s>\nextern int nothing_else;\n' "$(basename "$name")" |
			"$CC" -x "${language% *}" -std="${language#* }" -Wall -Wextra -Wpedantic -Werror \
				-Iinclude -fsyntax-only - ||
			{
				echo "$name: does not compile as ${language#* }" >&2
				exit 1
			}
	done
done
echo "headers: $(find src include -name '*.h' ! -path 'src/bpf/*' | wc -l) compile alone"
