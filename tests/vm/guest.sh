#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest.sh BUILD LOGS PLAN
#
# Runs in the emulated machine what the file PLAN lists: unit tests, then tests that are
# written in Python. Leaves a JUnit file and a log for each in LOGS, and NAME.status for
# each that ended badly. The programs were built on the host.
set -uo pipefail
build=$1 logs=$2 plan=$3
# shellcheck disable=SC2034 # read by name below
units=() unwind=() e2e=()
# shellcheck source=/dev/null # made by the host
. "$plan"

# Debian's kernels start with 3, which lets only root sample: the tests expect the usual.
echo 2 >/proc/sys/kernel/perf_event_paranoid

run() { # run NAME SECONDS COMMAND...: output to a log, a bad status to a file
	local name=$1 limit=$2 status
	shift 2
	timeout -k 10 "$limit" "$@" >"$logs/$name.log" 2>&1
	status=$?
	[ $status = 0 ] || echo $status >"$logs/$name.status"
	echo "$name: status $status, $SECONDS s"
}

for name in "${units[@]}"; do
	CMOCKA_MESSAGE_OUTPUT=XML CMOCKA_XML_FILE=$logs/unit-$name.xml \
		run "unit-$name" 120 "$build/tests/unit/test_$name"
done

export WICK=$build/wick WICK_BUILD=$build WICK_STEPPED=$build/stepped WICK_LONG='' \
	WICK_PATIENCE=3 PYTHONPATH=tests
for suite in unwind e2e; do
	declare -n tests=$suite
	[ ${#tests[@]} = 0 ] ||
		run "$suite" 6000 python3 -B -m pytest -p no:cacheprovider -p time_limit -p stolen_time -v \
			--tb=short --durations=8 "--junitxml=$logs/$suite.xml" "${tests[@]}"
done
exit 0
